package scripted

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// fourCalls is the answer of the runtime's benchmark: four calls, or with ids
// the same without anything to mint.
func fourCalls(ids bool) Answer {
	var a Answer
	for i := range 4 {
		t := Call("Read", map[string]any{"file_path": fmt.Sprintf("file-%d.txt", i)})
		if ids {
			t.ID = messages.CallID(fmt.Sprint("call-", i))
		}
		a.Tools = append(a.Tools, t)
	}
	return a
}

func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		name   string
		answer Answer
	}{
		{"text", Text("All four files were read.")},
		{"4 calls, own ids", fourCalls(true)},
		{"4 calls, minted ids", fourCalls(false)},
		{"template", Text("You said {{prompt}}.")},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := model.Model(New(c.answer).Then(ThenLoop))
			k := newTalk(b, m).prompt("read them")
			req, ctx := k.request(), b.Context()
			b.ReportAllocs()
			chunks := 0
			for b.Loop() {
				for _, err := range m.Stream(ctx, req) {
					if err != nil {
						b.Fatal(err)
					}
					chunks++
				}
			}
			b.ReportMetric(float64(chunks)/float64(b.N), "chunks/op")
		})
	}
}

// Choosing an answer costs the same in a long session.
func BenchmarkPick(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("turns=%d", n), func(b *testing.B) {
			s := New(fourCalls(false), Text("Done.")).Then(ThenLoop)
			k := newTalk(b, s).prompt("go")
			for _, call := range k.answer().Content.ToolCalls() {
				k.result(call.ID, "content")
			}
			k.answer()
			// Every turn of a loop is the same but for its ids.
			k.history = messages.FrozenList(slices.Repeat(k.history.Slice(), n))
			k.prompt("go")
			b.ReportAllocs()
			for b.Loop() {
				if a, _ := s.pick(k.history); a != s.answers[0] {
					b.Fatal("wrong answer")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{"yaml": everything, "json": everythingJSON} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("all."+name, []byte(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
