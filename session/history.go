package session

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/go-json-experiment/json/jsontext"
)

// NodeKind is the kind of surface event that made a [Node].
type NodeKind uint8

// Node kinds, one for each surface type (E-4).
const (
	UserNode NodeKind = iota + 1
	SteeringNode
	AssistantNode
	ResultNode
)

// Node is one entry of the surface: the event that a part of the derived
// history came from (E-5, E-6).
type Node struct {
	// Seq is the event's sequence number, which replace ops and sources name.
	Seq int64
	// identity is a hash of a tool/result without its content.
	identity uint64
	message  int32
	kind     NodeKind
}

// Kind returns what made the node.
func (n Node) Kind() NodeKind { return n.kind }

// Message returns the index of the node's message in the history, or -1 for an
// empty assistant/message, which the history omits (E-6).
func (n Node) Message() int { return int(n.message) }

// view is the derived history and the nodes that it comes from. Both slices
// only grow at their end, and a replace makes new ones, so that a prefix that
// was handed out never changes.
type view struct {
	messages []messages.Message
	nodes    []Node
}

// span is where an event goes: at the end, or instead of nodes[from:to].
type span struct {
	from, to int
	replace  bool
}

func (v *view) add(n Node, m messages.Message, shown bool) {
	n.message = -1
	if shown {
		n.message = int32(len(v.messages))
		v.messages = append(roomy(v.messages), m)
	}
	v.nodes = append(roomy(v.nodes), n)
}

// roomy returns s with room for one more. It starts with the room of about one
// turn with tools and grows by half, which costs two copies of an entry, over
// time, where the language's own growth of long slices costs four.
func roomy[T any](s []T) []T {
	switch {
	case len(s) < cap(s):
		return s
	case len(s) == 0:
		return make([]T, 0, 8)
	}
	return append(make([]T, 0, len(s)+len(s)/2+1), s...)
}

// put makes the node of e take its place.
func (v *view) put(e *messages.Event, at span, kind NodeKind, identity uint64) {
	m, shown := messageOf(e.Data)
	n := Node{Seq: e.Seq, kind: kind, identity: identity}
	if !at.replace {
		v.add(n, m, shown)
		return
	}
	old := *v
	*v = view{
		messages: make([]messages.Message, 0, len(old.messages)+1),
		nodes:    make([]Node, 0, len(old.nodes)+1),
	}
	for i, o := range old.nodes {
		if i == at.from {
			v.add(n, m, shown)
		}
		if i >= at.from && i < at.to {
			continue
		}
		if o.message < 0 {
			v.add(o, messages.Message{}, false)
		} else {
			v.add(o, old.messages[o.message], true)
		}
	}
}

// locate returns the place of a surface event, or what is wrong with its
// surface op (E-5).
func (v *view) locate(e *messages.Event, kind NodeKind, identity uint64) (span, error) {
	if e.Surface.Kind == messages.SurfaceAppend {
		return span{}, nil
	}
	from, to := -1, -1
	for i := range v.nodes {
		if v.nodes[i].Seq == e.Surface.Start {
			from = i
		}
		if v.nodes[i].Seq == e.Surface.End {
			to = i
		}
	}
	switch {
	case from < 0:
		return span{}, broken("E-5", e, "replaces from seq %d, which is not a node of the surface", e.Surface.Start)
	case to < 0:
		return span{}, broken("E-5", e, "replaces to seq %d, which is not a node of the surface", e.Surface.End)
	case from > to:
		return span{}, broken("E-5", e, "replaces from seq %d to seq %d, which is before it", e.Surface.Start, e.Surface.End)
	}
	shadowed := v.nodes[from : to+1]
	if i := notListed(shadowed, e.Sources); i >= 0 {
		return span{}, broken("E-5", e, "replaces seq %d without naming it as a source", shadowed[i].Seq)
	}
	if kind == ResultNode {
		switch {
		case len(shadowed) != 1 || shadowed[0].kind != ResultNode:
			return span{}, broken("E-5", e, "a replacing tool/result takes the place of exactly one tool/result")
		case shadowed[0].identity != identity:
			return span{}, broken("E-5", e, "a replacing tool/result changes more than the content of seq %d", shadowed[0].Seq)
		}
	}
	return span{from, to + 1, true}, nil
}

