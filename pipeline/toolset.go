package pipeline

import (
	"maps"
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
)

// toolSet is what one scope declares. It is immutable.
type toolSet struct {
	tools  map[string]*Tool
	limits []*Restriction // of what the scope around declares
}

func (s *toolSet) empty() bool { return len(s.tools) == 0 && len(s.limits) == 0 }

// permits reports whether the limits leave a tool of the scope around visible.
func (s *toolSet) permits(name string) bool {
	for _, r := range s.limits {
		if r.Allow != nil && !slices.Contains(r.Allow, name) || slices.Contains(r.Deny, name) {
			return false
		}
	}
	return true
}

func (s *toolSet) clone() *toolSet {
	next := &toolSet{tools: maps.Clone(s.tools), limits: slices.Clone(s.limits)}
	if next.tools == nil {
		next.tools = map[string]*Tool{}
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
	delete(next.tools, t.Name)
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

// toolView is what one scope sees: what the scope around sees minus the limits,
// and the scope's own tools over it (P-2). It is immutable.
type toolView struct {
	parent *toolView
	own    *toolSet
	tools  map[string]*Tool
	specs  messages.List[messages.ToolSpec]
}

func newToolView(parent *toolView, own *toolSet) *toolView {
	v := &toolView{parent: parent, own: own, tools: map[string]*Tool{}}
	if parent != nil {
		for name, tool := range parent.tools {
			if own.permits(name) {
				v.tools[name] = tool
			}
		}
	}
	maps.Copy(v.tools, own.tools)
	specs := make([]messages.ToolSpec, 0, len(v.tools))
	for _, tool := range v.tools {
		specs = append(specs, tool.spec())
	}
	sortSpecs(specs)
	v.specs = messages.FrozenList(specs)
	return v
}
