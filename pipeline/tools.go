package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Tools is the registry of one scope: the runtime's, or one session's, whose
// tools shadow those of the runtime (P-2). Reading is a load of an immutable
// snapshot.
type Tools struct {
	parent *Tools
	mu     sync.Mutex // serializes writers
	own    atomic.Pointer[toolSet]
	view   atomic.Pointer[toolView]
}

// Restriction limits which of the runtime's tools a session sees. It never hides
// the session's own tools. At least one of Allow and Deny is needed, and every
// name must be a tool of the runtime.
type Restriction struct {
	Allow []string // only these; nil: all
	Deny  []string // not these
}

func newTools(parent *Tools) *Tools {
	t := &Tools{parent: parent}
	t.own.Store(&toolSet{})
	return t
}

// Register adds a tool and returns what removes it. Calls that were created
// before a removal keep the finalizeContent that they captured, and find the body
// gone (P-5).
func (t *Tools) Register(tool Tool) (remove func(), err error) {
	compiled, err := tool.compile()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.own.Load()
	if _, taken := old.tools[tool.Name]; taken {
		if t.parent == nil {
			return nil, fmt.Errorf("tool %q is already registered (for a per-agent variant, register through that agent's `agent.ctx` instead)", tool.Name)
		}
		return nil, fmt.Errorf("tool %q is already registered in this scope", tool.Name)
	}
	t.own.Store(old.with(compiled))
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.own.Store(t.own.Load().without(compiled))
	}), nil
}

// Restrict limits the runtime's tools for this session and returns what lifts
// the limit. Several restrictions intersect.
func (t *Tools) Restrict(r Restriction) (lift func(), err error) {
	switch {
	case t.parent == nil:
		return nil, errors.New("restrict tools: only a session's scope can be restricted")
	case r.Allow == nil && r.Deny == nil:
		return nil, errors.New("restrict tools: neither allow nor deny given")
	}
	limit := &Restriction{slices.Clone(r.Allow), slices.Clone(r.Deny)}
	for _, name := range slices.Concat(limit.Allow, limit.Deny) {
		if _, ok := t.parent.Lookup(name); !ok {
			return nil, fmt.Errorf("restrict tools: %q is not a tool of the runtime", name)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own.Store(t.own.Load().limited(limit))
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.own.Store(t.own.Load().unlimited(limit))
	}), nil
}

// Lookup returns the tool that the scope sees under a name.
func (t *Tools) Lookup(name string) (*Tool, bool) {
	tool, ok := t.visible().tools[name]
	return tool, ok
}

// Specs returns the visible tools as the model sees them, ordered by name.
func (t *Tools) Specs() messages.List[messages.ToolSpec] { return t.visible().specs }

// visible returns the current view. It is made again only when a set has changed.
func (t *Tools) visible() *toolView {
	own := t.own.Load()
	var parent *toolView
	if t.parent != nil {
		if parent = t.parent.visible(); own.empty() {
			return parent
		}
	}
	if v := t.view.Load(); v != nil && v.own == own && v.parent == parent {
		return v
	}
	v := newToolView(parent, own)
	t.view.Store(v)
	return v
}
