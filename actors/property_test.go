package actors_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// plan is what one random call does. It travels as the call's arguments.
type plan struct {
	Key      string `json:"key"`      // unique in its session
	Parallel bool   `json:"parallel"` // concurrency-safe
	Ticks    int    `json:"ticks"`    // logical duration
	Fail     bool   `json:"fail"`
	Panic    bool   `json:"panic"`
	Injects  int    `json:"injects"` // by the body
	Defers   int    `json:"defers"`
	Nested   int    `json:"nested"`   // nested calls, each of which defers once
	Contexts int    `json:"contexts"` // added by post-execute
	Deny     bool   `json:"deny"`
}

// script is a random session: the batches of one turn, and when it is cancelled.
type script struct {
	batches  [][]plan
	cancelAt int // in ticks; 0: never
	outside  []int
	parallel int
}

func drawScript(t *rapid.T) script {
	s := script{
		cancelAt: rapid.SampledFrom([]int{0, 0, 0, 1, 2, 4, 9, 17}).Draw(t, "cancelAt"),
		outside:  rapid.SliceOfN(rapid.IntRange(0, 20), 0, 4).Draw(t, "outside"),
	}
	n := 0
	for range rapid.IntRange(1, 3).Draw(t, "batches") {
		var batch []plan
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			n++
			batch = append(batch, plan{
				Key:      fmt.Sprintf("k%d", n),
				Parallel: rapid.Bool().Draw(t, "parallel"),
				Ticks:    rapid.IntRange(0, 5).Draw(t, "ticks"),
				Fail:     rapid.IntRange(0, 4).Draw(t, "fail") == 0,
				Panic:    rapid.IntRange(0, 6).Draw(t, "panic") == 0,
				Injects:  rapid.IntRange(0, 2).Draw(t, "injects"),
				Defers:   rapid.IntRange(0, 2).Draw(t, "defers"),
				Nested:   rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "nested"),
				Contexts: rapid.IntRange(0, 2).Draw(t, "contexts"),
				Deny:     rapid.IntRange(0, 6).Draw(t, "deny") == 0,
			})
		}
		s.batches = append(s.batches, batch)
	}
	return s
}

// lab is a runtime for many random sessions, whose model answers from scripts.
type lab struct {
	rt *actors.Runtime
	mu sync.Mutex
	// by session
	scripts  map[messages.SessionID]script
	requests map[messages.SessionID][]model.Request
	arrivals map[messages.SessionID][]string // injected contexts, in order
}

const tick = time.Millisecond

func newLab(t *testing.T) *lab {
	l := &lab{
		scripts:  map[messages.SessionID]script{},
		requests: map[messages.SessionID][]model.Request{},
		arrivals: map[messages.SessionID][]string{},
	}
	rt, err := actors.New(actors.Config{Models: model.Single(l), MaxParallelToolCalls: 3})
	must(t, err)
	l.rt = rt
	_, err = rt.Tools().Register(pipeline.MustDefine(pipeline.Definition[plan, string]{
		Name: "Act", Description: "acts as planned", Run: l.act,
		Concurrent: func(p plan) bool { return p.Parallel },
		Render:     func(_ plan, out string) messages.Content { return messages.Text(out) },
	}))
	must(t, err)
	_, err = rt.Tools().Register(pipeline.MustDefine(pipeline.Definition[struct {
		Key string `json:"key"`
	}, string]{
		Name: "Sub", Description: "a nested call",
		Run: func(_ context.Context, inv *pipeline.Invocation, in struct {
			Key string `json:"key"`
		}) (string, error) {
			inv.DeferContext(messages.NewContext("defer", in.Key))
			return in.Key, nil
		},
	}))
	must(t, err)
	rt.Seams().PreExecute.Use(func(ctx context.Context, c *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
		var p plan
		if c.Name() == "Act" && c.Arguments().Unmarshal(&p) == nil && p.Deny {
			return messages.ToolDeny{Reason: "planned"}, nil
		}
		return next(ctx)
	})
	rt.Seams().PostExecute.Use(func(ctx context.Context, o pipeline.Outcome, next pipeline.Next[messages.PostToolDecision]) (messages.PostToolDecision, error) {
		var p plan
		if o.Call.Name() != "Act" || o.Call.Arguments().Unmarshal(&p) != nil {
			return next(ctx)
		}
		var contexts []messages.Context
		for i := range p.Contexts {
			contexts = append(contexts, messages.NewContext("post", fmt.Sprintf("%s.post%d", p.Key, i)))
		}
		return messages.ResultAccept{Contexts: messages.ListOf(contexts...)}, nil
	})
	return l
}

