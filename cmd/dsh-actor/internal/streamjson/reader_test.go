package streamjson

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dsh-actor/dsh-actor/messages"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in, want, wantErr string
	}{
		{in: `{"type":"user","message":{"role":"user","content":"hi"}}`, want: `[{"type":"text","text":"hi"}]`},
		{in: `{"type":"user","uuid":"u","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"text","text":"A","cache_control":{}},{"type":"text","text":"B"}]}}`,
			want: `[{"type":"text","text":"A"},{"type":"text","text":"B"}]`},
		{in: `{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]}}`,
			want: `[{"type":"image","mediaType":"image/png","data":"AA"}]`},
		{in: `{"type":"user","message":{"role":"user","content":"\ud83d x"}}`, want: "[{\"type\":\"text\",\"text\":\"\ufffd x\"}]"},
		{in: `hello`, wantErr: "not a JSON object"},
		{in: `[]`, wantErr: "not a JSON object"},
		{in: `{"type":"user","type":"user"}`, wantErr: "not a JSON object"},
		{in: `{"type":"assistant","message":{"role":"user","content":"x"}}`, wantErr: `type is "assistant"`},
		{in: `{"type":"user","message":{"role":"assistant","content":"x"}}`, wantErr: `message.role is "assistant"`},
		{in: `{"type":"user"}`, wantErr: `message.role is ""`},
		{in: `{"type":"user","message":{"role":"user"}}`, wantErr: "must be a string or a list"},
		{in: `{"type":"user","message":{"role":"user","content":""}}`, wantErr: "content is empty"},
		{in: `{"type":"user","message":{"role":"user","content":[]}}`, wantErr: "content is empty"},
		{in: `{"type":"user","message":{"role":"user","content":3}}`, wantErr: "must be a string or a list"},
		{in: `{"type":"user","message":{"role":"user","content":[{"type":"text","text":3}]}}`, wantErr: "message.content:"},
		{in: `{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}}`, wantErr: `source of type "url"`},
		{in: `{"type":"user","message":{"role":"user","content":[{"type":"document"}]}}`, wantErr: `block of type "document"`},
		{in: `{"type":"control_request","request_id":"r"}`, wantErr: "request.subtype is missing"},
	}
	for _, tt := range tests {
		got, err := Parse([]byte(tt.in))
		if tt.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("Parse(%s): error %v, want one with %q", tt.in, err, tt.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%s): %v", tt.in, err)
			continue
		}
		text, err := messages.MarshalJSON(got.Prompt)
		if err != nil || string(text) != tt.want {
			t.Errorf("Parse(%s) = %s, %v, want %s", tt.in, text, err, tt.want)
		}
	}
}

func TestParseControl(t *testing.T) {
	got, err := Parse([]byte(`{"type":"control_request","request_id":"r7","request":{"subtype":"interrupt"}}`))
	if err != nil || got.Control != "interrupt" || got.RequestID != "r7" || !got.Prompt.IsZero() {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReader(t *testing.T) {
	user := func(s string) string {
		return `{"type":"user","message":{"role":"user","content":"` + s + `"}}`
	}
	long := strings.Repeat("y", 200_000)
	in := user("one") + "\n\n  \r\n" + user(long) + "\r\n" + user("three") // no newline at the end
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
		reader := NewReader(r, MaxLine)
		for _, want := range []string{"one", long, "three"} {
			line, err := reader.Next()
			if err != nil || line.Prompt.Text() != want {
				t.Fatalf("%s: got %.20q, %v, want %.20q", name, line.Prompt.Text(), err, want)
			}
		}
		if _, err := reader.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: at the end %v, want EOF", name, err)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	_, err := NewReader(strings.NewReader("\n\n{}\n"), MaxLine).Next()
	if err == nil || !strings.HasPrefix(err.Error(), "line 3 of standard input: ") {
		t.Errorf("error %v does not name line 3", err)
	}
	broken := errors.New("broken")
	_, err = NewReader(io.MultiReader(strings.NewReader(`{"type":`), iotest.ErrReader(broken)), MaxLine).Next()
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v: half a line is not a line", err, broken)
	}
	_, err = NewReader(io.LimitReader(endless{}, 1<<20), 100_000).Next()
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("error %v, want one about the length", err)
	}
}

// endless is a line that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"role":"user","content":"hi"}}`))
	f.Add([]byte(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"A"}]}}`))
	f.Add([]byte(`{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		line, err := Parse(text)
		if err != nil {
			return
		}
		if (line.Control == "") == line.Prompt.IsZero() {
			t.Errorf("Parse(%q) = %+v: neither or both of a prompt and a control request", text, line)
		}
		if line.Prompt.IsZero() {
			return
		}
		w, _ := newWriter(false)
		if err := w.Replay(line.Prompt); err != nil {
			t.Errorf("the prompt of %q cannot be written: %v", text, err)
		}
	})
}
