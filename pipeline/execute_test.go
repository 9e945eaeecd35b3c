package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// wrap makes an execute wrapper that changes what next answered.
func wrap(change func(*messages.Result) (*messages.Result, error)) pipeline.Handler[*pipeline.Call, *messages.Result] {
	return func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
		r, err := next(ctx)
		if err != nil {
			return nil, err
		}
		return change(r)
	}
}

// contractTool has an output contract: the value is an integer, the content is
// "n=«value»", the meta names the call's arguments.
func contractTool(name string, run body) pipeline.Tool {
	t := rawTool(name, run)
	t.Output = &pipeline.Output{
		Schema: `{"type":"integer"}`,
		Render: func(_, value messages.JSON) (messages.Content, error) {
			return messages.Text("n=" + string(value)), nil
		},
		Meta: func(arguments, value messages.JSON) (messages.JSON, error) {
			return `{"of":` + arguments + `}`, nil
		},
	}
	return t
}

// P-13: next never fails for what the tool does: it answers the normalized result.
func TestNextAnswersNormalizedResults(t *testing.T) {
	tests := map[string]outcome{
		"T":       {Text: "n=1", Value: "1", Meta: `{"of":{}}`},
		"Fails":   failure("boom"),
		"Panics":  failure("boom"),
		"Unknown": failure(`unknown tool "Unknown"`).coded("ToolNotFoundError", messages.CodeUnknownTool),
		"Invalid": failure(`tool "Invalid" returned invalid output: "value" must be an integer`).coded("ToolOutputError", messages.CodeInvalidToolOutput),
	}
	p := newPipeline(t,
		contractTool("T", constant("1")),
		contractTool("Invalid", constant(`"x"`)),
		rawTool("Fails", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { return "", errBoom }),
		rawTool("Panics", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { panic(errBoom) }),
	)
	var seen *messages.Result
	p.Seams().Execute.Use(wrap(func(r *messages.Result) (*messages.Result, error) {
		seen = r
		return r, nil
	}))
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			r := p.Execute(t.Context(), pipeline.Input{Name: name})
			outcomeOf(seen).expect(t, want)
			if r != seen {
				t.Error("the result is another object")
			}
		})
	}
}

// P-19: what the execute waterfall returns is made the call's own.
func TestRenormalization(t *testing.T) {
	good := messages.NewSuccess(messages.ResultFields{
		Value: "7", Content: messages.Text("authored"), Meta: `"authored"`, Contexts: notes("kept"),
	})
	tests := []struct {
		name    string
		wrapper pipeline.Handler[*pipeline.Call, *messages.Result]
		tool    string
		want    outcome
	}{
		{
			name: "a short-circuit success is rendered from its value", wrapper: execute(good, nil),
			want: outcome{Text: "n=7", Value: "7", Meta: `{"of":{}}`, Contexts: []string{"kept"}},
		},
		{
			name: "an edited copy of this call's success too",
			wrapper: wrap(func(r *messages.Result) (*messages.Result, error) {
				return r.With(func(f *messages.ResultFields) {
					f.Value, f.Content, f.Contexts = "8", messages.Text("authored"), notes("kept")
				}), nil
			}),
			want: outcome{Text: "n=8", Value: "8", Meta: `{"of":{}}`, Contexts: []string{"deferred", "kept"}},
		},
		{
			name:    "an invalid value is a failure of the contract",
			wrapper: execute(messages.NewSuccess(messages.ResultFields{Value: `"x"`, Contexts: notes("kept")}), nil),
			want: failure(`tool "T" returned invalid output: "value" must be an integer`, "kept").
				coded("ToolOutputError", messages.CodeInvalidToolOutput),
		},
		{
			name:    "a value that is not JSON as well",
			wrapper: execute(messages.NewSuccess(messages.ResultFields{}), nil),
			want: failure(`tool "T" returned invalid output: value is not lossless JSON`).
				coded("ToolOutputError", messages.CodeInvalidToolOutput),
		},
		{
			name: "a success of a tool that is gone", tool: "Gone", wrapper: execute(good, nil),
			want: failure(`unknown tool "Gone"`, "kept").coded("ToolNotFoundError", messages.CodeUnknownTool),
		},
		{
			name: "any other failure keeps what it says",
			wrapper: execute(messages.NewFailure(messages.ResultFields{
				Message: "told", Content: messages.Text("shown"), Meta: `{"m":1}`, Contexts: notes("kept"),
				Info: messages.ErrorInfo{Name: "CustomError", Code: "CUSTOM"},
			}), nil),
			want: outcome{
				Error: true, Text: "shown", Message: "told", Meta: `{"m":1}`, Name: "CustomError", Code: "CUSTOM",
				Contexts: []string{"kept"},
			},
		},
		{
			name: "an edited failure of this call", tool: "Fails",
			wrapper: wrap(func(r *messages.Result) (*messages.Result, error) {
				return r.With(func(f *messages.ResultFields) { f.Contexts = notes("kept") }), nil
			}),
			want: failure("boom", "deferred", "kept"), // P-20
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t,
				contractTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
					inv.DeferContext(note("deferred"))
					return "1", nil
				}),
				rawTool("Fails", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
					inv.DeferContext(note("deferred"))
					return "", errBoom
				}))
			p.Seams().Execute.Use(tt.wrapper)
			if tt.tool == "" {
				tt.tool = "T"
			}
			outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: tt.tool})).expect(t, tt.want)
		})
	}
}

