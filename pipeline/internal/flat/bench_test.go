package flat

import (
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline/schema"
)

// BenchmarkFlat compares the short way with the long one.
func BenchmarkFlat(b *testing.B) {
	const text = `{"text":"hello, world"}`
	b.Run("check/short", func(b *testing.B) {
		raw := []byte(text)
		b.ReportAllocs()
		for b.Loop() {
			if !Lossless(raw) {
				b.Fatal("declined")
			}
		}
	})
	b.Run("check/long", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := messages.CheckJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/short", func(b *testing.B) {
		d := NewDecoder[small]()
		b.ReportAllocs()
		for b.Loop() {
			var in small
			if !d.Decode(text, &in) {
				b.Fatal("declined")
			}
		}
	})
	b.Run("decode/long", func(b *testing.B) {
		s, err := schema.For[small]()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			var in small
			if !s.Conforms(text) || messages.JSON(text).Unmarshal(&in) != nil {
				b.Fatal("refused")
			}
		}
	})
	b.Run("encode/short", func(b *testing.B) {
		e := NewEncoder[small]()
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := e.Encode(&small{Text: "hello, world"}); !ok {
				b.Fatal("declined")
			}
		}
	})
	b.Run("encode/long", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := messages.MarshalJSON(small{Text: "hello, world"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
