package host

import (
	"fmt"
	"strconv"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/tools/permission"
	"github.com/dsh-actor/dsh-actor/tools/retry"
)

// installPolicy makes permissions hold. It returns what the user should know about
// the rules.
func installPolicy(rt *actors.Runtime, cfg permission.Config) (*permission.Policy, []permission.Diagnostic, error) {
	p, err := permission.New(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("permissions: %w", err)
	}
	p.Install(rt)
	return p, p.Diagnostics(), nil
}

// retriesVar bounds the retries of a request, as it does for the real program.
const retriesVar = "CLAUDE_CODE_MAX_RETRIES"

// installRetry has failed requests tried again.
func installRetry(rt *actors.Runtime, getenv func(string) string) error {
	var cfg retry.Config
	if text := getenv(retriesVar); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("%s: %q is not a number of retries", retriesVar, text)
		}
		cfg.Tries = n + 1
	}
	l, err := retry.New(cfg)
	if err != nil {
		return err
	}
	if err := rt.Events().Declare(retry.EventTypes()...); err != nil {
		return fmt.Errorf("declare the events of retries: %w", err)
	}
	l.Install(rt.Seams())
	return nil
}
