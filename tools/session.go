package tools

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// sessions holds what the tools remember, by session. A call without a session
// belongs to the session "".
type sessions struct {
	mu sync.Mutex
	m  map[messages.SessionID]*session
}

func sessionOf(agent pipeline.Agent) messages.SessionID {
	if agent == nil {
		return ""
	}
	return agent.ID()
}

func (s *sessions) get(id messages.SessionID) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = make(map[messages.SessionID]*session)
	}
	if s.m[id] == nil {
		s.m[id] = &session{}
	}
	return s.m[id]
}

func (s *sessions) take(id messages.SessionID) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.m[id]
	delete(s.m, id)
	return t
}

func (s *sessions) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.m)
}

// session is what the tools remember for one session.
type session struct {
	mu    sync.Mutex
	dir   string // where its commands are, if not where the session is
	owner *proc.Owner
	read  map[string]version // by path
}

// version is what a file was when the session read or wrote it last.
type version struct {
	modified time.Time
	size     int64
}

// maxRemembered bounds the files that are remembered of one session; one that
// is forgotten must be read again before it is changed.
const maxRemembered = 4096

func home(agent pipeline.Agent) string {
	if agent != nil && agent.Cwd() != "" {
		return agent.Cwd()
	}
	dir, err := os.Getwd()
	if err != nil {
		return string(os.PathSeparator)
	}
	return dir
}

func (s *session) cwd(agent pipeline.Agent) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return s.dir
	}
	return home(agent)
}

func (s *session) moveTo(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = dir
}

// processes returns the owner of the session's commands.
func (s *session) processes(parent *proc.Owner) *proc.Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owner == nil {
		s.owner = parent.Sub()
	}
	return s.owner
}

func (s *session) drain(ctx context.Context, grace time.Duration) proc.Report {
	s.mu.Lock()
	o := s.owner
	s.mu.Unlock()
	if o == nil {
		return proc.Report{}
	}
	return o.Drain(ctx, grace)
}

// saw records what the file is now.
func (s *session) saw(path string, info os.FileInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == nil {
		s.read = make(map[string]version)
	}
	if _, known := s.read[path]; !known && len(s.read) >= maxRemembered {
		for other := range s.read {
			delete(s.read, other)
			break
		}
	}
	s.read[path] = versionOf(info)
}

func versionOf(info os.FileInfo) version {
	return version{modified: info.ModTime(), size: info.Size()}
}

// seen returns what the file was when the session saw it last.
func (s *session) seen(path string) (version, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.read[path]
	return v, ok
}
