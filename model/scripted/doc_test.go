package scripted

import (
	"os"
	"strings"
	"testing"
)

// The scenario in the package documentation is one.
func TestDocumentedScenario(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(source)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			lines = append(lines, text)
		} else if len(lines) > 0 {
			break
		}
	}
	s := mustParse(t, "greet.yaml", strings.Join(lines, ""))
	k := newTalk(t, s).prompt(s.Info().Prompt)
	call := k.answer().Content.ToolCalls()[0]
	if got := k.result(call.ID, "a.txt\n").text(); got != "These are the files:\na.txt\n" {
		t.Errorf("got %q", got)
	}
}
