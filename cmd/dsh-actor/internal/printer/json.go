package printer

import (
	"bytes"
	"fmt"
	"io"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/streamjson"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/tools/retry"
)

// Lines prints a line of JSON for each thing that happens.
type Lines struct {
	w     *streamjson.Writer
	facts Facts
	model string
	denials
}

// NewLines returns a printer to w. Model is the session's.
func NewLines(w *streamjson.Writer, model string, facts Facts) *Lines {
	return &Lines{w: w, facts: facts, model: model}
}

// Event prints what the real program prints.
func (p *Lines) Event(e messages.Event) error {
	switch d := e.Data.(type) {
	case messages.StepStart:
		p.w.StepStart(p.model)
	case messages.RequestHeaderEvent:
		p.model = d.Header.Config.Model
		p.w.StepStart(p.model)
	case messages.AssistantChunk:
		return p.w.Chunk(d)
	case messages.AssistantMessage:
		return p.w.Assistant(d)
	case messages.ToolResult:
		f, _ := p.facts(d)
		p.add(f)
		return p.w.ToolResult(d, f.Value)
	case messages.SteeringMessage:
		return p.w.Steering(d)
	case retry.Retry:
		return p.w.Retry(streamjson.Retry{Attempt: d.Attempt, MaxRetries: d.MaxRetries, DelayMS: d.DelayMS, Failure: d.Failure})
	}
	return nil
}

// Turn prints the result line.
func (p *Lines) Turn(t *outcome.Turn, r outcome.Result) error { return p.w.Result(t, r, p.take()) }

// Object prints one JSON object for each turn: the result line.
type Object struct {
	w     *streamjson.Writer
	facts Facts
	denials
}

// NewObject returns a printer to w.
func NewObject(w *streamjson.Writer, facts Facts) *Object { return &Object{w: w, facts: facts} }

// Event prints nothing.
func (p *Object) Event(e messages.Event) error {
	if d, ok := e.Data.(messages.ToolResult); ok {
		f, _ := p.facts(d)
		p.add(f)
	}
	return nil
}

// Turn prints the result.
func (p *Object) Turn(t *outcome.Turn, r outcome.Result) error { return p.w.Result(t, r, p.take()) }

// Array collects lines and writes them as one JSON array, which is what the real
// program prints for --output-format json --verbose.
type Array struct {
	Out   io.Writer
	lines [][]byte
}

// Write takes one line.
func (a *Array) Write(line []byte) (int, error) {
	a.lines = append(a.lines, bytes.TrimSuffix(bytes.Clone(line), []byte("\n")))
	return len(line), nil
}

// Close writes the array.
func (a *Array) Close() error {
	b := append([]byte{'['}, bytes.Join(a.lines, []byte{','})...)
	if _, err := a.Out.Write(append(b, "]\n"...)); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
