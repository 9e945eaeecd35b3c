package actors

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Component is a part of the runtime with work of its own, such as the detached
// runs of a bridge (Z-39).
type Component interface {
	// Name names the component in reports.
	Name() string
	// Start is called once, inside the supervisor's Receive: actors that it spawns
	// with spawn are supervised by the runtime. It must not block.
	Start(spawn actor.SpawnerContext) error
	// Drain ends the component's work: it refuses new work, ends what runs, waits for
	// all of it, and reports. When ctx is done it stops waiting and names what is
	// left. The runtime calls it once.
	Drain(ctx context.Context) messages.Report
}

// mounted is a component in its place.
type mounted struct {
	component Component
	once      sync.Once
	done      chan struct{}
	report    messages.Report
}

// Mount starts a component. The returned function unmounts it: it drains the
// component and reports. Shutdown drains what is still mounted, the last mounted
// first, after all sessions have ended.
func (rt *Runtime) Mount(ctx context.Context, c Component) (unmount func(context.Context) messages.Report, err error) {
	m := &mounted{component: c, done: make(chan struct{})}
	rt.mu.Lock()
	if rt.shutdown != nil {
		rt.mu.Unlock()
		return nil, rt.shuttingDown()
	}
	rt.components = append(rt.components, m)
	rt.mu.Unlock()
	reply := make(chan error, 1)
	rt.root.Send(rt.pid, startComponent{c, reply})
	select {
	case err = <-reply:
	case <-rt.gone:
		err = rt.shuttingDown()
	}
	if err != nil {
		rt.unmount(m)
		return nil, fmt.Errorf("mount component %q: %w", c.Name(), err)
	}
	return func(ctx context.Context) messages.Report {
		report := m.drain(ctx)
		rt.unmount(m)
		return report
	}, nil
}

func (rt *Runtime) unmount(m *mounted) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for i, o := range rt.components {
		if o == m {
			rt.components = append(rt.components[:i:i], rt.components[i+1:]...)
			return
		}
	}
}

func startContained(c Component, spawn actor.SpawnerContext) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in Start: %s", messages.PanicText(v))
		}
	}()
	return c.Start(spawn)
}

// drain drains the component once. A Drain that does not return by the end of ctx
// is left behind and named.
func (m *mounted) drain(ctx context.Context) messages.Report {
	m.once.Do(func() {
		go func() {
			defer close(m.done)
			m.report = drainContained(ctx, m.component)
		}()
	})
	select {
	case <-m.done:
		return m.report
	default:
	}
	select {
	case <-m.done:
		return m.report
	case <-ctx.Done():
	}
	// A Drain that obeys its context is about to return with its own account.
	grace := time.NewTimer(drainGrace)
	defer grace.Stop()
	select {
	case <-m.done:
		return m.report
	case <-grace.C:
		return messages.Report{
			Owner:     m.component.Name(),
			Leftovers: []messages.Leftover{{Kind: "component", Name: m.component.Name()}},
		}
	}
}

// drainGrace is how long after its deadline a component may take to report.
const drainGrace = 250 * time.Millisecond

func drainContained(ctx context.Context, c Component) (r messages.Report) {
	defer func() {
		if v := recover(); v != nil {
			r.Owner = c.Name()
			r.Fail(fmt.Errorf("component %q: panic in Drain: %s", c.Name(), messages.PanicText(v)))
		}
	}()
	return c.Drain(ctx)
}
