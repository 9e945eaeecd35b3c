package proc

import (
	"errors"
	"io"
	"os"
)

// streamIn is our end of a standard output or error. Until it is settled it
// belongs to the goroutine in [Process.read].
type streamIn struct {
	file  *os.File
	piped bool // handed to the caller: neither read nor closed by the run
	held  bool // it was cut before its end
	capture
}

func (s *streamIn) handedOut(c *Capture) io.ReadCloser {
	if !c.Pipe {
		return nil
	}
	return s.file
}

// read reads a stream to its end, or until it is cut. A cut stream of a run
// whose survivors are left alone is read on, so that their writes do not fail,
// until they close it or the owner does.
func (p *Process) read(s *streamIn) {
	var err error
	for err == nil {
		space := s.space()
		var n int
		n, err = s.file.Read(space)
		s.took(space, n)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.held = !s.takeReady()
	} else {
		s.held = errors.Is(err, os.ErrClosed) // cut where there are no deadlines
	}
	file, tree := s.file, p.tree
	serve := s.held && p.discard.Load() && file.SetReadDeadline(noDeadline) == nil
	if !serve {
		tree.letGo(file)
	}
	// Once no stream is open the run goes on to its end: s is its outcome, and
	// p is kept alive no longer by a survivor that is served.
	if p.open.Add(-1) == 0 {
		close(p.quiet)
	}
	if serve {
		_, _ = io.Copy(io.Discard, file) // an error is how it ends
		tree.letGo(file)
	}
}

// cut makes the readers stop at what is there now.
func (p *Process) cut() {
	for _, s := range [...]*streamIn{&p.out, &p.err} {
		if s.file == nil || s.piped {
			continue
		}
		if err := s.file.SetReadDeadline(longAgo); err != nil {
			s.file.Close() // it is closed already, or cannot be cut otherwise
		}
	}
}