// P-19: a result of another call is not this call's: its value is rendered by this
// call's own contract, its contexts come along.
func TestResultOfAnotherCall(t *testing.T) {
	p := newPipeline(t, contractTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
		inv.DeferContext(note("deferred by " + string(inv.Call().ID())))
		return "1", nil
	}))
	first := p.Execute(t.Context(), pipeline.Input{ID: "first", Name: "T", Arguments: `{"call":1}`})
	p.Seams().Execute.Use(execute(first, nil)) // a cache that answers with the very object
	second := p.Execute(t.Context(), pipeline.Input{ID: "second", Name: "T", Arguments: `{"call":2}`})
	outcomeOf(second).expect(t, outcome{
		Text: "n=1", Value: "1", Meta: `{"of":{"call":2}}`, Contexts: []string{"deferred by first"},
	})
	if second == first {
		t.Error("a foreign object passed as it is")
	}
}

// P-19: whatever the tool's registration, the object that this call's dispatch
// minted passes as it is, also that of an earlier run.
func TestMintedResultsPass(t *testing.T) {
	rendered := 0
	tool := contractTool("T", constant("1"))
	render := tool.Output.Render
	tool.Output.Render = func(arguments, value messages.JSON) (messages.Content, error) {
		rendered++
		return render(arguments, value)
	}
	p := newPipeline(t)
	remove, err := p.Tools().Register(tool)
	if err != nil {
		t.Fatal(err)
	}
	var first *messages.Result
	p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
		r1, err := next(ctx)
		if err != nil {
			return nil, err
		}
		r2, err := next(ctx)
		if err != nil || r1 == r2 {
			t.Errorf("second run: %v, same object: %v", err, r1 == r2)
		}
		r3, err := next(ctx)
		if err != nil || r3 == r2 {
			t.Errorf("third run: %v", err)
		}
		remove()
		first = r2
		return r2, nil
	})
	r := p.Execute(t.Context(), pipeline.Input{Name: "T"})
	if r != first || rendered != 3 {
		t.Errorf("same object: %v, rendered %d times", r == first, rendered)
	}
}

// Z-12: a wrapper that retries runs the body again. Contexts of all runs are kept
// in order (Z-5), and the call tells how the last run went (Z-4).
func TestRetry(t *testing.T) {
	for _, fails := range [][]bool{{true, false}, {false, true}, {true, true, false}} {
		t.Run(fmt.Sprint(fails), func(t *testing.T) {
			runs := 0
			p := newPipeline(t, rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
				fail := fails[runs]
				runs++
				inv.DeferContext(note(fmt.Sprintf("run %d", runs)))
				if fail {
					return "", errBoom
				}
				return "1", nil
			}))
			p.Seams().Execute.Use(func(ctx context.Context, call *pipeline.Call, next nextExec) (r *messages.Result, err error) {
				for i, fail := range fails {
					if r, err = next(ctx); err != nil {
						return nil, err
					}
					if call.BodyFailed() != fail || !call.BodyInvoked() || r.IsError() != fail {
						t.Errorf("run %d: body failed %v, result failed %v", i, call.BodyFailed(), r.IsError())
					}
				}
				return r, nil
			})
			var contexts []string
			for i := range fails {
				contexts = append(contexts, fmt.Sprintf("run %d", i+1))
			}
			want := outcome{Text: "1", Value: "1", Contexts: contexts}
			if fails[len(fails)-1] {
				want = failure("boom", contexts...)
			}
			outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, want)
		})
	}
}

