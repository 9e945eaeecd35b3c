package permission

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Config is a permission policy. The zero value is the default mode without
// rules.
type Config struct {
	// Mode decides where no rule does. Empty is [ModeDefault].
	Mode Mode
	// DisableBypass forbids [ModeBypass], now and later.
	DisableBypass bool
	// Rules are all rules, of all sources.
	Rules []Entry
	// ProjectDir is where the paths of rules begin; it is absolute. Empty is the
	// session's working directory.
	ProjectDir string
	// Home is what ~ stands for, in rules and in paths; it is absolute. Without it
	// nothing under ~ is inside the workspace and no rule reaches it.
	Home string
	// Directories belong to the workspace besides the session's working directory.
	// They may be relative to ProjectDir, or begin with ~.
	Directories []string
	// Cwd returns the directory where relative paths of a call begin, if that is not
	// the session's working directory: a shell tool that remembers its directory must
	// give it here. Nil, and "" as an answer, is the session's.
	Cwd func(call *pipeline.Call) string
	// Asker puts questions to a person. Nil leaves them to other listeners of the
	// approval seam; if nobody answers, the call is denied (P-9).
	Asker Asker
	// Strict makes New and Replace fail if a rule is not in force as written.
	Strict bool
}

// Policy decides on tool calls by mode and rules. It serves any number of
// sessions and keeps apart what each was granted. It is safe for concurrent use.
type Policy struct {
	base     atomic.Pointer[base]
	sessions sync.Map // messages.SessionID → *session
	scripts  *scriptCache
}

// base is what holds for all sessions. It does not change.
type base struct {
	config Config
	rules  ruleSet
	diags  []Diagnostic
}

// errStrict is what New returns beside the first error, with [Config.Strict].
var errStrict = errors.New("a permission rule is not in force")

// New makes a policy. It fails for an unknown mode, for bypassPermissions where
// that is forbidden, and, with [Config.Strict], for a rule that is not in force as
// written; without it such rules are told by [Policy.Diagnostics], which the host
// must show.
func New(cfg Config) (*Policy, error) {
	p := &Policy{scripts: newScriptCache()}
	if err := p.Replace(cfg); err != nil {
		return nil, err
	}
	return p, nil
}

// Replace puts other rules and another mode in force, for the decisions that
// begin after it returns. What sessions were granted stays. If it fails, nothing
// has changed.
func (p *Policy) Replace(cfg Config) error {
	mode, err := ParseMode(string(cfg.Mode))
	if err != nil {
		return err
	}
	cfg.Mode = mode
	if err := cfg.permits(mode); err != nil {
		return err
	}
	b := &base{config: cfg}
	b.rules, b.diags = compile(cfg.Rules)
	b.config.Rules = nil // compiled; the caller may change the slice
	b.config.Directories = append([]string(nil), cfg.Directories...)
	if cfg.Strict {
		for _, d := range b.diags {
			if d.Severity == SeverityError {
				return fmt.Errorf("%w: %s", errStrict, d)
			}
		}
	}
	p.base.Store(b)
	return nil
}

// permits refuses a mode that is forbidden.
func (c *Config) permits(m Mode) error {
	if m == ModeBypass && c.DisableBypass {
		return fmt.Errorf("permission mode %q is disabled", m)
	}
	return nil
}

// Diagnostics returns what is wrong with the rules.
func (p *Policy) Diagnostics() []Diagnostic {
	return append([]Diagnostic(nil), p.base.Load().diags...)
}

// session is what one session was granted beside the base.
type session struct {
	mu        sync.Mutex // serializes writers
	grants    atomic.Pointer[grants]
	workspace atomic.Pointer[cachedWorkspace]
}

// grants do not change.
type grants struct {
	mode        Mode // "" is the base's
	directories []string
	rules       ruleSet
}

// cachedWorkspace is a workspace with what it was made of.
type cachedWorkspace struct {
	base   *base
	grants *grants
	cwd    string
	dir    string
	*workspace
}

func (p *Policy) session(id messages.SessionID) *session {
	if s, ok := p.sessions.Load(id); ok {
		return s.(*session)
	}
	s := &session{}
	s.grants.Store(&grants{})
	actual, _ := p.sessions.LoadOrStore(id, s)
	return actual.(*session)
}

// change replaces what the session was granted.
func (s *session) change(f func(g *grants)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.grants.Load()
	f(&next)
	s.grants.Store(&next)
}

// Forget drops what a session was granted. An installed policy forgets a session
// when it ends.
func (p *Policy) Forget(id messages.SessionID) { p.sessions.Delete(id) }

// Mode returns the mode of a session.
func (p *Policy) Mode(id messages.SessionID) Mode {
	return p.view(id).mode()
}

// SetMode changes the mode of one session.
func (p *Policy) SetMode(id messages.SessionID, m Mode) error {
	m, err := ParseMode(string(m))
	if err != nil {
		return err
	}
	if err := p.base.Load().config.permits(m); err != nil {
		return err
	}
	p.session(id).change(func(g *grants) { g.mode = m })
	return nil
}

// subject prepares the judgement of a call.
func (p *Policy) subject(v view, tool string, arguments messages.JSON, cwd, dir string) *subject {
	s := newSubject(tool, arguments, v.workspaceAt(cwd, dir))
	s.scripts = p.scripts
	return s
}

// view is what holds for one decision.
type view struct {
	base    *base
	session *session
	grants  *grants
}

func (p *Policy) view(id messages.SessionID) view {
	s := p.session(id)
	return view{p.base.Load(), s, s.grants.Load()}
}

func (v view) mode() Mode {
	m := v.grants.mode
	if m == "" || v.base.config.permits(m) != nil {
		return v.base.config.Mode
	}
	return m
}

// workspaceAt returns the workspace for a call. The directories are resolved when
// one of them changes, not for every call.
func (v view) workspaceAt(cwd, dir string) *workspace {
	if c := v.session.workspace.Load(); c != nil && c.base == v.base && c.grants == v.grants && c.cwd == cwd && c.dir == dir {
		return c.workspace
	}
	cfg := &v.base.config
	dirs := append(append([]string(nil), cfg.Directories...), v.grants.directories...)
	w := newWorkspace(cwd, dir, cfg.ProjectDir, cfg.Home, dirs, foldsCase())
	v.session.workspace.Store(&cachedWorkspace{v.base, v.grants, cwd, dir, w})
	return w
}
