package messages

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// FuzzDecodeEvent: never panics; what decodes is lossless JSON, and decode →
// encode → decode is stable.
func FuzzDecodeEvent(f *testing.F) {
	for _, c := range goldenEvents {
		f.Add(c.text)
	}
	for _, e := range typicalEvents() {
		text, err := MarshalJSON(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, s := range []string{
		`{"type":"x/y","seq":1,"time":2,"data":{"a":[1e400,"\u00e9\/"]},"surfaceOp":"\u0061ppend","sourceEventSeqs":[]}`,
		`{"type":"turn/end","seq":01,"time":2,"data":{"turn":1,"reason":{"kind":"aborted"}}}`,
		`{"type":"turn/end","seq":1,"time":-0,"data":{"turn":1,"reason":{"kind":"new","x":{}}}}`,
		`{"type":"turn/start","seq":1,"time":2,"data":{"turn":1,"trigger":{"kind":"t","source":[]}}} x`,
		`{"type":"assistant/chunk","seq":1,"time":2,"data":{"turn":1,"step":2,"chunk":{"type":"finish","reason":{"kind":"new","a":"\""}}}}`,
		`{"type":"assistant/chunk","seq":1,"time":2,"data":{"turn":1,"step":2,"chunk":{"type":"block-end","index":0,"block":{"type":"new"}}}`,
		"{\"type\":\"x\xff\",\"seq\":1,\"time\":2,\"data\":{}}", "{\x01}", `{"type" "x"}`, `{`, `"`, `{"data":`, `{"a":"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := registry.DecodeEvent(JSON(s))
		if err != nil {
			return
		}
		if !jsontext.Value(s).IsValid() {
			t.Fatalf("decoded %q, but it is not lossless JSON", s)
		}
		text, err := MarshalJSON(e)
		if err != nil {
			t.Fatalf("decoded %s, but cannot encode it: %v", s, err)
		}
		if !jsontext.Value(text.Bytes()).IsValid() {
			t.Fatalf("%s encodes as %q, which is not JSON", s, text)
		}
		again, err := registry.DecodeEvent(text)
		if err != nil {
			t.Fatalf("%s encodes as %s: %v", s, text, err)
		}
		if diff := cmp.Diff(e, again, exact, sameJSON); diff != "" {
			t.Fatalf("%s encodes as %s, which is another event:\n%s", s, text, diff)
		}
		if third, err := MarshalJSON(again); err != nil || third != text {
			t.Fatalf("%s is not stable: %s, %v", text, third, err)
		}
	})
}

// FuzzCheckJSON agrees with package jsontext, gives an error of the right kind,
// and what it accepts is scanned as the decoder reads it.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{
		`null`, `-0`, `1e400`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `"\ud83d"`, `"\ud83d\ude00"`, "\"\xff\"", `1 2`, `01`, `{} x`, ``, ` `,
		`{"a":[{},[],"\\\"",null,true,-1.5e-7]} `, `[1,]`, `[[[[]]]]`, `"\u0000"`, "\ufeff1", `{"":{"":{}}}`, `[1 2]`, `{"a" 1}`, "[\x01]",
		string(nested(512)), string(nested(513)),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j := JSON(s)
		err := CheckJSON(j)
		valid := jsontext.Value(s).IsValid()
		deep := valid && naiveDepth(t, j) > MaxJSONDepth
		if (err == nil) != (valid && !deep) {
			t.Fatalf("CheckJSON(%q) = %v; jsontext says %v, too deep %v", s, err, valid, deep)
		}
		if deep && !errors.Is(err, ErrNotLossless) {
			t.Fatalf("CheckJSON(%q) = %v", s, err)
		}
		// Scanning never panics, whatever the text.
		scanned := scanAll(j)
		if err != nil {
			return
		}
		if want := readAll(t, j); scanned != want {
			t.Fatalf("%s is scanned as\n%s, want\n%s", s, scanned, want)
		}
	})
}

// scanAll writes j anew from what the scanner finds.
func scanAll(j JSON) string {
	switch j.Kind() {
	case '{':
		out := "{"
		for name, value := range j.Members() {
			if out != "{" {
				out += ","
			}
			out += string(QuoteJSON(name)) + ":" + scanAll(value)
		}
		return out + "}"
	case '[':
		out := "["
		for value := range j.Elements() {
			if out != "[" {
				out += ","
			}
			out += scanAll(value)
		}
		return out + "]"
	}
	s := j.Scan()
	return string(s.Value())
}

// readAll writes j anew with the decoder of package jsontext: names requoted,
// other scalars as they are.
func readAll(t *testing.T, j JSON) string {
	out, err := jsontext.AppendFormat(nil, j.Bytes(), jsontext.PreserveRawStrings(true))
	if err != nil {
		t.Fatal(err)
	}
	return requoteNames(t, string(out))
}

func naiveDepth(t *testing.T, j JSON) int {
	dec := newDecoder(j)
	deepest := 0
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return deepest
		}
		if k := tok.Kind(); k == '{' || k == '[' {
			deepest = max(deepest, dec.StackDepth())
		}
	}
}

// FuzzAssembler: no sequence of chunks panics; a block-end is authoritative, and
// the content is what a second, naive reading of V-7 gives.
func FuzzAssembler(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 1, 0, 4, 0, 1, 0})
	f.Add([]byte{3, 2, 3, 1, 0, 9, 2, 1, 4, 2, 5, 0, 6, 0})
	f.Add([]byte{0, 200, 4, 200, 0, 200})
	f.Fuzz(func(t *testing.T, program []byte) {
		var (
			a      Assembler
			order  []int
			closed = map[int]Block{}
			text   = map[int]string{}
			types  = map[int]string{}
		)
		touch := func(index int, typ string) {
			if _, known := types[index]; !known {
				types[index] = typ
				order = append(order, index)
			}
		}
		for i := 0; i+1 < len(program); i += 2 {
			op, arg := program[i]%8, program[i+1]
			index := int(arg % 5)
			word := string(rune('a' + arg%26))
			switch op {
			case 0:
				typ := []string{TypeText, TypeReasoning, TypeToolCall, "audio"}[arg/64]
				a.Add(BlockStart{index, typ})
				touch(index, typ)
			case 1, 2:
				var c Chunk = TextDelta{index, word}
				typ := TypeText
				if op == 2 {
					c, typ = ReasoningDelta{index, word}, TypeReasoning
				}
				a.Add(c)
				touch(index, typ)
				text[index] += word
			case 3:
				a.Add(ToolCallDelta{Index: index, ID: "id", Name: "name", ArgumentsDelta: word})
				touch(index, TypeToolCall)
				text[index] += word
			case 4:
				b := TextBlock{"end " + word}
				a.Add(BlockEnd{index, b})
				touch(index, TypeText)
				if closed[index] == nil {
					closed[index] = b
				}
			case 5:
				a.Add(UsageChunk{Usage{InputTokens: int64(arg)}})
			case 6:
				a.Add(FinishChunk{Reason: FinishReason{Kind: word}})
			case 7:
				a.Add(BlockEnd{Index: index})
				a.Add(nil)
			}
		}
		got, err := a.Result()
		for _, index := range order {
			if closed[index] == nil && types[index] == "audio" {
				if err == nil {
					t.Fatal("an unclosed block of an unknown type was assembled")
				}
				return
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if got.Content.Len() != len(order) {
			t.Fatalf("%d blocks, want %d", got.Content.Len(), len(order))
		}
		for i, index := range order {
			b := got.Content.At(i)
			if end := closed[index]; end != nil {
				if b != end {
					t.Fatalf("block %d is %v; its block-end said %v", index, b, end)
				}
				continue
			}
			var want string
			switch b := b.(type) {
			case TextBlock:
				want = b.Text
			case ReasoningBlock:
				want = b.Text
			case ToolCallBlock:
				want = b.Arguments
			}
			if b.BlockType() != types[index] || want != text[index] {
				t.Fatalf("block %d is %v, want %s %q", index, b, types[index], text[index])
			}
		}
	})
}
