package messages

// EventDoc describes one core event type (E-8) as data, for people, generators
// and completions.
type EventDoc struct {
	Name string
	// Doc is one sentence.
	Doc string
	// Surface says that events of the type change the model's history; the others
	// are log-only (E-4).
	Surface bool
	// Place says where in a log the event may stand (E-7).
	Place string
	// Fields are the members of data, in the order in which they are written.
	Fields []FieldDoc
	// Sample is an event with every optional member.
	Sample Event
}

// FieldDoc describes one member of a JSON object.
type FieldDoc struct {
	Name string
	// Type is string, integer, boolean, JSON (any value), the name of a
	// [TypeDoc], or one of them with [] for an array.
	Type     string
	Optional bool // an absent value is an absent key, never null (E-10)
	Doc      string
}

// TypeDoc describes a JSON type that payloads are made of.
type TypeDoc struct {
	Name string
	Doc  string
	// Tag is the discriminator of a union, or "" if the type has one form.
	Tag string
	// Open says that readers keep cases of the union that they do not know.
	Open  bool
	Cases []CaseDoc
}

// CaseDoc describes one form of a type.
type CaseDoc struct {
	// Name is the discriminator's value, or "" if the type has one form.
	Name   string
	Doc    string
	Fields []FieldDoc // without the discriminator
	// Sample is the case's JSON with every optional member, as it is written.
	Sample JSON
}

// Catalogue describes the core event types, in the order of E-8.
func Catalogue() []EventDoc {
	types := map[string]EventType{}
	for _, t := range coreTypes() {
		types[t.Name] = t
	}
	docs := eventDocs()
	for i := range docs {
		d := &docs[i]
		d.Name = d.Sample.Type()
		d.Doc = types[d.Name].Doc
		d.Surface = IsSurfaceType(d.Name)
		if d.Place == "" {
			d.Place = types[d.Name].Enclosure.String()
		}
		d.Sample.Seq, d.Sample.Time = int64(10+i), 1767225600000+int64(i)
		if d.Surface {
			d.Sample.Surface = AppendOp()
		}
	}
	return docs
}

// String returns the enclosure in words.
func (e Enclosure) String() string {
	switch e {
	case InStep:
		return "inside a step"
	case InTurn:
		return "inside a turn"
	case Anywhere:
		return "anywhere, also between turns"
	case boundary:
		return "opens or closes a turn or a step"
	}
	return "nowhere"
}

// Fields that several types share.
func turnField() FieldDoc {
	return FieldDoc{Name: "turn", Type: "integer", Doc: "the turn's number, from 1"}
}

func stepField() FieldDoc {
	return FieldDoc{Name: "step", Type: "integer", Doc: "the step's number within the turn, from 1"}
}

func callField() FieldDoc {
	return FieldDoc{Name: "callId", Type: "string", Doc: "the model's own id of the call"}
}

func metaField(doc string) FieldDoc {
	return FieldDoc{Name: "meta", Type: "JSON", Optional: true, Doc: doc}
}

func envelopeField() FieldDoc {
	return FieldDoc{Name: "envelope", Type: "PromptEnvelope", Optional: true, Doc: "the prompt before contexts were put in front of it"}
}

