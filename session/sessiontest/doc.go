// Package sessiontest has the suite that every implementation of
// [session.Store] passes. It knows only the interface: what a store is made of,
// where it keeps things and what its errors say beyond the documented sentinels
// is the implementation's.
//
//	func TestStore(t *testing.T) {
//		sessiontest.Run(t, func(t *testing.T) session.Store { return newStore(t) }, sessiontest.Options{})
//	}
//
// The suite reads no clock and waits for nothing by time, so it is as fast as
// the store. It is meant to run under the race detector.
package sessiontest
