package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
)

// serverEnv makes the test binary an MCP server over its standard input and
// output; its value says which.
const serverEnv = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverEnv); kind != "" {
		if err := serve(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(proctest.Main(m))
}

func serve(kind string) error {
	switch kind {
	case "silent": // never answers
		select {}
	case "broken":
		return errors.New("first line\ncannot open the database")
	case "stubborn": // ends neither with its input nor with SIGTERM, and has a child
		signal.Ignore(os.Interrupt, terminate)
		if err := exec.Command("sleep", "300").Start(); err != nil {
			return err
		}
		_ = testServer().Run(context.Background(), &sdk.StdioTransport{})
		select {}
	case "chatty": // says something on its way out
		defer fmt.Fprintln(os.Stderr, strings.Repeat("bye ", 1000))
	}
	return testServer().Run(context.Background(), &sdk.StdioTransport{})
}

type textIn struct {
	Text string `json:"text"`
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// testServer has a tool for everything that can be answered.
func testServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, readOnly bool, f func(ctx context.Context, r *sdk.CallToolRequest, in textIn) *sdk.CallToolResult) {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: "does " + name, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readOnly}},
			func(ctx context.Context, r *sdk.CallToolRequest, in textIn) (*sdk.CallToolResult, any, error) {
				return f(ctx, r, in), nil, nil
			})
	}
	add("echo", true, func(_ context.Context, _ *sdk.CallToolRequest, in textIn) *sdk.CallToolResult {
		return text("mcp-echo:" + in.Text)
	})
	add("fail", false, func(_ context.Context, _ *sdk.CallToolRequest, in textIn) *sdk.CallToolResult {
		r := text("it failed: " + in.Text)
		r.IsError = true
		return r
	})
	add("many", false, func(context.Context, *sdk.CallToolRequest, textIn) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "one"}, &sdk.ImageContent{Data: []byte("png"), MIMEType: "image/png"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a", Text: "inside"}},
			&sdk.ResourceLink{URI: "file:///b", Name: "b"}, &sdk.AudioContent{Data: []byte("x"), MIMEType: "audio/wav"},
		}}
	})
	add("nothing", false, func(context.Context, *sdk.CallToolRequest, textIn) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{}}
	})
	add("env", false, func(_ context.Context, _ *sdk.CallToolRequest, in textIn) *sdk.CallToolResult {
		return text(os.Getenv(in.Text))
	})
	add("meta", false, func(_ context.Context, r *sdk.CallToolRequest, _ textIn) *sdk.CallToolResult {
		return text(fmt.Sprint(r.Params.Meta["traceparent"]))
	})
	add("die", false, func(context.Context, *sdk.CallToolRequest, textIn) *sdk.CallToolResult {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
		return nil
	})
	add("pid", false, func(context.Context, *sdk.CallToolRequest, textIn) *sdk.CallToolResult {
		return text(fmt.Sprint(os.Getpid()))
	})
	add("block", false, func(ctx context.Context, _ *sdk.CallToolRequest, in textIn) *sdk.CallToolResult {
		if in.Text != "" { // tell that it is here
			if f, err := os.OpenFile(in.Text, os.O_WRONLY, 0); err == nil {
				f.Close()
			}
		}
		<-ctx.Done()
		return text("cancelled")
	})
	add("grow", false, func(context.Context, *sdk.CallToolRequest, textIn) *sdk.CallToolResult {
		s.RemoveTools("env")
		sdk.AddTool(s, &sdk.Tool{Name: "new tool!"}, func(context.Context, *sdk.CallToolRequest, textIn) (*sdk.CallToolResult, any, error) {
			return text("new"), nil, nil
		})
		return text("grown")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "structured"}, func(context.Context, *sdk.CallToolRequest, textIn) (*sdk.CallToolResult, map[string]int, error) {
		return nil, map[string]int{"n": 1}, nil
	})
	return s
}
