package proc

import (
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Process is a started child. Its methods may be called by any goroutine.
type Process struct {
	owner *Owner
	spec  Spec
	tree  *tree
	began time.Time

	// starting is held from registration until the child was forked or not,
	// so that a drain can wait for it. After that tree is constant, and nil
	// if there is no child.
	starting sync.Mutex
	drained  bool // guarded by owner.mu: a drain ends the tree

	mu    sync.Mutex
	why   endCause
	cause error
	stop  chan struct{} // closed with the first cause

	free  sync.Once
	freed chan struct{} // closed when a drain has ended the tree, with ended
	ended ending

	out, err streamIn
	open     atomic.Int32  // streams not settled
	quiet    chan struct{} // closed when none is open
	discard  atomic.Bool   // go on reading a stream that was cut

	stdin   *os.File
	wrote   chan struct{} // closed when the writer of Spec.Stdin has ended; nil without one
	written int64

	done    chan struct{}
	outcome Outcome
}

// endCause is why a run is ended by its owner.
type endCause uint8

const (
	notEnded endCause = iota
	endTimeout
	endCancel
	endDrain
)

// cutWait is how long the pipes of an ended tree are read after its end. They
// are at their end by then, unless a process that is not of the tree was given
// them.
const cutWait = 250 * time.Millisecond

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// PID is the process id. It is also the id of the group and of the session.
func (p *Process) PID() int { return p.tree.pid }

// Done is closed when the run is over and [Process.Wait] will not block.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the run and returns its outcome. It may be called
// any number of times.
func (p *Process) Wait() Outcome {
	<-p.done
	return p.outcome
}

// Kill begins the end of the run as a cancellation for the cause, or for
// [ErrKilled] if that is nil, and returns at once; Wait tells when it is over.
// It has no effect on a run that is being ended or that is over.
func (p *Process) Kill(cause error) {
	if cause == nil {
		cause = ErrKilled
	}
	p.claim(endCancel, cause)
}

// Stdin is the child's standard input under [Spec.StdinPipe], else nil. The
// caller closes it to end the input; the end of the run closes it too. A
// Write to a child that does not read blocks until then.
func (p *Process) Stdin() io.WriteCloser {
	if !p.spec.StdinPipe {
		return nil
	}
	return p.stdin
}

// Stdout is the child's standard output under [Capture.Pipe], else nil. The
// caller reads it to its end and closes it; the run does neither, and is over
// when the child has exited whether or not the pipe is at its end.
func (p *Process) Stdout() io.ReadCloser { return p.out.handedOut(&p.spec.Stdout) }

// Stderr is the child's standard error, with the rules of [Process.Stdout].
func (p *Process) Stderr() io.ReadCloser { return p.err.handedOut(&p.spec.Stderr) }

// claim records why the run is ended. The first claim counts.
func (p *Process) claim(why endCause, cause error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != notEnded {
		return false
	}
	p.why, p.cause = why, cause
	close(p.stop)
	return true
}

func (p *Process) claimed() (endCause, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why, p.cause
}

// begin starts the goroutines that read and write the child's streams and that
// reap it. They end with the run, except for readers that serve survivors,
// which the tree waits for.
func (p *Process) begin(rest []byte) {
	go p.tree.reap()
	for _, s := range [...]*streamIn{&p.out, &p.err} {
		if s.file != nil && !s.piped {
			p.open.Add(1)
			p.tree.hold(s.file)
		}
	}
	if p.open.Load() == 0 {
		close(p.quiet)
	}
	for _, s := range [...]*streamIn{&p.out, &p.err} {
		if s.file != nil && !s.piped {
			go p.read(s)
		}
	}
	if p.stdin != nil && !p.spec.StdinPipe {
		p.wrote = make(chan struct{})
		go p.write(rest)
	}
}

// write writes what did not fit into the pipe at once. Any error means that
// nobody reads it, which is no failure.
func (p *Process) write(rest []byte) {
	defer close(p.wrote)
	n, _ := p.stdin.Write(rest)
	p.written += int64(n)
	p.stdin.Close()
}

// supervise sees the run to its end and makes the outcome.
func (p *Process) supervise(ctx context.Context) {
	defer close(p.done)
	held := p.follow(ctx)

	why, cause := p.claimed()
	var ended ending
	var survivors []Member
	if why == notEnded {
		p.discard.Store(p.spec.Background != BackgroundEnd)
		held = p.finish(0)
		if held || p.tree.leaves() {
			survivors = p.owner.shared.members(p.tree)
			if p.spec.Background == BackgroundEnd {
				ended = p.end()
			}
		}
	} else {
		if why == endDrain {
			<-p.freed
			ended = p.ended
		} else {
			ended = p.end()
		}
		if !ended.holds(p.tree.pid) {
			<-p.tree.exited
		}
		held = p.finish(cutWait) || held
	}
	p.closeStdin()

	p.outcome = Outcome{
		Started:      true,
		PID:          p.tree.pid,
		TimedOut:     why == endTimeout,
		Cancelled:    why == endCancel || why == endDrain,
		Killed:       ended.killed > 0,
		Stdout:       p.out.captured(),
		Stderr:       p.err.captured(),
		StdinWritten: p.written,
		PipesHeld:    held,
		Survivors:    survivors,
		Left:         ended.left,
		Took:         time.Since(p.began),
	}
	if p.outcome.Cancelled {
		p.outcome.Cause = cause
	}
	select {
	case <-p.tree.exited:
		p.tree.status.report(&p.outcome, p.began)
	default: // it is among those that could not be ended
	}
	stays := len(survivors) > 0 && p.spec.Background != BackgroundEnd
	p.owner.retire(p, stays || len(ended.left) > 0)
}

// end runs the kill sequence for the one tree.
func (p *Process) end() ending {
	all := []*tree{p.tree}
	return p.owner.shared.end(context.Background(), all, nil, p.spec.Grace)[p.tree]
}

// follow waits for the child's exit and then for the end of its pipes, as long
// as the Spec says, or until there is a cause to end the run, which it claims.
// It reports whether that came while it waited for the pipes.
func (p *Process) follow(ctx context.Context) (held bool) {
	var timeout <-chan time.Time
	if d := p.spec.Timeout; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		timeout = timer.C
	}
	var over <-chan time.Time // of the pipe wait
	wait := p.tree.exited
	for {
		select {
		case <-wait:
		default:
			select {
			case <-wait:
			case <-over:
				return false
			case <-p.stop:
				return wait == p.quiet
			case <-ctx.Done():
				p.claim(endCancel, context.Cause(ctx))
				return wait == p.quiet
			case <-timeout:
				p.claim(endTimeout, nil)
				return wait == p.quiet
			}
		}
		if wait == p.quiet {
			return false
		}
		// The child has exited: what is left to wait for is its pipes.
		wait = p.quiet
		if d := p.spec.PipeWait; d >= 0 {
			timeout = nil // it exited in time
			timer := time.NewTimer(d)
			defer timer.Stop()
			over = timer.C
		}
	}
}

// finish waits for the end of the streams, d at most, and cuts those that are
// held. It reports whether there was any.
func (p *Process) finish(d time.Duration) (held bool) {
	select {
	case <-p.quiet:
		return false
	default:
	}
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-p.quiet:
			return false
		case <-timer.C:
		}
	}
	p.cut()
	<-p.quiet
	return p.out.held || p.err.held
}

func (p *Process) closeStdin() {
	if p.stdin == nil {
		return
	}
	p.stdin.Close() // also wakes the writer
	if p.wrote != nil {
		<-p.wrote
	}
}

// release tells the supervisor that a drain has ended the tree.
func (p *Process) release(e ending) {
	p.free.Do(func() {
		p.ended = e
		close(p.freed)
	})
}