// notListed returns the index of a node that the sources lack, or -1.
func notListed(nodes []Node, sources messages.List[int64]) int {
	set := make(map[int64]struct{}, sources.Len())
	for _, seq := range sources.All() {
		set[seq] = struct{}{}
	}
	return slices.IndexFunc(nodes, func(n Node) bool {
		_, ok := set[n.Seq]
		return !ok
	})
}

// messageOf returns what a surface event says to the model, and false if the
// history omits it (E-6).
func messageOf(data messages.EventData) (messages.Message, bool) {
	switch d := data.(type) {
	case messages.UserMessage:
		return messages.Message{Role: messages.RoleUser, Content: d.Content}, true
	case messages.SteeringMessage:
		return messages.Message{Role: messages.RoleUser, Content: d.Content}, true
	case messages.AssistantMessage:
		return messages.Message{Role: messages.RoleAssistant, Content: d.Content, Provenance: d.Provenance},
			d.Content.Len() > 0
	case messages.ToolResult:
		return messages.Message{Role: messages.RoleUser, Content: messages.NewContent(messages.ToolResultBlock{
			ToolCallID: d.CallID, Content: d.Content, IsError: d.IsError,
		})}, true
	}
	return messages.Message{}, false
}

// kindOf returns the node kind of a payload, and the identity of a tool/result;
// 0 for log-only payloads.
func kindOf(data messages.EventData) (NodeKind, uint64) {
	switch d := data.(type) {
	case messages.UserMessage:
		return UserNode, 0
	case messages.SteeringMessage:
		return SteeringNode, 0
	case messages.AssistantMessage:
		return AssistantNode, 0
	case messages.ToolResult:
		return ResultNode, identityOf(d)
	}
	return 0, 0
}

// identitySeed is the same for all logs of a process, so that an identity
// survives a rebuilt history.
var identitySeed = maphash.MakeSeed()

type resultIdentity struct {
	turn, step int
	id         messages.CallID
	isError    bool
	err        messages.ErrorInfo
	meta       messages.JSON
}

// identityOf hashes what a replacing tool/result may not change (E-5). A hash,
// because the node must not keep the metadata of every result alive while only
// the history is needed; two results that differ have the same one by an
// accident of 2^-64.
func identityOf(d messages.ToolResult) uint64 {
	return maphash.Comparable(identitySeed, resultIdentity{
		d.Turn, d.Step, d.CallID, d.IsError, d.Error, compact(d.Meta),
	})
}

// compact returns the text that a stored and reread value has: no insignificant
// whitespace, escapes in their shortest form.
func compact(j messages.JSON) messages.JSON {
	if !strings.ContainsAny(string(j), " \t\r\n\\") {
		return j
	}
	b, err := jsontext.AppendFormat(nil, j.Bytes(), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return j
	}
	return messages.JSON(b)
}

// Derived is the history that the surface events of one log make (E-6). A
// [Log] keeps its own; a Derived is for who reads a log without owning it, and
// for rebuilding a dropped history without holding the owner's lock. The zero
// value is the history of an empty log. It is not safe for concurrent use.
type Derived struct {
	next    int64
	request messages.EventData // the last request/header
	view    view
}

// Add takes the next event. Events come in order, from 0; only what the history
// depends on is checked. After an error the history is as before.
func (d *Derived) Add(e messages.Event) error {
	if e.Seq != d.next {
		return fmt.Errorf("derive history: event of seq %d where %d was expected", e.Seq, d.next)
	}
	if err := d.view.take(&e, &d.request); err != nil {
		return err
	}
	d.next++
	return nil
}

// take adds a validated event of any type to the view.
func (v *view) take(e *messages.Event, request *messages.EventData) error {
	kind, identity := kindOf(e.Data)
	if kind == 0 {
		if _, ok := e.Data.(messages.RequestHeaderEvent); ok {
			*request = e.Data
		}
		return nil
	}
	at, err := v.locate(e, kind, identity)
	if err != nil {
		return err
	}
	v.put(e, at, kind, identity)
	return nil
}

// Next is the sequence number of the event that Add wants next.
func (d *Derived) Next() int64 { return d.next }

// Messages returns the history as it is now. The list never changes.
func (d *Derived) Messages() messages.List[messages.Message] {
	return messages.FrozenList(d.view.messages)
}

// Nodes returns the surface nodes as they are now, in history order. The list
// never changes.
func (d *Derived) Nodes() messages.List[Node] { return messages.FrozenList(d.view.nodes) }