// Z-12, Z-13: a wrapper may race several runs; all of them are awaited, and all
// contexts are kept.
func TestConcurrentRuns(t *testing.T) {
	const n = 4
	var j journal
	var started sync.WaitGroup
	started.Add(n)
	release := make(chan struct{})
	p := newPipeline(t, rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
		inv.DeferContext(note("x"))
		started.Done()
		<-release
		j.add("ended")
		return "1", nil
	}))
	p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
		first := make(chan *messages.Result, n)
		for range n {
			go func() {
				r, _ := next(ctx)
				first <- r
			}()
		}
		started.Wait()
		release <- struct{}{}
		r := <-first
		go close(release) // the others are still under way
		return r, nil
	})
	r := p.Execute(t.Context(), pipeline.Input{Name: "T"})
	if r.IsError() || r.Contexts().Len() != n || j.count("ended") != n {
		t.Errorf("failed %v, %d contexts, %d bodies ended", r.IsError(), r.Contexts().Len(), j.count("ended"))
	}
}

// P-21, P-35: a caller that is gone turns a success into an abort, named by whether
// the body was invoked; failures are never replaced; contexts are kept.
func TestAbortReplacesSuccess(t *testing.T) {
	short := messages.NewSuccess(messages.ResultFields{Value: "7", Contexts: notes("kept")})
	tests := []struct {
		name    string
		wrapper func(cancel context.CancelFunc) pipeline.Handler[*pipeline.Call, *messages.Result]
		body    body
		want    outcome
	}{
		{
			name: "short-circuit success: the body was not invoked",
			wrapper: func(cancel context.CancelFunc) pipeline.Handler[*pipeline.Call, *messages.Result] {
				return func(context.Context, *pipeline.Call, nextExec) (*messages.Result, error) { cancel(); return short, nil }
			},
			want: abortedBefore("kept"),
		},
		{
			name: "success after the body",
			wrapper: func(cancel context.CancelFunc) pipeline.Handler[*pipeline.Call, *messages.Result] {
				return wrap(func(r *messages.Result) (*messages.Result, error) { cancel(); return r, nil })
			},
			want: abortedAfter("deferred"),
		},
		{
			name: "short-circuit success after a run of the body",
			wrapper: func(cancel context.CancelFunc) pipeline.Handler[*pipeline.Call, *messages.Result] {
				return wrap(func(*messages.Result) (*messages.Result, error) { cancel(); return short, nil })
			},
			want: abortedAfter("deferred", "kept"),
		},
		{
			name: "a failure stays",
			wrapper: func(cancel context.CancelFunc) pipeline.Handler[*pipeline.Call, *messages.Result] {
				return wrap(func(*messages.Result) (*messages.Result, error) {
					cancel()
					return messages.NewFailure(messages.ResultFields{Message: "own"}), nil
				})
			},
			want: failure("own", "deferred"),
		},
		{
			name: "a body that fails with the signal keeps its own error", // P-15
			wrapper: func(cancel context.CancelFunc) pipeline.Handler[*pipeline.Call, *messages.Result] {
				return func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
					return next(context.WithValue(ctx, key("cancel"), cancel))
				}
			},
			body: func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
				inv.DeferContext(note("deferred"))
				ctx.Value(key("cancel")).(context.CancelFunc)()
				<-ctx.Done()
				return "", errors.New("stopped half-way")
			},
			want: failure("stopped half-way", "deferred"),
		},
		{
			name: "a retry after the signal does not enter the body again", // P-35
			wrapper: func(cancel context.CancelFunc) pipeline.Handler[*pipeline.Call, *messages.Result] {
				return func(ctx context.Context, call *pipeline.Call, next nextExec) (*messages.Result, error) {
					if _, err := next(ctx); err != nil {
						return nil, err
					}
					cancel()
					r, err := next(ctx)
					if call.BodyFailed() {
						return nil, errors.New("a run that did not happen counts")
					}
					return r, err
				}
			},
			want: abortedAfter("deferred"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := tt.body
			if run == nil {
				run = func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
					inv.DeferContext(note("deferred"))
					return "1", nil
				}
			}
			p := newPipeline(t, rawTool("T", run))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.Seams().Execute.Use(tt.wrapper(cancel))
			p.Seams().PostExecute.Use(func(ctx context.Context, o pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
				outcomeOf(o.Result).expect(t, tt.want) // replaced before post-execute looks
				return next(ctx)
			})
			outcomeOf(p.Execute(ctx, pipeline.Input{Name: "T"})).expect(t, tt.want)
		})
	}
}

