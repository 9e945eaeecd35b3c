// Package model declares what a model adapter is: one streaming request that
// can be cancelled and that reports facts.
//
// An adapter sends exactly one request per call of Stream. It retries nothing:
// retrying is a decision of the agent/request-error seam (Z-18), made on the
// facts that the adapter reports in a [messages.Failure] (V-9).
//
// Adapters are sub-packages, so that a host pays only for those it imports:
// model/scripted is the offline one.
package model
