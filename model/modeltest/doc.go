// Package modeltest checks that a model adapter keeps the contract of
// model.Model. Every adapter of the project is run through [Run]; hosts that
// write their own can do the same.
//
// The adapter's test says, for each of a few situations, how to set it up: with
// a script, with a recorded answer behind an httptest server, or otherwise. The
// suite then checks chunks, failures, cancellation, early stops, concurrent use
// and that nothing is left running. It owns no adapter and knows no provider.
package modeltest
