package pipeline

import (
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Option adjusts a registration.
type Option func(*registration)

type registration struct {
	name    string
	prepend bool
}

// Named gives the listener a name for spans, logs and reports. The default is
// the name of the function.
func Named(name string) Option { return func(r *registration) { r.name = name } }

// Prepend puts the listener before all that are registered so far; in a
// waterfall, outside them (D-1). Guards ignore it.
func Prepend() Option { return func(r *registration) { r.prepend = true } }

// register applies opts to the registration of fn.
func register(fn any, opts []Option) registration {
	r := registration{}
	for _, o := range opts {
		o(&r)
	}
	if r.name == "" {
		r.name = funcName(fn)
	}
	return r
}

func funcName(fn any) string {
	if f := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()); f != nil {
		return f.Name()
	}
	return "listener"
}

// sequence orders registrations over all scopes of one runtime.
type sequence struct{ n atomic.Int64 }

func (s *sequence) place(prepend bool) int64 {
	n := s.n.Add(1)
	if prepend {
		return -n
	}
	return n
}

// listener is one registered function.
type listener[F any] struct {
	order int64 // unique; the chain is sorted by it
	name  string
	fn    F
}

// listeners is the ordered set of one seam in one scope. Reading is a load of an
// immutable snapshot.
type listeners[F any] struct {
	seq    *sequence
	parent *listeners[F] // nil in the outermost scope
	mu     sync.Mutex    // serializes writers
	own    atomic.Pointer[[]listener[F]]
	merged atomic.Pointer[mergedChain[F]]
}

// mergedChain caches a scope's chain for one pair of snapshots.
type mergedChain[F any] struct {
	parent, own *[]listener[F]
	chain       []listener[F]
}

func (l *listeners[F]) add(fn F, opts []Option) (remove func()) {
	r := register(fn, opts)
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := listener[F]{l.seq.place(r.prepend), r.name, fn}
	var next []listener[F]
	if own := l.own.Load(); own != nil {
		next = slices.Clone(*own)
	}
	next = append(next, entry)
	sortByOrder(next)
	l.own.Store(&next)
	return sync.OnceFunc(func() { l.remove(entry.order) })
}

func (l *listeners[F]) remove(order int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := slices.DeleteFunc(slices.Clone(*l.own.Load()), func(e listener[F]) bool { return e.order == order })
	if len(next) == 0 {
		l.own.Store(nil)
		return
	}
	l.own.Store(&next)
}

// chain returns the snapshot to run: the scope's own listeners and those of the
// scopes around it, by order of registration (D-1, Z-40).
func (l *listeners[F]) chain() []listener[F] {
	if s := l.snapshot(); s != nil {
		return *s
	}
	return nil
}

// snapshot returns the chain, nil if it is empty. The pointer is the same as long
// as the chain is.
func (l *listeners[F]) snapshot() *[]listener[F] {
	own := l.own.Load()
	if l.parent == nil {
		return own
	}
	parent := l.parent.snapshot()
	switch {
	case own == nil:
		return parent
	case parent == nil:
		return own
	}
	if m := l.merged.Load(); m != nil && m.parent == parent && m.own == own {
		return &m.chain
	}
	m := &mergedChain[F]{parent, own, slices.Concat(*parent, *own)}
	sortByOrder(m.chain)
	l.merged.Store(m)
	return &m.chain
}

func sortByOrder[F any](chain []listener[F]) {
	slices.SortFunc(chain, func(a, b listener[F]) int {
		if a.order < b.order {
			return -1
		}
		return 1 // orders are unique
	})
}
