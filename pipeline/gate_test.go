package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// A closed gate lets nobody in, and close returns when everybody is out.
func TestGate(t *testing.T) {
	for range 200 {
		var g gate
		var inside, refused atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 50 {
					if !g.enter() {
						refused.Add(1)
						return
					}
					inside.Add(1)
					inside.Add(-1)
					g.leave()
				}
			})
		}
		g.close()
		if n := inside.Load(); n != 0 {
			t.Fatalf("%d inside a closed gate", n)
		}
		if g.enter() {
			t.Fatal("a closed gate let somebody in")
		}
		wg.Wait()
	}
}

// Z-13: a nested call that entered just before its body returned is cancelled too.
func TestNestedContextAfterEnd(t *testing.T) {
	inv := &Invocation{ctx: t.Context(), ended: true}
	if ctx := inv.nestedContext(); context.Cause(ctx) != errBodyReturned {
		t.Errorf("cause %v", context.Cause(ctx))
	}
}
