package host

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/otel/export"
	"github.com/dsh-actor/dsh-actor/otel/otlp"
)

// openTraces makes the provider of spans: a file, a collector that the environment
// names, both or neither. It is nil, and does nothing, if there is neither.
func openTraces(ctx context.Context, file, version string, warn func(error)) (*export.Provider, error) {
	identity := export.Identity{Version: version}
	queue := export.QueueConfig{OnError: warn}
	if file == "" {
		p, err := otlp.FromEnv(ctx, otlp.Config{Identity: identity, Queue: queue})
		if err != nil {
			return nil, fmt.Errorf("traces: %w", err)
		}
		return p, nil
	}
	cfg := export.FileConfig{Identity: identity, Queue: queue}
	on, err := otlp.Enabled()
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	if on {
		q, err := otlp.NewQueue(ctx, otlp.Config{Queue: queue})
		if err != nil {
			return nil, fmt.Errorf("traces: %w", err)
		}
		cfg.Also = append(cfg.Also, q)
	}
	p, err := export.OpenFile(file, cfg)
	if err != nil {
		for _, q := range cfg.Also {
			_ = q.Shutdown(ctx) // it is empty
		}
		return nil, fmt.Errorf("trace file: %w", err)
	}
	return p, nil
}