func eventDocs() []EventDoc {
	const call = `{"command":"go test ./..."}`
	envelope := PromptEnvelope{Text("Fix the failing test."), ListOf(PrefixContext{Source: PluginSource("git"), Meta: `{"branch":"main"}`})}
	baked := NewContent(TextBlock{"On branch main."}, TextBlock{"Fix the failing test."})
	return []EventDoc{
		{
			Place: "opens a turn",
			Fields: []FieldDoc{
				turnField(),
				{Name: "trigger", Type: "TurnTrigger", Doc: "what opened the turn"},
			},
			Sample: Event{Data: TurnStart{1, TurnTrigger{Kind: TriggerMessage, Source: UserSource()}}},
		},
		{
			Place: "closes the turn, when no step is open",
			Fields: []FieldDoc{
				turnField(),
				{Name: "reason", Type: "EndReason", Doc: "how the turn ended"},
			},
			Sample: Event{Data: TurnEnd{1, EndReason{Kind: EndCompleted}}},
		},
		{
			Place:  "inside a turn; opens a step",
			Fields: []FieldDoc{turnField(), stepField()},
			Sample: Event{Data: StepStart{1, 1}},
		},
		{
			Place:  "closes the step",
			Fields: []FieldDoc{turnField(), stepField()},
			Sample: Event{Data: StepEnd{1, 1}},
		},
		{
			Fields: []FieldDoc{
				{Name: "content", Type: "Block[]", Doc: "what the model reads"},
				{Name: "source", Type: "Source", Doc: "who wrote it; for a prompt, the user"},
				envelopeField(),
				metaField("what the sender attached for itself"),
			},
			Sample: Event{Data: UserMessage{baked, UserSource(), envelope, `{"client":"editor"}`}},
		},
		{
			Fields: []FieldDoc{
				turnField(),
				{Name: "content", Type: "Block[]", Doc: "what the model reads"},
				{Name: "source", Type: "Source", Doc: "who wrote it"},
				envelopeField(),
				metaField("what the sender attached for itself"),
			},
			Sample: Event{Data: SteeringMessage{1, baked, UserSource(), envelope, `{"client":"editor"}`}},
		},
		{
			Fields: []FieldDoc{
				{Name: "content", Type: "Block[]", Doc: "the prompt as it was given"},
				{Name: "source", Type: "Source", Doc: "who wrote it"},
				{Name: "reason", Type: "string", Doc: "why policy refused it"},
			},
			Sample: Event{Data: PromptBlocked{Text("Delete the repository."), UserSource(), "not in this repository"}},
		},
		{
			Fields: []FieldDoc{
				{Name: "header", Type: "RequestHeader", Doc: "everything of the request but the history"},
				{Name: "reason", Type: "string", Doc: "initial, resume or change: why it was recorded"},
			},
			Sample: Event{Data: RequestHeaderEvent{sampleHeader(), HeaderInitial}},
		},
		{
			Fields: []FieldDoc{
				turnField(), stepField(),
				{Name: "chunk", Type: "Chunk", Doc: "the piece of the stream"},
			},
			Sample: Event{Data: AssistantChunk{1, 1, TextDelta{0, "The test "}}},
		},
		{
			Fields: []FieldDoc{
				turnField(), stepField(),
				{Name: "content", Type: "Block[]", Doc: "the whole answer, assembled from the chunks"},
				{Name: "provenance", Type: "Provenance", Doc: "which model wrote it"},
				{Name: "usage", Type: "Usage", Optional: true, Doc: "the tokens of the request"},
			},
			Sample: Event{Data: AssistantMessage{
				1, 1, NewContent(TextBlock{"The test needs a clock."}, ToolCallBlock{"call_1", "Bash", call}),
				Provenance{Provider: "anthropic", Model: "claude-sonnet-4-5"}, Usage{InputTokens: 1200, OutputTokens: 45},
			}, Sources: ListOf[int64](18), HasSources: true},
		},
		{
			Fields: []FieldDoc{
				turnField(), stepField(), callField(),
				{Name: "name", Type: "string", Doc: "the tool's name, as the model wrote it"},
				{Name: "arguments", Type: "string", Doc: "the model's own text, not necessarily JSON"},
			},
			Sample: Event{Data: ToolCall{1, 1, "call_1", "Bash", call}},
		},
		{
			Fields: []FieldDoc{
				turnField(), stepField(), callField(),
				{Name: "content", Type: "Block[]", Doc: "what the model reads"},
				{Name: "isError", Type: "boolean", Doc: "whether the call failed"},
				{Name: "error", Type: "ErrorInfo", Optional: true, Doc: "the identity of the error, if it has a code"},
				metaField("how to show the result; never sent to the model"),
			},
			Sample: Event{Data: ToolResult{
				1, 1, "call_1", Text("Error: tool call timed out after 60000ms"), true,
				ErrorInfo{"ToolTimeoutError", CodeToolTimeout}, `{"exitCode":null}`,
			}, Sources: ListOf[int64](20), HasSources: true},
		},
		{
			Fields: []FieldDoc{
				{Name: "id", Type: "string", Doc: "the approval request's id"},
				{Name: "toolName", Type: "string", Doc: "the tool that would be called"},
				{Name: "callId", Type: "string", Optional: true, Doc: "the call that waits"},
				{Name: "reason", Type: "string", Optional: true, Doc: "why a person was asked"},
			},
			Sample: Event{Data: ApprovalAsked{"ask_1", "Bash", "call_1", "the command changes files"}},
		},
		{
			Fields: []FieldDoc{
				{Name: "id", Type: "string", Doc: "the approval request's id"},
				{Name: "outcome", Type: "string", Doc: "allowed-once, rejected, cancelled or unavailable"},
			},
			Sample: Event{Data: ApprovalDecided{"ask_1", "allowed-once"}},
		},
		{
			Fields: []FieldDoc{
				{Name: "policy", Type: "string", Doc: "ask: a person is asked; never: every ask is refused"},
			},
			Sample: Event{Data: ApprovalPolicy{"never"}},
		},
	}
}

func sampleHeader() RequestHeader {
	return RequestHeader{
		Config:        RequestConfig{Provider: "anthropic", Model: "claude-sonnet-4-5", Temperature: "0.7", MaxTokens: 4096, Stop: ListOf("\n\nHuman:")},
		System:        "You fix tests.",
		Tools:         ListOf(ToolSpec{"Bash", "Runs a command.", `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`}),
		MessagePrefix: ListOf(Message{Role: RoleUser, Content: Text("The repository is a Go module.")}),
	}
}
