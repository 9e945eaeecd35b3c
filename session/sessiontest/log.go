package sessiontest

import (
	"errors"
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// K-2: header and first events are made in one step; either may be all there is.
func testCreate(f *fixture) {
	header := session.Header{
		ID: "full", CreatedAt: 1767225600123, Cwd: "/srv/project", ParentSession: "parent", SeedLength: 3,
		DelegationDepth: 2, Labels: map[string]string{"model": "m", "ünï": "«»"},
	}
	events := injection(0, 1)
	f.commit(session.Batch{ID: "full", Epoch: 4, Create: &header, Events: events, Add: []messages.InboxItem{prompt("m1", "k1")}})
	info := f.stat("full")
	f.wantHeader(info.Header, header)
	f.wantHeader(f.acquire("full").Header, header)
	if info.Epoch != 4 || info.NextSeq != 3 || info.Pending != 1 {
		f.Errorf("epoch %d, next %d, pending %d", info.Epoch, info.NextSeq, info.Pending)
	}
	f.wantEvents("full", events)

	f.commit(session.Batch{ID: "bare", Epoch: 1, Create: &session.Header{ID: "bare"}})
	if info := f.stat("bare"); info.NextSeq != 0 || info.Pending != 0 || info.Epoch != 1 {
		f.Errorf("a bare session has %+v", info)
	}
	f.wantEvents("bare", nil)

	// Its creator is its owner, without acquiring it.
	f.commit(session.Batch{ID: "bare", Epoch: 1, Events: injection(0, 1)})
}

// A Create for a known id, for another id than the batch's, or that does not
// start at 0.
func testCreateRefused(f *fixture) {
	f.create("s", 1)
	f.refuse(session.Batch{ID: "s", Epoch: 9, Create: &session.Header{ID: "s", Cwd: "/other"}}, session.ErrExists)
	f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 3, Create: &session.Header{ID: "s"}}, session.ErrExists)
	f.refuse(session.Batch{ID: "new", Epoch: 1, Create: &session.Header{ID: "other"}}, nil)
	f.refuse(session.Batch{ID: "new", Epoch: 1, ExpectSeq: 3, Create: &session.Header{ID: "new"}, Events: injection(3, 1)},
		session.ErrSequence)
	f.refuse(session.Batch{ID: "new", Epoch: 1, Create: &session.Header{ID: "new"}, Claim: []messages.MessageID{"m"}},
		session.ErrNotQueued)
	for _, id := range []messages.SessionID{"new", "other"} {
		if _, err := f.store.Stat(f.ctx(), id); !errors.Is(err, session.ErrNotFound) {
			f.Errorf("a refused Create left session %s: %v", id, err)
		}
	}
	f.create("new", 1)
}

// Batches continue the log; a batch without events is fine too.
func testAppend(f *fixture) {
	want := f.create("s", 1)
	for turn := 2; turn < 40; turn++ {
		next := int64(len(want))
		batch := turnsFrom(next, turn, turn%3)
		f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: next, Events: batch})
		want = append(want, batch...)
	}
	f.wantEvents("s", want)
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: int64(len(want))})
	f.wantEvents("s", want)
}

// ErrSequence: the batch does not continue the stored log.
func testSequence(f *fixture) {
	f.create("s", 2)
	for _, expect := range []int64{-1, 0, 5, 7, 100} {
		f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: expect, Events: injection(expect, 3)}, session.ErrSequence)
		// It is checked even if Events is empty.
		f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: expect}, session.ErrSequence)
		f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: expect, Add: []messages.InboxItem{prompt("m", "")}},
			session.ErrSequence)
	}
	// So are the numbers of the events.
	for name, events := range map[string][]messages.Event{
		"earlier": injection(5, 3), "later": injection(7, 3),
		"gap":      {injection(6, 3)[0], injection(7, 3)[1]},
		"repeated": {injection(6, 3)[0], injection(6, 3)[0]},
		"backward": {injection(6, 3)[1], injection(6, 3)[0]},
	} {
		f.Logf("numbers: %s", name)
		f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 6, Events: events}, session.ErrSequence)
	}
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 6, Events: injection(6, 3)})
	// What was committed cannot be committed again (a retry after a lost answer).
	f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 6, Events: injection(6, 3)}, session.ErrSequence)
}

