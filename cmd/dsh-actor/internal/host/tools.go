package host

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools"
)

// installTools registers the built-in tools.
func (h *Host) installTools(o Options) error {
	h.kit = tools.New(tools.Config{
		BaseEnv:  o.Environ,
		Env:      func(*pipeline.Call) []string { return o.Trusted },
		Dirs:     func(*pipeline.Call) []string { return o.Permissions.Directories },
		SpillDir: func(*pipeline.Call) string { return o.spillDir() },
	})
	if _, err := h.kit.Register(h.Runtime.Tools()); err != nil {
		return fmt.Errorf("register tools: %w", err)
	}
	return nil
}

// spillDir is where output goes that is too long to keep, private to the session
// (Z-33); "" if it cannot be made: then the output is cut without a copy.
func (o *Options) spillDir() string {
	if o.StateDir == "" {
		return ""
	}
	dir := filepath.Join(o.StateDir, string(o.SessionID))
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}
