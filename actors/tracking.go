package actors

import "sync/atomic"

// at notes which foreign code the driver is about to enter, so that a report can
// name code that does not end.
func (t *turn) at(p place) { atomic.StoreUint32((*uint32)(&t.where), uint32(p)) }

// here returns where the driver is.
func (t *turn) here() place { return place(atomic.LoadUint32((*uint32)(&t.where))) }
