package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readEvents reads a stream to its end; each event is "name|data".
func readEvents(r io.Reader, limit int) (events []string, err error) {
	er := newEventReader(r, limit)
	for {
		name, data, err := er.next()
		if err != nil {
			return events, err
		}
		events = append(events, string(name)+"|"+string(data))
	}
}

// reference parses a whole stream by the letter of the HTML standard.
func reference(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	lines := strings.Split(stream, "\n")
	lines = lines[:len(lines)-1] // not ended, or nothing
	var name string
	var data []string
	for _, line := range lines {
		switch field, value, _ := strings.Cut(line, ":"); {
		case line == "":
			if data != nil {
				events = append(events, name+"|"+strings.Join(data, "\n"))
			}
			name, data = "", nil
		case field == "event":
			name = strings.TrimPrefix(value, " ")
		case field == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	return events
}

var streams = []struct {
	name   string
	stream string
	want   []string
}{
	{"empty", "", nil},
	{"one", "data: a\n\n", []string{"|a"}},
	{"named", "event: e\ndata: a\n\n", []string{"e|a"}},
	{"name after data", "data: a\nevent: e\n\n", []string{"e|a"}},
	{"no space", "event:e\ndata:a\n\n", []string{"e|a"}},
	{"two spaces", "data:  a\n\n", []string{"| a"}},
	{"crlf", "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"e|a", "|b"}},
	{"cr", "event: e\rdata: a\r\rdata: b\r\r", []string{"e|a", "|b"}},
	{"mixed", "data: a\r\ndata: b\n\rdata: c\r\r\n\n", []string{"|a\nb", "|c"}},
	{"comments", ": ping\n\n:\ndata: a\n: keep-alive\n\n: x\n\n", []string{"|a"}},
	{"lines", "data: a\ndata: b\ndata\ndata: c\n\n", []string{"|a\nb\n\nc"}},
	{"empty data", "data:\n\n", []string{"|"}},
	{"no data", "event: e\n\ndata: a\n\n", []string{"|a"}},
	{"other fields", "id: 1\nretry: 10\nfoo: bar\nfoo\ndata: a\n\n", []string{"|a"}},
	{"colons", "data: {\"a\": 1}\n\n", []string{`|{"a": 1}`}},
	{"not ended", "data: a\n\ndata: b\n", []string{"|a"}},
	{"not ended line", "data: a\n\ndata: b", []string{"|a"}},
	{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}},
	{"mark later", "data: a\n\n\ufeffdata: b\n\n", []string{"|a"}},
	{"half a mark", "\xef\xbb", nil},
	{"case", "Data: a\nDATA: b\n\n", nil},
	{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []string{"|a"}},
	{"utf-8", "data: é😀\n\n", []string{"|é😀"}},
	{"nul", "data: a\x00b\n\n", []string{"|a\x00b"}},
	{"long", "data: " + strings.Repeat("x", 3*readSize) + "\n\ndata: b\n\n", []string{"|" + strings.Repeat("x", 3*readSize), "|b"}},
}

func TestEvents(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, reference(c.stream)); diff != "" {
				t.Errorf("the reference differs (-want +got):\n%s", diff)
			}
			got, err := readEvents(strings.NewReader(c.stream), 1<<20)
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			got, err = readEvents(iotest.OneByteReader(strings.NewReader(c.stream)), 1<<20)
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF {
				t.Errorf("byte by byte: %v (-want +got):\n%s", err, diff)
			}
			for i := range min(len(c.stream), 200) {
				got, err := readEvents(io.MultiReader(strings.NewReader(c.stream[:i]), strings.NewReader(c.stream[i:])), 1<<20)
				if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF {
					t.Errorf("split at %d: %v (-want +got):\n%s", i, err, diff)
				}
			}
		})
	}
}

// An event is handed out when its empty line has come, without a byte more.
func TestEventsArePrompt(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		pr, pw := io.Pipe()
		er := newEventReader(pr, 1<<20)
		written := make(chan error, 1)
		go func() {
			_, err := io.WriteString(pw, "data: a"+end+end)
			written <- err
		}()
		// With CR LF only the CR of the empty line is needed; the LF belongs to the
		// same write here.
		name, data, err := er.next()
		if err != nil || len(name) != 0 || string(data) != "a" {
			t.Errorf("%q: %q, %q, %v", end, name, data, err)
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
		pw.Close()
		if _, _, err := er.next(); err != io.EOF {
			t.Errorf("%q: %v", end, err)
		}
	}
}

func TestEventLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream string
		want   error
	}{
		{"line at the limit", "data: " + strings.Repeat("x", 94) + "\n\n", io.EOF},
		{"line beyond", "data: " + strings.Repeat("x", 95) + "\n\n", errTooLong},
		{"line without end", strings.Repeat("x", 1<<20), errTooLong},
		{"comment without end", ":" + strings.Repeat("x", 1<<20), errTooLong},
		{"many lines", strings.Repeat("data: x\n", 15) + "\n", errTooLong},
		{"many comments in an event", "data: x\n" + strings.Repeat(": keep-alive\n", 15) + "\n", errTooLong},
		{"many events", strings.Repeat("data: x\n\n", 1000), io.EOF},
		{"many comments", strings.Repeat(": keep-alive\n\n", 1000), io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &countingReader{r: strings.NewReader(c.stream)}
			if _, err := readEvents(r, 100); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if c.want != io.EOF && r.n > 2*readSize {
				t.Errorf("read %d bytes", r.n)
			}
		})
	}
}

type countingReader struct {
	r io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestEventErrors(t *testing.T) {
	broken := errors.New("broken")
	got, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 100)
	if diff := cmp.Diff([]string{"|a"}, got); diff != "" || !errors.Is(err, broken) {
		t.Errorf("%v\n%s", err, diff)
	}
	// Data that comes together with an error counts.
	got, err = readEvents(iotest.DataErrReader(strings.NewReader("data: a\n\n")), 100)
	if diff := cmp.Diff([]string{"|a"}, got); diff != "" || err != io.EOF {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := readEvents(idleReader{}, 100); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that returns nothing: %v", err)
	}
}

type idleReader struct{}

func (idleReader) Read([]byte) (int, error) { return 0, nil }

// The parser agrees with the standard, however the stream is cut into reads.
func FuzzEvents(f *testing.F) {
	for _, c := range streams {
		f.Add([]byte(c.stream), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		want := reference(string(stream))
		for _, r := range []io.Reader{
			bytes.NewReader(stream),
			&sizedReader{r: bytes.NewReader(stream), size: int(size%16) + 1},
		} {
			got, err := readEvents(r, 1<<20)
			if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
		}
	})
}

type sizedReader struct {
	r    io.Reader
	size int
}

func (s *sizedReader) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.size)]) }

func BenchmarkEvents(b *testing.B) {
	const n = 1000
	stream := strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n", n)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		er := newEventReader(strings.NewReader(stream), 1<<20)
		got := 0
		for {
			if _, _, err := er.next(); err != nil {
				break
			}
			got++
		}
		if got != n {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}