// P-15: a wrapper's own cancellation is in force for the body, and a success under
// it is an abort even though the caller is still there.
func TestWrapperCancelsBody(t *testing.T) {
	entered := make(chan struct{})
	p := newPipeline(t, rawTool("T", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
		close(entered)
		<-ctx.Done()
		return "1", nil
	}))
	p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			<-entered
			cancel()
		}()
		return next(ctx)
	})
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, abortedAfter())
}

// P-5: the body is resolved at dispatch, finalizeContent at creation.
func TestToolChangesDuringCall(t *testing.T) {
	final := func(text string) func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
		return func(*pipeline.Call, *messages.Result) (messages.Content, bool) { return messages.Text(text), true }
	}
	old := rawTool("T", constant("1"))
	old.FinalizeContent = final("old")
	replacement := rawTool("T", constant("2"))
	replacement.FinalizeContent = final("new")
	p := newPipeline(t)
	remove, err := p.Tools().Register(old)
	if err != nil {
		t.Fatal(err)
	}
	var change func()
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		change()
		return next(ctx)
	})
	change = func() { remove(); register(t, p, replacement) }
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, outcome{Text: "old", Value: "2"})

	p = newPipeline(t)
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		register(t, p, replacement)
		return next(ctx)
	})
	// Unknown at creation: nothing was captured.
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, outcome{Text: "2", Value: "2"})
}

// P-4: tokens are minted per call and differ; identity is what the caller said.
func TestCallIdentity(t *testing.T) {
	agent := &fakeAgent{}
	p := newPipeline(t, rawTool("T", constant("1")))
	in := pipeline.Input{ID: "c", Name: "T", Arguments: ` {"a" : 1}`, Agent: agent, Turn: 3, Step: 4}
	x, y := p.Begin(t.Context(), in), p.Scope().Begin(t.Context(), in)
	c := x.Call()
	if c.Token() == 0 || c.Token() == y.Call().Token() {
		t.Errorf("tokens %d and %d", c.Token(), y.Call().Token())
	}
	type identity struct {
		ID            messages.CallID
		Parent        messages.CallToken
		ParentID      messages.CallID
		Name          string
		Arguments     messages.JSON
		Turn, Step    int
		Invoked, Fail bool
	}
	got := identity{c.ID(), c.Parent(), c.ParentID(), c.Name(), c.Arguments(), c.Turn(), c.Step(), c.BodyInvoked(), c.BodyFailed()}
	want := identity{ID: "c", Name: "T", Arguments: ` {"a" : 1}`, Turn: 3, Step: 4}
	if diff := cmp.Diff(want, got); diff != "" || c.Agent() != agent {
		t.Errorf("identity:\n%s", diff)
	}
}

// C-6, K-6: a call that policy allowed and that is not dispatched is settled all
// the same: refused with an error, or aborted before dispatch.
func TestNotDispatched(t *testing.T) {
	var j journal
	p := newPipeline(t, rawTool("T", constant("1")))
	j.observe(p)
	x := p.Begin(t.Context(), pipeline.Input{Name: "T"})
	x.Policy(t.Context())
	x.Refuse(&messages.Error{Name: "StoreError", Code: messages.CodeStoreUnavailable, Message: "disk full"})
	x.Dispatch(t.Context()) // does nothing: the call is decided
	outcomeOf(x.Settle(t.Context())).expect(t, failure("disk full").coded("StoreError", messages.CodeStoreUnavailable))
	j.expect(t, "pre", "guard", "result")

	x = p.Begin(t.Context(), pipeline.Input{Name: "T"})
	x.Policy(t.Context())
	r := x.Settle(t.Context())
	outcomeOf(r).expect(t, abortedBefore())
	if x.Settle(t.Context()) != r {
		t.Error("settling again gives another result")
	}
	j.expect(t, "pre", "guard", "post", "result")
	outcomeOf(pipeline.AbortedBeforeDispatch()).expect(t, abortedBefore()) // P-29
}
