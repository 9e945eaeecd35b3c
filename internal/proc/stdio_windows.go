package proc

import "os"

// stdio is the three files of a child that is about to be started, and our
// ends of them.
type stdio struct {
	child [3]*os.File // handed to the child, closed after the start
	ours  [3]*os.File // nil where there is none
}

// open makes the files. Whatever it returns, close must follow.
func (s *stdio) open(spec *Spec) (err error) {
	if spec.Stdin == nil && !spec.StdinPipe {
		s.child[0], err = os.Open(os.DevNull)
	} else {
		s.child[0], s.ours[0], err = os.Pipe()
	}
	for i := 1; i <= 2 && err == nil; i++ {
		s.ours[i], s.child[i], err = os.Pipe()
	}
	return err
}

func (s *stdio) closeChild() { closeAll(&s.child) }

func (s *stdio) close() {
	closeAll(&s.child)
	closeAll(&s.ours)
}

func closeAll(files *[3]*os.File) {
	for i, f := range files {
		if f != nil {
			f.Close()
			files[i] = nil
		}
	}
}

func (s *stdio) take(i int) *os.File {
	f := s.ours[i]
	s.ours[i] = nil
	return f
}

// takeReady is for pipes with deadlines, which there are none of.
func (s *streamIn) takeReady() (end bool) { return true }
