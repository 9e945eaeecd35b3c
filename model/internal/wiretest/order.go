package wiretest

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

// AnyOrder gives the decoder the events in any order and number. Whatever comes,
// it does not panic, the chunks keep V-6, and an error is a failure (V-9).
func AnyOrder(t *testing.T, events []string, answer func(stream string) ([]messages.Chunk, error)) {
	rapid.Check(t, func(t *rapid.T) {
		var stream strings.Builder
		for _, e := range rapid.SliceOfN(rapid.SampledFrom(events), 0, 25).Draw(t, "events") {
			stream.WriteString("data: " + e + "\n\n")
		}
		chunks, err := answer(stream.String())
		if bad := WellFormed(chunks, err); bad != nil {
			t.Fatal(bad)
		}
	})
}

// WellFormed checks what a stream yielded, which may have ended in an error.
func WellFormed(chunks []messages.Chunk, err error) error {
	if err != nil {
		var f messages.Failure
		if !errors.As(err, &f) || f.Code == "" || f.Message == "" {
			return errors.Join(errors.New("the error is not a failure"), err)
		}
		chunks = closed(chunks)
	}
	// A call without a name is passed on as such (V-7).
	if bad := modeltest.CheckChunks(chunks); bad != nil && !strings.Contains(bad.Error(), `name ""`) {
		return errors.Join(bad, err)
	}
	return nil
}

// closed drops the blocks that an error left open.
func closed(chunks []messages.Chunk) (out []messages.Chunk) {
	ends := map[int]bool{}
	for _, c := range chunks {
		if e, ok := c.(messages.BlockEnd); ok {
			ends[e.Index] = true
		}
	}
	for _, c := range chunks {
		index := -1
		switch c := c.(type) {
		case messages.BlockStart:
			index = c.Index
		case messages.TextDelta:
			index = c.Index
		case messages.ReasoningDelta:
			index = c.Index
		case messages.ToolCallDelta:
			index = c.Index
		}
		if index < 0 || ends[index] {
			out = append(out, c)
		}
	}
	return out
}
