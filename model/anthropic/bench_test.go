package anthropic

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
)

// BenchmarkStream measures a chunk from the bytes of the stream to the consumer,
// without a network.
func BenchmarkStream(b *testing.B) {
	const n = 1000
	for _, c := range []struct {
		name, start, delta string
	}{
		{"text", textOn, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" a few words of text"}}`},
		{"arguments", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"B","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"a \"few\" words"}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			var s strings.Builder
			s.WriteString("event: message_start\ndata: " + start + "\n\nevent: content_block_start\ndata: " + c.start + "\n\n")
			for range n {
				s.WriteString("event: content_block_delta\ndata: " + c.delta + "\n\n")
			}
			s.WriteString(events(textOff, stopped, end))
			m, err := New(Config{HTTPClient: &http.Client{Transport: &wiretest.Canned{Text: s.String()}}})
			if err != nil {
				b.Fatal(err)
			}
			req, ctx := ask(user(text("x"))), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				chunks := 0
				for _, err := range m.Stream(ctx, req) {
					if err != nil {
						b.Fatal(err)
					}
					chunks++
				}
				if chunks < n {
					b.Fatal(chunks)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/chunk")
		})
	}
}

// BenchmarkEncode measures the body of a request with a long history.
func BenchmarkEncode(b *testing.B) {
	for _, turns := range []int{10, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			var history []messages.Message
			for i := range turns {
				id := messages.CallID(fmt.Sprint("toolu_", i))
				history = append(history,
					user(text("a prompt of some words")),
					assistant(`{"anthropic":1,"reasoning":[{"signature":"c2lnbmF0dXJlIG9mIHRoZSB0aGlua2luZw=="}]}`,
						reasoning("a thought of some words"), text("an answer"), call(string(id), `{"command":"ls -l","description":"List the files"}`)),
					result(id, strings.Repeat("a line of output\n", 20), false),
					assistant("", text("done")),
				)
			}
			m, err := New(Config{})
			if err != nil {
				b.Fatal(err)
			}
			req := ask(history...)
			req.Header.System, req.Header.Tools = "system", tools
			b.ReportAllocs()
			for b.Loop() {
				body, err := m.encode(&req)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(body)))
			}
		})
	}
}