// Every core payload, and one of a type that the store was not told of, is read
// as it was written.
func testRoundTrip(f *fixture) {
	source := messages.PluginSource("p\"q")
	tricky := messages.NewContent(
		messages.TextBlock{Text: "tab\t nul\x00 quote\" back\\ <&> \u2028 é 日本語 🙂"},
		messages.ReasoningBlock{Text: "why"},
		messages.ToolCallBlock{ID: "c1", Name: "Read", Arguments: "{not json"},
		messages.ToolResultBlock{ToolCallID: "c1", Content: messages.Text("r"), IsError: true},
		messages.ImageBlock{MediaType: "image/png", Data: "AAAA"},
		messages.OtherBlock{Type: "x", Raw: `{"type":"x","big":123456789012345678901234567890,"neg":-0}`},
	)
	on := messages.AppendOp()
	events := []messages.Event{
		{Data: messages.TurnStart{Turn: 1, Trigger: messages.TurnTrigger{Kind: messages.TriggerMessage, Source: source}}},
		{Data: messages.UserMessage{Content: tricky, Source: source, Meta: `{"n":1.50,"e":1E400}`,
			Envelope: messages.PromptEnvelope{DisplayContent: messages.Text("d"),
				PrefixContexts: messages.ListOf(messages.PrefixContext{Source: source, Meta: `[]`})}}, Surface: on},
		{Data: messages.SteeringMessage{Turn: 1, Content: messages.EmptyContent(), Source: messages.UserSource()}, Surface: on},
		{Data: messages.StepStart{Turn: 1, Step: 1}},
		{Data: messages.RequestHeaderEvent{Reason: messages.HeaderInitial, Header: messages.RequestHeader{
			Config: messages.RequestConfig{Provider: "p", Model: "m", Temperature: "0.70", MaxTokens: 1 << 40,
				Stop: messages.ListOf("a", "b")},
			System: "s", Tools: messages.ListOf(messages.ToolSpec{Name: "Read", Description: "d", Parameters: `{"type":"object"}`}),
			MessagePrefix: messages.ListOf(messages.Message{Role: messages.RoleSystem, Content: messages.Text("x")}),
		}}},
		{Data: messages.AssistantChunk{Turn: 1, Step: 1, Chunk: messages.TextDelta{Index: 0, Text: "a"}}},
		{Data: messages.AssistantMessage{Turn: 1, Step: 1, Content: tricky,
			Provenance: messages.Provenance{Provider: "p", Model: "m", ReplayState: `{"id":"r"}`},
			Usage:      messages.Usage{InputTokens: 1, OutputTokens: 2, ReasoningTokens: 1 << 50}},
			Surface: on, Sources: messages.ListOf[int64](5), HasSources: true},
		{Data: messages.ToolCall{Turn: 1, Step: 1, CallID: "c1", Name: "Read", Arguments: "{not json"}},
		{Data: messages.ApprovalAsked{ID: "a1", ToolName: "Read", CallID: "c1", Reason: "r"}},
		{Data: messages.ApprovalDecided{ID: "a1", Outcome: "rejected"}},
		{Data: messages.ApprovalPolicy{Policy: "never"}},
		{Data: messages.OtherEvent{Name: "sessiontest/unknown", Raw: `{"z":1,"a":[0.10,null,true]}`}},
		{Data: messages.ToolResult{Turn: 1, Step: 1, CallID: "c1", Content: tricky, IsError: true,
			Error: messages.ErrorInfo{Name: "N", Code: "C"}, Meta: `{"original":[]}`},
			Surface: on, Sources: messages.ListOf[int64](7), HasSources: true},
		{Data: messages.StepEnd{Turn: 1, Step: 1}},
		{Data: messages.StepStart{Turn: 1, Step: 2}},
		{Data: messages.AssistantMessage{Turn: 1, Step: 2, Content: messages.EmptyContent()}, Surface: on, HasSources: true},
		{Data: messages.StepEnd{Turn: 1, Step: 2}},
		{Data: messages.UserMessage{Content: messages.Text("summary"), Source: source},
			Surface: messages.ReplaceOp(1, 6), Sources: messages.ListOf[int64](1, 2, 6), HasSources: true},
		{Data: messages.PromptBlocked{Content: tricky, Source: messages.UserSource(), Reason: "r"}},
		{Data: messages.TurnEnd{Turn: 1, Reason: messages.EndReason{Kind: messages.EndError, Step: 2,
			Failure: messages.Failure{Message: "m", Code: "OVERLOADED", Status: 529, ProviderRetryAfterMS: 1, RequestID: "q"}}}},
	}
	for i, reason := range []messages.EndReason{
		{Kind: messages.EndCompleted}, {Kind: messages.EndRejected, Reason: ""}, {Kind: messages.EndMaxSteps, Limit: 9},
		{Kind: messages.EndHalted, Reason: "r", At: messages.HaltAtTool},
		{Kind: messages.EndError, Step: 0, Message: "m", Code: "UNKNOWN"},
	} {
		events = append(events,
			messages.Event{Data: messages.TurnStart{Turn: i + 2, Trigger: messages.TurnTrigger{Kind: messages.TriggerInjection}}},
			messages.Event{Data: messages.TurnEnd{Turn: i + 2, Reason: reason}})
	}
	for i := range events {
		events[i].Seq, events[i].Time = int64(i), 1767225600000+int64(i)
	}
	if err := session.Verify(nil, func(yield func(messages.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}); err != nil {
		f.Fatalf("the suite's own log is not valid: %v", err)
	}
	f.commit(session.Batch{ID: "s", Epoch: 1, Create: &session.Header{ID: "s"}, Events: events})
	f.wantEvents("s", events)
	if f.opts.DropsEvents {
		return
	}
	if err := session.Verify(nil, f.store.Read(f.ctx(), "s", 0, -1)); err != nil {
		f.Errorf("the stored log: %v", err)
	}
}

// Read yields the events of a range, in order.
func testRead(f *fixture) {
	want := f.create("s", 3)
	n := int64(len(want))
	for from := int64(-2); from <= n+2; from++ {
		for to := int64(-2); to <= n+2; to++ {
			end := to
			if to < 0 {
				end = n
			}
			end = min(end, n)
			start := min(max(from, 0), end)
			if f.opts.DropsEvents {
				f.wantGap("s", from, to, start, end)
				continue
			}
			f.same(f.read("s", from, to), want[start:end])
		}
	}
}

// The consumer may stop early, and may call the store while it reads.
func testReadStops(f *fixture) {
	if f.opts.DropsEvents {
		return
	}
	want := f.create("s", 40)
	n := 0
	for e, err := range f.store.Read(f.ctx(), "s", 0, -1) {
		f.ok(err)
		if text(f, e) != text(f, want[n]) {
			f.Fatalf("event %d is %s", n, text(f, e))
		}
		if n++; n == 7 {
			break
		}
	}
	n = 0
	for e, err := range f.store.Read(f.ctx(), "s", 0, int64(len(want))) {
		f.ok(err)
		if n == 0 {
			f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 120, Events: injection(120, 41)})
			f.create("other", 1)
		}
		if n%10 == 0 {
			f.stat("s")
			f.same(f.read("s", e.Seq, e.Seq+1), want[n:n+1])
		}
		n++
	}
	if n != len(want) {
		f.Errorf("read %d events, want %d", n, len(want))
	}
	f.wantEvents("s", slices.Concat(want, injection(120, 41)))
}

