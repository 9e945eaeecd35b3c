package tools_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-json-experiment/json"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/tools"
)

// Z-44: the canonical values, and what the model reads, are those that were
// measured of the real program, in the order of the measurement.
func TestResponsesAsMeasured(t *testing.T) {
	b := newBench(t, tools.Config{})
	b.file("CLAUDE.md", "Project memory.\n")
	data, err := os.ReadFile("testdata/responses.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Tool     string        `json:"tool"`
		Input    messages.JSON `json:"input"`
		Response messages.JSON `json:"response"`
		Text     string        `json:"text"`
		Error    bool          `json:"error"`
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(data), "{DIR}", b.dir)), &cases); err != nil {
		t.Fatal(err)
	}
	for _, tc := range cases {
		r := b.call(tc.Tool, tc.Input)
		if r.IsError() != tc.Error || r.Content().Text() != tc.Text {
			t.Errorf("%s %s: error %v, text %q, want %q", tc.Tool, tc.Input, r.IsError(), r.Content().Text(), tc.Text)
		}
		if tc.Response == "" {
			continue
		}
		var got, want any
		if err := r.Value().Unmarshal(&got); err != nil {
			t.Errorf("%s: %v", tc.Tool, err)
		}
		if err := tc.Response.Unmarshal(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("value of %s (-want +got):\n%s", tc.Tool, diff)
		}
	}
}
