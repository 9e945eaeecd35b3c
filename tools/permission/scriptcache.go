package permission

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// scriptCache keeps command lines that were read lately: one call is judged by up
// to three listeners, and sessions repeat their commands. It is bounded: it keeps at
// most [cachedScripts] lines, none of them longer than [maxCachedScript].
type scriptCache struct {
	seed  maphash.Seed
	slots [cachedScripts]atomic.Pointer[cachedScript]
}

const (
	cachedScripts   = 64
	maxCachedScript = 4 << 10
)

type cachedScript struct {
	text   string
	script *script
}

func newScriptCache() *scriptCache { return &scriptCache{seed: maphash.MakeSeed()} }

// parse reads a command line, or finds it read.
func (c *scriptCache) parse(text string) *script {
	if c == nil || len(text) > maxCachedScript {
		return parseScript(text)
	}
	slot := &c.slots[maphash.String(c.seed, text)%cachedScripts]
	if hit := slot.Load(); hit != nil && hit.text == text {
		return hit.script
	}
	// The text may share memory with a call's arguments, which are not to be kept.
	text = strings.Clone(text)
	s := parseScript(text)
	slot.Store(&cachedScript{text, s})
	return s
}
