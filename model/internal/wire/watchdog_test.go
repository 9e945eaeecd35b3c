package wire

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errA, errB = errors.New("a"), errors.New("b")

func watched(t *testing.T) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, newWatchdog(cancel)
}

// ends returns how long it takes until the context is done, and its cause.
func ends(ctx context.Context, start time.Time) (time.Duration, error) {
	<-ctx.Done()
	return time.Since(start), context.Cause(ctx)
}

func TestWatchdog(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *watchdog)
		took time.Duration
		want error
	}{
		{"armed once", func(w *watchdog) { w.arm(time.Second, errA) }, time.Second, errA},
		{"armed again and again", func(w *watchdog) {
			for range 5 {
				w.arm(time.Second, errA)
				time.Sleep(900 * time.Millisecond)
			}
			w.arm(time.Second, errB)
		}, 5500 * time.Millisecond, errB},
		{"a shorter limit", func(w *watchdog) {
			w.arm(time.Hour, errA)
			w.arm(time.Second, errB)
		}, time.Second, errB},
		{"a longer limit", func(w *watchdog) {
			w.arm(time.Second, errA)
			w.arm(time.Minute, errB)
		}, time.Minute, errB},
		{"disarmed for long, then armed", func(w *watchdog) {
			w.arm(time.Second, errA)
			w.disarm()
			time.Sleep(time.Hour)
			w.arm(time.Second, errB)
		}, time.Hour + time.Second, errB},
		{"no limit, then one", func(w *watchdog) {
			w.arm(-1, errA)
			time.Sleep(time.Hour)
			w.arm(time.Second, errB)
		}, time.Hour + time.Second, errB},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, w := watched(t)
				start := time.Now()
				c.do(w)
				if took, err := ends(ctx, start); took != c.took || !errors.Is(err, c.want) {
					t.Errorf("took %v, %v", took, err)
				}
				w.close()
			})
		})
	}
}

// A closed watchdog cancels nothing, also if it is armed once more, as a hook of
// the transport may do late.
func TestWatchdogClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, w := watched(t)
		w.close()
		w.arm(time.Second, errA)
		ctx2, w2 := watched(t)
		w2.arm(time.Second, errA)
		w2.close()
		w2.arm(time.Second, errA)
		time.Sleep(time.Hour)
		if ctx.Err() != nil || ctx2.Err() != nil {
			t.Errorf("cancelled: %v, %v", context.Cause(ctx), context.Cause(ctx2))
		}
	})
}

// Closing waits for a firing that is under way: whatever the two do first, no
// goroutine is left, which the bubble would not forgive.
func TestWatchdogCloseRaces(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancelCause(context.Background())
		w := newWatchdog(cancel)
		w.arm(time.Microsecond, errA)
		w.close()
		select {
		case <-ctx.Done():
		default:
			if w.fired {
				t.Fatal("fired without cancelling")
			}
		}
		cancel(nil)
	}
}
