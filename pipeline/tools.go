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

// toolSet is what one scope declares.
type toolSet struct {
	tools  map[string]*Tool
	limits []*Restriction // session scopes only
}

// toolView is what one scope sees, for one pair of sets.
type toolView struct {
	parent, own *toolSet
	tools       map[string]*Tool
	specs       messages.List[messages.ToolSpec]
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
	known := t.parent.own.Load().tools
	for _, name := range slices.Concat(r.Allow, r.Deny) {
		if _, ok := known[name]; !ok {
			return nil, fmt.Errorf("restrict tools: %q is not a tool of the runtime", name)
		}
	}
	limit := &r
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

// visible returns the current view, remade only when a set has changed.
func (t *Tools) visible() *toolView {
	own := t.own.Load()
	var parent *toolSet
	if t.parent != nil {
		parent = t.parent.own.Load()
		if own.empty() {
			return t.parent.visible()
		}
	}
	if v := t.view.Load(); v != nil && v.own == own && v.parent == parent {
		return v
	}
	v := makeView(parent, own)
	t.view.Store(v)
	return v
}

func makeView(parent, own *toolSet) *toolView {
	v := &toolView{parent: parent, own: own, tools: map[string]*Tool{}}
	if parent != nil {
		for name, tool := range parent.tools {
			if own.permits(name) {
				v.tools[name] = tool
			}
		}
	}
	for name, tool := range own.tools {
		v.tools[name] = tool
	}
	specs := make([]messages.ToolSpec, 0, len(v.tools))
	for _, tool := range v.tools {
		specs = append(specs, tool.spec())
	}
	sortSpecs(specs)
	v.specs = messages.FrozenList(specs)
	return v
}

func (s *toolSet) empty() bool { return len(s.tools) == 0 && len(s.limits) == 0 }

func (s *toolSet) permits(name string) bool {
	for _, r := range s.limits {
		if r.Allow != nil && !slices.Contains(r.Allow, name) || slices.Contains(r.Deny, name) {
			return false
		}
	}
	return true
}

func (s *toolSet) clone() *toolSet {
	next := &toolSet{tools: make(map[string]*Tool, len(s.tools)+1), limits: slices.Clone(s.limits)}
	for name, tool := range s.tools {
		next.tools[name] = tool
	}
	return next
}

func (s *toolSet) with(t *Tool) *toolSet {
	next := s.clone()
	next.tools[t.Name] = t
	return next
}

func (s *toolSet) without(t *Tool) *toolSet {
	next := s.clone()
	if next.tools[t.Name] == t {
		delete(next.tools, t.Name)
	}
	return next
}

func (s *toolSet) limited(r *Restriction) *toolSet {
	next := s.clone()
	next.limits = append(next.limits, r)
	return next
}

func (s *toolSet) unlimited(r *Restriction) *toolSet {
	next := s.clone()
	next.limits = slices.DeleteFunc(next.limits, func(x *Restriction) bool { return x == r })
	return next
}
