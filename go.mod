module github.com/dsh-actor/dsh-actor

go 1.26

require (
	github.com/asynkron/protoactor-go v0.0.0-20240822202345-3c0e61ca19c9 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
)
