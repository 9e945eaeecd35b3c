package pipeline

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
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
// waterfall, outside them (D-1).
func Prepend() Option { return func(r *registration) { r.prepend = true } }

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
	order int64
	name  string
	fn    F
}

// listeners is the ordered set of one seam in one scope. Reading is a load of an
// immutable snapshot.
type listeners[F any] struct {
	seq    *sequence
	parent *listeners[F]
	mu     sync.Mutex // serializes writers
	own    atomic.Pointer[[]listener[F]]
	merged atomic.Pointer[mergedChain[F]]
}

// mergedChain caches a session's chain for one pair of snapshots.
type mergedChain[F any] struct {
	parent, own *[]listener[F]
	chain       []listener[F]
}

// attach places the set under parent, or makes it a root if parent is itself.
func (l *listeners[F]) attach(seq *sequence, parent *listeners[F]) {
	l.seq = seq
	if parent != l {
		l.parent = parent
	}
}

func (l *listeners[F]) add(fn F, opts []Option) (remove func()) {
	r := registration{}
	for _, o := range opts {
		o(&r)
	}
	if r.name == "" {
		r.name = funcName(fn)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := listener[F]{l.seq.place(r.prepend), r.name, fn}
	next := append(slices.Clone(l.ownChain()), entry)
	sortByOrder(next)
	l.own.Store(&next)
	return sync.OnceFunc(func() { l.remove(entry.order) })
}

func (l *listeners[F]) remove(order int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := slices.DeleteFunc(slices.Clone(l.ownChain()), func(e listener[F]) bool { return e.order == order })
	if len(next) == 0 {
		l.own.Store(nil)
		return
	}
	l.own.Store(&next)
}

func (l *listeners[F]) ownChain() []listener[F] {
	if p := l.own.Load(); p != nil {
		return *p
	}
	return nil
}

// chain returns the snapshot to run: the scope's own listeners and its parent's,
// by order of registration.
func (l *listeners[F]) chain() []listener[F] {
	if l.parent == nil {
		return l.ownChain()
	}
	own := l.own.Load()
	if own == nil {
		return l.parent.chain()
	}
	parent := l.parent.own.Load()
	if parent == nil {
		return *own
	}
	if m := l.merged.Load(); m != nil && m.parent == parent && m.own == own {
		return m.chain
	}
	m := &mergedChain[F]{parent, own, slices.Concat(*parent, *own)}
	sortByOrder(m.chain)
	l.merged.Store(m)
	return m.chain
}

func (l *listeners[F]) empty() bool {
	return l.own.Load() == nil && (l.parent == nil || l.parent.empty())
}

func sortByOrder[F any](chain []listener[F]) {
	slices.SortStableFunc(chain, func(a, b listener[F]) int {
		switch {
		case a.order < b.order:
			return -1
		case a.order > b.order:
			return 1
		}
		return 0
	})
}

func funcName(fn any) string {
	if f := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()); f != nil {
		return f.Name()
	}
	return "listener"
}

// PanicError is a panic of a listener, guard or tool body, contained where it
// happened.
type PanicError struct {
	Where string // the seam, guard or tool
	Value any
	Stack []byte
}

// Error returns the text of the panic value (P-17).
func (e *PanicError) Error() string { return messages.PanicText(e.Value) }

// Unwrap returns the panic value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// contain turns a panic of foreign code into an error. It is deferred directly.
func contain(where string, err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Where: where, Value: v, Stack: debug.Stack()}
	}
}

// noDecisionError is the failure of a listener that returned nothing (Z-1).
func noDecisionError(seam, name string) error {
	return fmt.Errorf("%s: listener %s returned no decision", seam, name)
}
