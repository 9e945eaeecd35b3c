package messages_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/dsh-actor/dsh-actor/messages"
)

// An event is read and written as one line of JSON. What a build does not know
// comes back unchanged.
func Example() {
	known := messages.NewRegistry()
	for _, line := range []messages.JSON{
		`{"type":"tool/call","seq":7,"time":1767225600000,"data":{"turn":1,"step":1,"callId":"call_1","name":"Bash","arguments":"{\"command\":\"ls\"}"}}`,
		`{"type":"weather/observed","seq":8,"time":1767225600001,"data":{"celsius":21.50}}`,
	} {
		e, err := known.DecodeEvent(line)
		if err != nil {
			fmt.Println(err)
			return
		}
		switch d := e.Data.(type) {
		case messages.ToolCall:
			fmt.Println(e.Seq, d.Name, d.Arguments)
		case messages.OtherEvent:
			fmt.Println(e.Seq, d.Name, d.Raw)
		}
		back, err := e.AppendJSON(nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("unchanged:", string(back) == string(line))
	}
	_, err := known.DecodeEvent(`{"type":"turn/end","seq":9,"time":1767225600002,"data":{"turn":1,"reason":{"kind":"aborted","why":"user"}}}`)
	fmt.Println(err)
	// Output:
	// 7 Bash {"command":"ls"}
	// unchanged: true
	// 8 weather/observed {"celsius":21.50}
	// unchanged: true
	// session event "turn/end": member "reason": turn end reason "aborted": unknown member "why"
}

// backup is the payload of an event type that another package declares.
type backup struct {
	Turn  int    `json:"turn"`
	Where string `json:"where,omitzero"`
}

func (backup) EventType() string { return "backup/made" }

func ExampleDefine() {
	types := messages.NewRegistry(messages.Define[backup](messages.Anywhere, "A backup was made."))
	e, err := types.DecodeEvent(`{"type":"backup/made","seq":0,"time":1767225600000,"data":{"turn":0,"where":"s3"}}`)
	fmt.Printf("%+v %v\n", e.Data, err)

	// Core types keep their meaning.
	fmt.Println(types.Declare(messages.Define[messages.ToolCall](messages.Anywhere, "")))
	// Output:
	// {Turn:0 Where:s3} <nil>
	// declare event type "tool/call": already declared with another enclosure
}

func ExampleAssembler() {
	var a messages.Assembler
	for _, c := range []messages.Chunk{
		messages.TextDelta{Index: 0, Text: "Let me "},
		messages.ToolCallDelta{Index: 1, ID: "call_1", Name: "Bash", ArgumentsDelta: `{"command":`},
		messages.TextDelta{Index: 0, Text: "look."},
		messages.ToolCallDelta{Index: 1, ArgumentsDelta: `"ls"}`},
		messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishToolCalls}},
	} {
		a.Add(c)
	}
	answer, err := a.Result()
	if err != nil {
		fmt.Println(err)
		return
	}
	for b := range answer.Content.Blocks() {
		fmt.Printf("%s: %+v\n", b.BlockType(), b)
	}
	fmt.Println(answer.Finish.Kind)
	// Output:
	// text: {Text:Let me look.}
	// tool-call: {ID:call_1 Name:Bash Arguments:{"command":"ls"}}
	// tool-calls
}

func ExampleErrorChain() {
	flush := fmt.Errorf("flush: %w", io.ErrUnexpectedEOF)
	fmt.Println(messages.ErrorChain(messages.Errorf(messages.CodeStoreUnavailable, "turn 3: %w", flush)))
	fmt.Println(messages.ErrorChain(errors.Join(flush, io.ErrClosedPipe)))
	// Output:
	// turn 3: flush: unexpected EOF
	// multiple errors [flush: unexpected EOF; io: read/write on closed pipe]
}

func ExampleJSON_Members() {
	arguments := messages.JSON(`{"path":"a.txt","limit":12345678901234567890}`)
	for name, value := range arguments.Members() {
		fmt.Println(name, value)
	}
	// Output:
	// path "a.txt"
	// limit 12345678901234567890
}
