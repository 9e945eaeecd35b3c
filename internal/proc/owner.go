package proc

import (
	"context"
	"crypto/rand"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Config makes an [Owner]. The zero value is a good one.
type Config struct {
	// ID is part of the mark of the owner's processes and must differ from
	// that of every other owner of the machine. Empty makes a random one.
	ID string
	// Mark is the name of the environment variable by which a descendant is
	// found that has left its group and its parent (Linux). Every child gets it,
	// except under [BackgroundKeep]. A value that is there already stays in
	// front, so that a runtime within a runtime is found by both. Empty is
	// [DefaultMark].
	Mark string
	// KillWait is how long the end of processes is waited for after SIGKILL
	// before they are reported as left. Zero is 5 s.
	KillWait time.Duration
}

// DefaultMark is the environment variable that marks descendants.
const DefaultMark = "DSH_PROC"

// Owner owns child processes and what they leave behind. Its methods may be
// called by any goroutine. An Owner that owns nothing costs a few words and
// has no goroutine.
type Owner struct {
	shared *shared
	parent *Owner
	mark   string // prefix of the marks of its runs

	runs atomic.Uint64
	subs atomic.Uint64

	mu      sync.Mutex
	closed  bool
	live    map[*Process]struct{}
	left    map[*tree]struct{} // trees whose run is over
	owners  map[*Owner]struct{}
	sweepAt int // look for ended trees when there are that many in left
}

// New returns an owner without processes.
func New(c Config) *Owner {
	if c.ID == "" {
		c.ID = rand.Text()[:12]
	}
	if c.Mark == "" {
		c.Mark = DefaultMark
	}
	if c.KillWait <= 0 {
		c.KillWait = 5 * time.Second
	}
	return &Owner{
		shared: &shared{markName: c.Mark, killWait: c.KillWait},
		// The host's process id leads, for whoever reads the variable.
		mark: strconv.Itoa(os.Getpid()) + "-" + c.ID + ".",
	}
}

// Sub returns an owner of its own that is drained with o. It shares readings
// of the process table with its family. An owner that is drained while nothing
// of it is left is forgotten by its parent.
func (o *Owner) Sub() *Owner {
	sub := &Owner{
		shared: o.shared,
		parent: o,
		mark:   o.mark + strconv.FormatUint(o.subs.Add(1), 36) + ".",
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		sub.closed = true
		return sub
	}
	if o.owners == nil {
		o.owners = make(map[*Owner]struct{})
	}
	o.owners[sub] = struct{}{}
	return sub
}

// Run runs the Spec to its end and returns what became of it. When it returns,
// no goroutine and no file of the run is left, except those that serve
// survivors ([Outcome.Survivors]), which the owner ends. A context that is
// done ends the run with the kill sequence, which Run waits for.
func (o *Owner) Run(ctx context.Context, spec Spec) Outcome {
	p, err := o.start(ctx, spec)
	if err != nil {
		return notStarted(err)
	}
	p.supervise(ctx)
	return p.outcome
}

// Start starts the Spec and returns once the program runs. The process ends
// like that of Run, the context included; Wait gives the outcome. The error is
// a *[LaunchError] or a *[NotStartedError].
func (o *Owner) Start(ctx context.Context, spec Spec) (*Process, error) {
	p, err := o.start(ctx, spec)
	if err != nil {
		return nil, err
	}
	go p.supervise(ctx)
	return p, nil
}

func notStarted(err error) Outcome {
	if e, ok := err.(*NotStartedError); ok {
		return Outcome{Cancelled: true, Cause: e.Cause}
	}
	return Outcome{LaunchErr: err}
}

// start registers and launches a process. Unless it returns an error the
// caller must have it supervised.
func (o *Owner) start(ctx context.Context, spec Spec) (*Process, error) {
	if ctx.Err() != nil {
		return nil, &NotStartedError{Cause: context.Cause(ctx)}
	}
	p := &Process{
		owner: o,
		spec:  spec,
		stop:  make(chan struct{}),
		freed: make(chan struct{}),
		quiet: make(chan struct{}),
		done:  make(chan struct{}),
	}
	p.out.capture = newCapture(&p.spec.Stdout)
	p.err.capture = newCapture(&p.spec.Stderr)
	p.out.piped, p.err.piped = spec.Stdout.Pipe, spec.Stderr.Pipe

	p.starting.Lock()
	defer p.starting.Unlock()
	if err := o.register(p); err != nil {
		return nil, err
	}
	if err := p.launch(); err != nil {
		o.mu.Lock()
		delete(o.live, p)
		o.mu.Unlock()
		return nil, err
	}
	return p, nil
}

func (o *Owner) register(p *Process) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return &NotStartedError{Cause: ErrDrained}
	}
	if o.live == nil {
		o.live = make(map[*Process]struct{})
	}
	o.live[p] = struct{}{}
	return nil
}

// marked returns the child's environment with the mark of a new run, and the
// mark.
func (o *Owner) marked(env []string) ([]string, string) {
	mark := o.mark + strconv.FormatUint(o.runs.Add(1), 36)
	name := o.shared.markName + "="
	for i, entry := range env {
		if len(entry) > len(name) && entry[:len(name)] == name {
			env[i] = entry + markSep + mark
			return env, mark
		}
	}
	return append(env, name+mark), mark
}

// markSep separates the marks of runtimes within runtimes.
const markSep = ";"

// retire ends the life of a process. Its tree stays owned if it has members
// left or if pipes are still read for them.
func (o *Owner) retire(p *Process, members bool) {
	t := p.tree
	o.mu.Lock()
	delete(o.live, p)
	drained := p.drained
	stays := !drained && (members || t.reading())
	var look []*tree
	if stays {
		if len(o.left) >= max(o.sweepAt, minSweep) {
			look = slices.Collect(maps.Keys(o.left))
		}
		if o.left == nil {
			o.left = make(map[*tree]struct{})
		}
		o.left[t] = struct{}{}
	}
	o.mu.Unlock()
	switch {
	case drained:
		<-p.freed // the drain has the tree
	case !stays:
		t.drop()
	case look != nil:
		o.sweep(look)
	}
}

// minSweep is the number of trees from which on it is looked whether they are
// still there.
const minSweep = 16

// sweep lets go of the trees that have ended by themselves. It is called
// whenever their number has doubled since the last time, so that it costs
// little per tree.
func (o *Owner) sweep(trees []*tree) {
	gone := o.shared.empty(trees)
	o.mu.Lock()
	gone = slices.DeleteFunc(gone, func(t *tree) bool {
		if t.reading() {
			return true
		}
		delete(o.left, t)
		return false
	})
	o.sweepAt = 2 * len(o.left)
	o.mu.Unlock()
	for _, t := range gone {
		t.drop()
	}
}

// Owned counts what an owner and its sub-owners own.
type Owned struct {
	Runs int // processes that were started and are not over
	// Trees counts the runs that are over and left something behind that may
	// still be there.
	Trees int
}

// Owned returns what is owned now.
func (o *Owner) Owned() Owned {
	o.mu.Lock()
	n := Owned{Runs: len(o.live), Trees: len(o.left)}
	subs := slices.Collect(maps.Keys(o.owners))
	o.mu.Unlock()
	for _, sub := range subs {
		m := sub.Owned()
		n.Runs += m.Runs
		n.Trees += m.Trees
	}
	return n
}
