package messages

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type (
	noteEvent struct {
		Turn int    `json:"turn"`
		Text string `json:"text,omitzero"`
	}
	otherNote   struct{ Turn int }
	fakeCall    struct{ X int }
	namelessOne struct{}
)

func (noteEvent) EventType() string   { return "note/added" }
func (otherNote) EventType() string   { return "note/added" }
func (fakeCall) EventType() string    { return "tool/result" }
func (namelessOne) EventType() string { return "" }

// Other packages declare log-only types (E-8, Z-19).
func TestDeclare(t *testing.T) {
	r := NewRegistry(Define[noteEvent](Anywhere, "A note."))
	e, err := r.DecodeEvent(`{"type":"note/added","seq":0,"time":1,"data":{"turn":2,"text":"x"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Event{Time: 1, Data: noteEvent{2, "x"}}, e, exact); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if text, err := MarshalJSON(e); err != nil || text != `{"type":"note/added","seq":0,"time":1,"data":{"turn":2,"text":"x"}}` {
		t.Errorf("encodes as %s, %v", text, err)
	}
	// A declared type can grow: what the text lacks is zero. What it has more is
	// an error.
	if e, err := r.DecodeData("note/added", `{}`); err != nil || e != EventData(noteEvent{}) {
		t.Errorf("{} is %+v, %v", e, err)
	}
	for _, bad := range []JSON{`{"turn":1,"more":1}`, `null`, `[]`, `{"turn":"1"}`, ``, `{"turn":1,"turn":1}`} {
		if e, err := r.DecodeData("note/added", bad); err == nil {
			t.Errorf("%s is %+v", bad, e)
		}
	}
	// Declaring it again is fine, and changes nothing.
	if err := r.Declare(Define[noteEvent](Anywhere, "Another sentence.")); err != nil {
		t.Error(err)
	}
	if typ, ok := r.Lookup("note/added"); !ok || typ.Doc != "A note." || typ.Enclosure != Anywhere {
		t.Errorf("Lookup: %+v, %v", typ, ok)
	}
	// The registry of another runtime does not know it.
	if _, ok := registry.Lookup("note/added"); ok {
		t.Error("a declaration leaked into another registry")
	}
}

func TestDeclareRefuses(t *testing.T) {
	for _, c := range []struct {
		typ EventType
		why string
	}{
		{Define[otherNote](Anywhere, ""), "already declared as messages.noteEvent"},
		{Define[noteEvent](InStep, ""), "already declared with another enclosure"},
		{Define[fakeCall](InStep, ""), "only log-only types can be declared"},
		{Define[ToolResult](InStep, ""), "only log-only types can be declared"},
		{Define[ToolCall](Anywhere, ""), "already declared with another enclosure"}, // a core type keeps its place
		{Define[TurnStart](InTurn, ""), "already declared with another enclosure"},
		{Define[otherNote](boundary, ""), "only log-only types can be declared"},
		{Define[otherNote](0, ""), "only log-only types can be declared"},
		{Define[namelessOne](Anywhere, ""), "without a name"},
		{EventType{Name: "x/y", Enclosure: Anywhere}, "made without messages.Define"},
	} {
		r := NewRegistry(Define[noteEvent](Anywhere, ""))
		before := len(r.Types())
		err := r.Declare(c.typ)
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: error %v does not say %q", c.typ.Name, err, c.why)
		}
		if len(r.Types()) != before {
			t.Errorf("%s: a refused declaration had an effect", c.typ.Name)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("NewRegistry accepted what Declare refuses")
		}
	}()
	NewRegistry(Define[fakeCall](InStep, ""))
}

// Sessions decode while a bridge is being mounted.
func TestRegistryConcurrently(t *testing.T) {
	r := NewRegistry()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if err := r.Declare(Define[noteEvent](Anywhere, "")); err != nil {
					t.Error(err)
				}
				if _, err := r.DecodeData("tool/call", `{"turn":1,"step":1,"callId":"c","name":"n","arguments":""}`); err != nil {
					t.Error(err)
				}
				if n := len(r.Types()); n != 16 {
					t.Errorf("%d types", n)
				}
			}
		})
	}
	wg.Wait()
}

func TestEventTypesAreNamed(t *testing.T) {
	for _, typ := range registry.Types() {
		if typ.Sample.EventType() != typ.Name || typ.Doc == "" {
			t.Errorf("%s: sample %T, doc %q", typ.Name, typ.Sample, typ.Doc)
		}
		if got := fmt.Sprintf("%T", typ.Sample); !strings.HasPrefix(got, "messages.") {
			t.Errorf("%s is of type %s", typ.Name, got)
		}
	}
}

func TestEnclosureString(t *testing.T) {
	for e, want := range map[Enclosure]string{
		InStep: "inside a step", InTurn: "inside a turn", Anywhere: "anywhere, also between turns",
		boundary: "opens or closes a turn or a step", 0: "nowhere",
	} {
		if e.String() != want {
			t.Errorf("Enclosure(%d) is %q, want %q", uint8(e), e, want)
		}
	}
}