// ErrNotFound, from every call that names a session.
func testNotFound(f *fixture) {
	check := func(what string, err error) {
		f.Helper()
		if !errors.Is(err, session.ErrNotFound) {
			f.Errorf("%s of an unknown session: %v", what, err)
		}
	}
	f.create("s", 1)
	check("commit", f.store.Commit(f.ctx(), session.Batch{ID: "nobody", Epoch: 1, Events: injection(0, 1)}))
	_, err := f.store.Acquire(f.ctx(), "nobody")
	check("acquire", err)
	_, err = f.store.Stat(f.ctx(), "nobody")
	check("stat", err)
	check("delete", f.store.Delete(f.ctx(), "nobody"))
	events, err := collect(f.store.Read(f.ctx(), "nobody", 0, -1))
	check("read", err)
	if len(events) != 0 {
		f.Errorf("read %d events of an unknown session", len(events))
	}
	if _, err := f.store.Stat(f.ctx(), "nobody"); !errors.Is(err, session.ErrNotFound) {
		f.Errorf("one of the calls made the session: %v", err)
	}
}

// E-12: forks work over any store that keeps events.
func testFork(f *fixture) {
	if f.opts.DropsEvents {
		return
	}
	want := f.create("p", 3)
	h, err := session.Fork(f.ctx(), f.store, session.ForkRequest{Parent: "p", Child: "c", Boundary: 5, CreatedAt: 9})
	f.ok(err)
	f.wantEvents("c", want[:6])
	f.wantHeader(f.stat("c").Header, h)
	if got := f.stat("c"); h.ParentSession != "p" || h.SeedLength != 6 || got.Pending != 0 {
		f.Errorf("child %+v", got)
	}
	_, err = session.Fork(f.ctx(), f.store, session.ForkRequest{Parent: "p", Child: "c", Boundary: 5})
	if messages.CodeOf(err) != messages.CodeSessionAlreadyExists {
		f.Errorf("second fork: %v", err)
	}
}
