package pipeline

// seam is what all kinds of seams have in common: a name and an ordered set of
// listeners of type F.
type seam[F any] struct {
	name string
	root *shared
	set  listeners[F]
}

// attach names the seam and places its listeners among those of the same seam in
// the scope around, which is the seam itself in the outermost scope.
func (s *seam[F]) attach(name string, root *shared, around *seam[F]) {
	s.name, s.root, s.set.seq = name, root, &root.seq
	if around != s {
		s.set.parent = &around.set
	}
}

// Name returns the seam's name, such as "tools/pre-execute".
func (s *seam[F]) Name() string { return s.name }

// Empty reports whether nobody listens.
func (s *seam[F]) Empty() bool { return s.set.snapshot() == nil }

// Use adds a listener and returns what removes it. Removing twice is harmless.
// Neither affects a run that has started (D-2).
func (s *seam[F]) Use(fn F, opts ...Option) (remove func()) { return s.set.add(fn, opts) }

// Names returns the names of the listeners that a run would reach, in order.
func (s *seam[F]) Names() []string {
	chain := s.set.chain()
	names := make([]string, len(chain))
	for i := range chain {
		names[i] = chain[i].name
	}
	return names
}
