package model

// Finish kinds of adapters beyond those of V-8. Like every unknown kind they
// count as ordinary success.
const (
	// FinishRefusal: the model declined to go on.
	FinishRefusal = "refusal"
	// FinishContentFilter: the provider cut the answer off.
	FinishContentFilter = "content-filter"
	// FinishPauseTurn: the provider paused a long turn of its own tools.
	FinishPauseTurn = "pause-turn"
)
