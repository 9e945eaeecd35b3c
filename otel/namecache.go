package otel

import (
	"maps"
	"sync"
	"sync/atomic"
)

// maxNames bounds how many variable parts of one span name are remembered.
const maxNames = 512

// nameCache remembers "prefix suffix" per suffix, so that starting a span does
// not build its name. Reading is lock-free. It is bounded: suffixes beyond the
// bound still get their span name, built each time, but are not known, which
// keeps them out of metric labels.
type nameCache struct {
	prefix string
	mu     sync.Mutex // serializes writers
	names  atomic.Pointer[map[string]string]
}

func newNameCache(prefix string) *nameCache {
	c := &nameCache{prefix: prefix}
	c.names.Store(&map[string]string{})
	return c
}

// name returns the span name for a suffix; without one it is the prefix alone.
func (c *nameCache) name(suffix string) string {
	if suffix == "" {
		return c.prefix
	}
	if n, ok := (*c.names.Load())[suffix]; ok {
		return n
	}
	return c.add(suffix)
}

func (c *nameCache) add(suffix string) string {
	full := c.prefix + " " + clean(suffix)
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *c.names.Load()
	if len(old) < maxNames {
		grown := maps.Clone(old)
		grown[suffix] = full
		c.names.Store(&grown)
	}
	return full
}

// label returns the suffix for use as a metric attribute: itself while it is
// among the first maxNames, else _OTHER.
func (c *nameCache) label(suffix string) string {
	if suffix == "" {
		return ""
	}
	if _, ok := (*c.names.Load())[suffix]; ok {
		return clean(suffix)
	}
	c.add(suffix)
	if _, ok := (*c.names.Load())[suffix]; ok {
		return clean(suffix)
	}
	return ErrOther
}
