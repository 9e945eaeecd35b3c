package actors

import (
	"context"
	"sync"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

// shutdown is the end of the runtime: one walk, however many ask for it.
type shutdown struct {
	ctx      context.Context // ends at a caller's deadline
	seal     context.CancelFunc
	started  time.Time
	done     chan struct{}
	report   messages.Report // complete when done is closed
	hostStop bool
}

// Shutdown ends the runtime: new work is refused from the call on, every turn is
// cancelled as disposed, sessions keep their inboxes for a later Resume, and
// components are drained after the sessions. When it returns, nothing of the
// runtime runs except what the report names: code that ignored its context until
// ctx ended. The error is nil exactly if the report is quiet. Called again it waits
// for, and reports, the same shutdown; called from inside what it waits for it
// returns ErrWouldDeadlock after it has started.
func (rt *Runtime) Shutdown(ctx context.Context) (messages.Report, error) {
	s := rt.beginShutdown(false)
	if insideAny(ctx, rt) {
		return messages.Report{Owner: "runtime"}, &messages.Error{
			Name: "HarnessError", Code: messages.CodeWouldDeadlock,
			Message: "shutdown was called from inside what it waits for; it has been started",
		}
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		s.seal()
		<-s.done
	}
	return s.report, s.report.Err()
}

// Done is closed when the runtime has ended, by Shutdown or by its host.
func (rt *Runtime) Done() <-chan struct{} { return rt.gone }

// stoppedByHost is told by the supervisor when somebody stops the tree. Nothing may
// wait in there: what runs is sealed at once.
func (rt *Runtime) stoppedByHost() {
	s := rt.beginShutdown(true)
	if s.hostStop {
		s.seal()
	}
}

func (rt *Runtime) beginShutdown(byHost bool) *shutdown {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.shutdown != nil {
		return rt.shutdown
	}
	s := &shutdown{started: time.Now(), done: make(chan struct{}), hostStop: byHost}
	s.ctx, s.seal = context.WithCancel(context.Background())
	s.report.Owner = "runtime"
	rt.shutdown = s
	go rt.walkDown(s)
	return s
}

// walkDown ends sessions, components and the supervisor, in this order.
func (rt *Runtime) walkDown(s *shutdown) {
	defer close(s.done)
	defer s.seal()
	_, span := rt.cfg.Tracer.StartDrain(context.Background(), "runtime")
	rt.closeSessions(s)
	rt.drainComponents(s)
	rt.root.Stop(rt.pid)
	<-rt.gone
	rt.storeDone()
	if rt.ownSystem {
		rt.system.Shutdown()
	}
	s.report.Leftovers = append(rt.leftovers.settle("", s.ctx.Done()), s.report.Leftovers...)
	s.report.TookMS = time.Since(s.started).Milliseconds()
	span.End(s.report)
}

// closeSessions suspends every session. All are told first, so that they end at the
// same time; one that has nothing to wait for ends without a goroutine.
func (rt *Runtime) closeSessions(s *shutdown) {
	var wg sync.WaitGroup
	var reports reportSum
	for _, c := range rt.dir.all() {
		cl, first := c.beginClose(true, "shutdown")
		context.AfterFunc(s.ctx, cl.requestSeal)
		if first && c.nothingToAwait() {
			c.finishClose(cl)
			reports.add(cl.report)
			continue
		}
		wg.Go(func() {
			if first {
				c.finishClose(cl)
			}
			<-cl.done
			reports.add(cl.report)
		})
	}
	wg.Wait()
	s.report.Merge(reports.sum)
	s.report.Leftovers = nil // asked for again at the end
}

// nothingToAwait reports that closing the session cannot block on foreign code.
func (c *core) nothingToAwait() bool {
	c.lock()
	defer c.unlock()
	return c.current == nil && c.tasks.running == 0 && !c.lane.running && !c.rt.observed() &&
		c.stored == c.log.NextSeq() && c.pipe.Seams().SessionEnd.Empty()
}

func (rt *Runtime) drainComponents(s *shutdown) {
	rt.mu.Lock()
	components := rt.components
	rt.components = nil
	rt.mu.Unlock()
	for i := len(components) - 1; i >= 0; i-- {
		s.report.Merge(components[i].drain(s.ctx))
	}
}

// reportSum merges reports of many goroutines.
type reportSum struct {
	mu  sync.Mutex
	sum messages.Report
}

func (r *reportSum) add(part messages.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Merge(part)
}