// act is the body of the planned tool.
func (l *lab) act(ctx context.Context, inv *pipeline.Invocation, p plan) (string, error) {
	for i := range p.Injects {
		if err := l.inject(ctx, inv.Agent(), fmt.Sprintf("%s.inject%d", p.Key, i)); err != nil {
			return "", err
		}
	}
	for i := range p.Defers {
		inv.DeferContext(messages.NewContext("defer", fmt.Sprintf("%s.defer%d", p.Key, i)))
	}
	for i := range p.Nested {
		args := messages.JSON(fmt.Sprintf(`{"key":"%s.sub%d"}`, p.Key, i))
		if r := inv.Execute(ctx, "Sub", args); r.IsError() && ctx.Err() == nil {
			return "", errors.New("nested call failed: " + r.Message())
		}
	}
	if p.Ticks > 0 {
		select {
		case <-time.After(time.Duration(p.Ticks) * tick):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	switch {
	case p.Panic:
		panic("planned panic")
	case p.Fail:
		return "", errors.New("planned failure")
	}
	return p.Key, nil
}

// inject records the order of arrival, which the FIFO must keep.
func (l *lab) inject(ctx context.Context, a pipeline.Agent, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := a.Inject(ctx, messages.NewContext("inject", text))
	if err == nil {
		l.arrivals[a.ID()] = append(l.arrivals[a.ID()], text)
	}
	return err
}

// Stream implements model.Model: batch by batch, then a text.
func (l *lab) Stream(ctx context.Context, req model.Request) iter.Seq2[messages.Chunk, error] {
	l.mu.Lock()
	s := l.scripts[req.Session]
	l.requests[req.Session] = append(l.requests[req.Session], req)
	l.mu.Unlock()
	return func(yield func(messages.Chunk, error) bool) {
		if req.Step > len(s.batches) {
			yield(messages.TextDelta{Text: "done"}, nil)
			return
		}
		for i, p := range s.batches[req.Step-1] {
			args, _ := messages.MarshalJSON(p)
			if !yield(messages.ToolCallDelta{Index: i, ID: messages.CallID(p.Key), Name: "Act", ArgumentsDelta: string(args)}, nil) {
				return
			}
		}
	}
}

// play runs one random session to its end and returns its log.
func (l *lab) play(t *rapid.T, s script) (id messages.SessionID, log []messages.Event) {
	ctx := context.Background()
	sess, err := l.rt.Create(ctx, actors.SessionOptions{Agent: agent()})
	if err != nil {
		t.Fatal(err)
	}
	id = sess.ID()
	l.mu.Lock()
	l.scripts[id] = s
	l.mu.Unlock()
	if _, err := sess.Followup(ctx, messages.Text("go")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, at := range s.outside { // injections from outside the batch, at any moment
		wg.Go(func() {
			time.Sleep(time.Duration(at)*tick + tick/2)
			if err := l.inject(ctx, sess.Agent(), fmt.Sprintf("outside%d", i)); err != nil {
				t.Errorf("inject: %v", err)
			}
		})
	}
	if s.cancelAt > 0 {
		wg.Go(func() {
			time.Sleep(time.Duration(s.cancelAt) * tick)
			if err := sess.Cancel(ctx); err != nil {
				t.Errorf("cancel: %v", err)
			}
		})
	}
	wg.Wait()
	if err := sess.WhenIdle(ctx); err != nil {
		t.Fatal(err)
	}
	for e, err := range sess.Events(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
		if e.Seq == sess.NextSeq()-1 {
			break
		}
	}
	if _, err := sess.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return id, log
}

func TestRandomBatches(t *testing.T) { // C-1 to C-7, T-21, T-22, T-23, P-27, P-32
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		rapid.Check(struct{ testing.TB }{t}, func(t *rapid.T) { // rapid asks a *testing.T for its deadline, which a bubble forbids
			s := drawScript(t)
			id, log := l.play(t, s)
			l.mu.Lock()
			defer l.mu.Unlock()
			checkPairs(t, s, log)
			checkFIFO(t, s, log, l.arrivals[id])
			checkPrefix(t, l.requests[id], log)
			delete(l.scripts, id)
			delete(l.requests, id)
			delete(l.arrivals, id)
		})
		_, err := l.rt.Shutdown(context.Background())
		must(t, err)
	})
}

// checkPairs: every advertised call of a step that began its batch has exactly one
// call and one result in that step, in model order, with no message between the
// first call and the last result (C-7).
func checkPairs(t *rapid.T, s script, log []messages.Event) {
	for i := range log {
		m, ok := log[i].Data.(messages.AssistantMessage)
		if !ok || len(m.Content.ToolCalls()) == 0 {
			continue
		}
		var calls, results []string
		for _, e := range log[i+1:] {
			switch d := e.Data.(type) {
			case messages.ToolCall:
				calls = append(calls, string(d.CallID))
				continue
			case messages.ToolResult:
				results = append(results, string(d.CallID))
				continue
			case messages.UserMessage, messages.SteeringMessage:
				if len(results) < len(m.Content.ToolCalls()) {
					t.Fatalf("C-7: a message lies between the calls and results of step %d\n%s", m.Step, render(log))
				}
				continue
			}
			break
		}
		var want []string
		for _, c := range m.Content.ToolCalls() {
			want = append(want, string(c.ID))
		}
		if !slices.Equal(calls, want) || !slices.Equal(results, want) {
			t.Fatalf("step %d: calls %v, results %v, want %v\n%s", m.Step, calls, results, want, render(log))
		}
	}
}

// checkFIFO: contexts keep their order of arrival; those of results come in model
// order, each call's together, and after what its body injected.
func checkFIFO(t *rapid.T, s script, log []messages.Event, arrivals []string) {
	var injected, results []string
	position := map[string]int{}
	for i, e := range log {
		d, ok := e.Data.(messages.UserMessage)
		if !ok || d.Source.IsUser() {
			continue
		}
		text := d.Content.Text()
		position[text] = i
		if d.Source.Plugin == "inject" {
			injected = append(injected, text)
		} else {
			results = append(results, text)
		}
	}
	if !slices.Equal(injected, arrivals) {
		t.Fatalf("T-22: injected %v, arrived %v\n%s", injected, arrivals, render(log))
	}
	var want []string
	for _, batch := range s.batches {
		for _, p := range batch {
			want = append(want, expectedContexts(p, log)...)
		}
	}
	if !slices.Equal(results, want) {
		t.Fatalf("contexts of results\n got %v\nwant %v\n%s", results, want, render(log))
	}
	for i, text := range results[:max(len(results)-1, 0)] {
		call, _, _ := strings.Cut(text, ".")
		next, _, _ := strings.Cut(results[i+1], ".")
		if call == next && position[results[i+1]] != position[text]+1 {
			t.Fatalf("T-22: contexts of %s are apart\n%s", call, render(log))
		}
	}
	for text, at := range position {
		call, kind, _ := strings.Cut(text, ".")
		if strings.HasPrefix(kind, "inject") {
			for _, other := range results {
				if strings.HasPrefix(other, call+".") && position[other] < at {
					t.Fatalf("T-22: %s comes before %s\n%s", other, text, render(log))
				}
			}
		}
	}
}

// expectedContexts is what a call's result contributes, given how it ended.
func expectedContexts(p plan, log []messages.Event) (out []string) {
	var result *messages.ToolResult
	for _, e := range log {
		if d, ok := e.Data.(messages.ToolResult); ok && string(d.CallID) == p.Key {
			result = &d
		}
	}
	if result == nil {
		return nil // its batch never began
	}
	text := result.Content.Text()
	if result.Error.Code == messages.CodeAbortedBeforeDispatch {
		for i := range p.Contexts {
			if wasStarted(p, log) {
				out = append(out, fmt.Sprintf("%s.post%d", p.Key, i))
			}
		}
		return out
	}
	if text != "Error: planned" { // the body ran
		for i := range p.Defers {
			out = append(out, fmt.Sprintf("%s.defer%d", p.Key, i))
		}
		for i := range p.Nested {
			out = append(out, fmt.Sprintf("%s.sub%d", p.Key, i))
		}
	}
	for i := range p.Contexts {
		out = append(out, fmt.Sprintf("%s.post%d", p.Key, i))
	}
	return out
}

// wasStarted tells a call that the scheduler began from a synthetic pair: only the
// former passed post-execute and so has contexts of it. The log does not say which
// it was, so the contexts themselves are asked.
func wasStarted(p plan, log []messages.Event) bool {
	for _, e := range log {
		if d, ok := e.Data.(messages.UserMessage); ok && strings.HasPrefix(d.Content.Text(), p.Key+".post") {
			return true
		}
	}
	return false
}

// checkPrefix: request n is a prefix of request n+1 unless a header change is
// logged, because prompt caches depend on it.
func checkPrefix(t *rapid.T, requests []model.Request, log []messages.Event) {
	for i := 1; i < len(requests); i++ {
		a, b := requests[i-1].Messages(), requests[i].Messages()
		if a.Len() > b.Len() {
			t.Fatalf("request %d is shorter than the one before\n%s", i, render(log))
		}
		for j := range a.Len() {
			x, _ := messages.MarshalJSON(a.At(j))
			y, _ := messages.MarshalJSON(b.At(j))
			if x != y {
				t.Fatalf("request %d changed message %d\n%s", i, j, render(log))
			}
		}
	}
}
