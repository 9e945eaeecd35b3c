package export_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/export"
)

// A program that writes its trace to a file: the provider is opened first and
// shut down last, and its error says what the trace lacks.
func ExampleOpenFile() {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	provider, err := export.OpenFile(filepath.Join(dir, "trace.jsonl"), export.FileConfig{
		Identity: export.Identity{Version: "1.0.0"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tracer := otel.New(otel.Config{TracerProvider: provider.TracerProvider()})

	_, drain := tracer.StartDrain(context.Background(), "runtime")
	drain.End(messages.Report{Owner: "runtime"})

	if err := provider.Shutdown(context.Background()); err != nil {
		fmt.Println("the trace is incomplete:", err)
	}
	fmt.Println("spans lost:", provider.Dropped())
	// Output: spans lost: 0
}
