package session_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/google/go-cmp/cmp"
)

const sample = `{"type":"session","version":0,"id":"s-1","createdAt":7,"cwd":"/w","labels":{"a":"1","b":"2"}}
{"type":"turn/start","seq":0,"time":1000,"data":{"turn":1,"trigger":{"kind":"message","source":{"kind":"user"}}}}
{"type":"user/message","seq":1,"time":1001,"data":{"content":[{"type":"text","text":"line\nbreak <&> \u2028é"}],"source":{"kind":"user"},"meta":{"n":12345678901234567890.0}},"surfaceOp":"append"}
{"type":"later/type","seq":2,"time":1002,"data":{"kept":[1,2]}}
{"type":"turn/end","seq":3,"time":1003,"data":{"turn":1,"reason":{"kind":"completed"}}}
`

func collect(j *session.JSONL) ([]messages.Event, error) {
	var out []messages.Event
	for e, err := range j.Events() {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

// K-7: what is read is written again unchanged.
func TestJSONLRoundTrip(t *testing.T) {
	j, err := session.ReadJSONL(strings.NewReader(sample), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := session.Header{ID: "s-1", CreatedAt: 7, Cwd: "/w", Labels: map[string]string{"a": "1", "b": "2"}}
	if diff := cmp.Diff(want, j.Header()); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	events, err := collect(j)
	if err != nil || len(events) != 4 || j.Torn() != 0 {
		t.Fatalf("%d events, %d bytes torn, %v", len(events), j.Torn(), err)
	}
	var out bytes.Buffer
	if err := session.WriteJSONL(&out, j.Header(), seqOf(events)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(sample, `\u2028`, "\u2028"), out.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if err := session.Verify(nil, seqOf(events)); err != nil {
		t.Error(err)
	}
}

// K-7: one line per event, whatever the payload's own text is like.
func TestJSONLOneLinePerEvent(t *testing.T) {
	l := logOf(t, turnStart(1), session.Add(messages.UserMessage{
		Content: messages.Text("a\nb"), Source: messages.UserSource(), Meta: "{\n  \"pretty\": [\n1 ]\n}",
	}))
	var out bytes.Buffer
	if err := session.WriteJSONL(&out, l.Header(), seqOf(eventsOf(l))); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 3 || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("%d lines, want 3:\n%s", n, out.String())
	}
}

// K-8: a line without its newline is torn and cut, wherever it was torn.
func TestJSONLTornTail(t *testing.T) {
	starts := []int{0}
	for i := range sample {
		if sample[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	for cut := range len(sample) + 1 {
		lines := strings.Count(sample[:cut], "\n")
		for name, r := range map[string]interface {
			Read([]byte) (int, error)
		}{
			"whole": strings.NewReader(sample[:cut]), "bytes": iotest.OneByteReader(strings.NewReader(sample[:cut])),
		} {
			j, err := session.ReadJSONL(r, nil)
			if lines == 0 {
				var bad *session.LineError
				if !errors.As(err, &bad) || bad.Line != 1 {
					t.Fatalf("%s, cut at %d: %v", name, cut, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, cut at %d: %v", name, cut, err)
			}
			events, err := collect(j)
			if err != nil || len(events) != lines-1 || j.Torn() != cut-starts[lines] {
				t.Fatalf("%s, cut at %d: %d events, %d bytes torn, %v", name, cut, len(events), j.Torn(), err)
			}
		}
	}
}

// K-8: a bad line before the end is an error that names it.
func TestJSONLBadLines(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSuffix(sample, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	for name, c := range map[string]struct {
		line int // 1-based, the one that is replaced
		text string
	}{
		"empty header":            {1, "\n"},
		"header is no JSON":       {1, "session\n"},
		"header of another type":  {1, `{"type":"turn/start","version":0,"id":"a","createdAt":1}` + "\n"},
		"header with more keys":   {1, `{"type":"session","version":0,"id":"a","createdAt":1,"more":1}` + "\n"},
		"header of a new version": {1, `{"type":"session","version":1,"id":"a","createdAt":1}` + "\n"},
		"header without an id":    {1, `{"type":"session","version":0,"createdAt":1}` + "\n"},
		"garbage":                 {2, "\x00\x00\x00\n"},
		"empty line":              {3, "\n"},
		"half a line":             {3, lines[2][:40] + "\n"},
		"two events":              {3, strings.TrimSuffix(lines[2], "\n") + lines[3]},
		"unknown envelope key":    {3, `{"type":"turn/start","seq":1,"time":1,"data":{},"id":"x"}` + "\n"},
		"non-integer seq":         {3, `{"type":"later/type","seq":1.5,"time":1,"data":{}}` + "\n"},
		"non-integer time":        {3, `{"type":"later/type","seq":1,"time":"1","data":{}}` + "\n"},
		"no data":                 {3, `{"type":"later/type","seq":1,"time":1}` + "\n"},
		"malformed payload":       {3, `{"type":"step/end","seq":1,"time":1,"data":{"turn":"1"}}` + "\n"},
		"duplicate key":           {4, `{"type":"later/type","seq":1,"seq":1,"time":1,"data":{}}` + "\n"},
		"last line":               {5, "}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(lines[:c.line-1], "") + c.text + strings.Join(lines[c.line:], "")
			j, err := session.ReadJSONL(strings.NewReader(text), nil)
			n := 0
			if err == nil {
				var events []messages.Event
				events, err = collect(j)
				n = len(events)
			}
			var bad *session.LineError
			if !errors.As(err, &bad) || bad.Line != c.line {
				t.Fatalf("want an error of line %d, got %v", c.line, err)
			}
			if !strings.Contains(err.Error(), "line ") || bad.Unwrap() == nil || n != max(c.line-2, 0) {
				t.Errorf("%d events before %v", n, err)
			}
		})
	}
}

// Lines longer than any buffer are read.
func TestJSONLLongLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	l := logOf(t, turnStart(1), user(long), turnEnd(1))
	var out bytes.Buffer
	if err := session.WriteJSONL(&out, l.Header(), seqOf(eventsOf(l))); err != nil {
		t.Fatal(err)
	}
	j, err := session.ReadJSONL(&out, nil)
	if err != nil {
		t.Fatal(err)
	}
	events, err := collect(j)
	if err != nil || len(events) != 3 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if got := events[1].Data.(messages.UserMessage).Content.Text(); got != long {
		t.Errorf("read %d bytes of text", len(got))
	}
}

func TestJSONLPassesErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	if _, err := session.ReadJSONL(iotest.ErrReader(broken), nil); !errors.Is(err, broken) {
		t.Errorf("read: %v", err)
	}
	err := session.WriteJSONL(&bytes.Buffer{}, session.Header{ID: "a"},
		func(yield func(messages.Event, error) bool) { yield(messages.Event{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("write: %v", err)
	}
	full := writerFunc(func([]byte) (int, error) { return 0, broken })
	if err := session.WriteJSONL(full, session.Header{ID: "a"}, seqOf(nil)); !errors.Is(err, broken) {
		t.Errorf("flush: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
