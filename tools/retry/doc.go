// Package retry retries failed model requests: a listener of agent/request-error
// that waits and asks for another step (T-10, Z-18).
//
//	l, err := retry.New(retry.Config{})
//	remove := l.Install(rt.Seams())
//
// A request is tried again if its failure passes by itself: no connection, a
// timeout, 408, 409, 429, 5xx, an overloaded provider. It is tried five times in
// a row at most, at growing intervals with jitter, and not before the provider
// wants to be asked again. Each retry is recorded as an llm/retry event, in the
// turn and between the steps, before it is waited for. Nothing is retried, and
// no wait goes on, once the turn was cancelled.
//
// The package is among the tools and not beside the model adapters because it
// needs the pipeline, which they may not know. It keeps no state: what was tried
// is in the seam's event. It does not see the span of the request, which has
// ended when the seam runs; a host that wants retries in its traces uses
// [Config.Observe].
package retry
