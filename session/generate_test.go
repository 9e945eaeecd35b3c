package session_test

import (
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"pgregory.net/rapid"
)

// generator draws plausible logs: what a runtime that keeps its duties (C-2 to
// C-7, T-4, T-21) would write, with every kind of turn and end.
type generator struct {
	t       *rapid.T
	entries []session.Entry
	turn    int
}

func drawLog(t *rapid.T) []session.Entry {
	g := &generator{t: t}
	for range rapid.IntRange(0, 4).Draw(t, "turns") {
		g.oneTurn()
		for g.chance("record between turns") {
			g.add(session.LogOnly(recordEvent{}))
		}
	}
	return g.entries
}

func (g *generator) next() int64 { return int64(len(g.entries)) }

func (g *generator) add(e session.Entry) int64 {
	g.entries = append(g.entries, e)
	return g.next() - 1
}

func (g *generator) chance(what string) bool { return rapid.IntRange(0, 3).Draw(g.t, what) == 0 }

func (g *generator) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(g.t, what) }

func (g *generator) words() string { return rapid.StringN(0, 6, -1).Draw(g.t, "text") }

func (g *generator) oneTurn() {
	g.turn++
	g.add(turnStart(g.turn))
	g.noise(0)
	end := messages.EndReason{Kind: messages.EndCompleted}
	switch g.pick("turn", 6) {
	case 0: // blocked (S-3)
		g.add(session.LogOnly(messages.PromptBlocked{Content: messages.Text("p"), Source: messages.UserSource(), Reason: "r"}))
		end = messages.EndReason{Kind: messages.EndRejected, Reason: "r"}
	case 1: // one-shot injection
		g.context()
	default:
		g.add(user(g.words()))
		for g.chance("context of the prompt") {
			g.context()
		}
		steps := rapid.IntRange(1, 3).Draw(g.t, "steps")
		for step := 1; step <= steps; step++ {
			g.compact()
			for g.chance("steering") {
				g.add(steering(g.turn, g.words()))
			}
			if !g.step(step) {
				end = messages.EndReason{Kind: messages.EndAborted}
				break
			}
		}
	}
	g.compact()
	g.add(session.LogOnly(messages.TurnEnd{Turn: g.turn, Reason: end}))
}

// step draws one model request with its batch; false if it was the last one.
func (g *generator) step(step int) bool {
	g.add(stepStart(g.turn, step))
	defer func() { g.add(stepEnd(g.turn, step)) }()
	if step == 1 || g.chance("header") {
		g.add(header(g.words(), messages.HeaderChange))
	}
	var chunks []int64
	for range g.pick("chunks", 4) {
		chunks = append(chunks, g.add(chunk(g.turn, step, g.words())))
	}
	if g.chance("failed request") {
		return false // no answer (T-10, cancelled mid stream)
	}
	ids := rapid.SliceOfN(rapid.SampledFrom([]messages.CallID{"a", "b", "c"}), 0, 5).Draw(g.t, "calls")
	a := answer(g.turn, step, g.words(), ids...)
	a.Sources = messages.ListOf(chunks...)
	g.add(a)
	if len(ids) == 0 {
		return true
	}
	aborted := g.batch(step, ids)
	for g.chance("FIFO") {
		g.context()
	}
	for g.chance("steering after the batch") {
		g.add(steering(g.turn, g.words()))
	}
	return !aborted
}

// batch draws the calls in model order, with results in model order, up to three
// bodies at a time (C-1 to C-6).
func (g *generator) batch(step int, ids []messages.CallID) (aborted bool) {
	var running []int64 // tool/call seqs of the calls without result
	var runningIDs []messages.CallID
	finish := func() {
		d := messages.ToolResult{Turn: g.turn, Step: step, CallID: runningIDs[0], Content: messages.Text(g.words())}
		if g.chance("failure") {
			d.IsError, d.Error = true, messages.ErrorInfo{Name: "ToolError", Code: messages.CodeToolTimeout}
		}
		if g.chance("meta") {
			d.Meta = messages.JSON(fmt.Sprintf(`{"n":%d}`, g.pick("n", 3)))
		}
		g.add(session.Add(d, running[0]))
		running, runningIDs = running[1:], runningIDs[1:]
	}
	for _, id := range ids {
		for len(running) > 0 && (len(running) == 3 || g.pick("finish", 2) == 0) {
			finish()
		}
		aborted = aborted || g.pick("abort", 12) == 0
		if aborted { // C-6: started calls end, the others get synthetic pairs
			for len(running) > 0 {
				finish()
			}
		}
		running = append(running, g.add(toolCall(g.turn, step, id)))
		runningIDs = append(runningIDs, id)
		g.noise(step)
		if aborted {
			finish()
		}
	}
	for len(running) > 0 {
		finish()
	}
	return aborted
}

// noise draws log-only events, also of other packages.
func (g *generator) noise(step int) {
	if !g.chance("noise") {
		return
	}
	switch g.pick("noise kind", 5) {
	case 0:
		g.add(session.LogOnly(inTurnEvent{g.words()}))
	case 1:
		g.add(session.LogOnly(recordEvent{g.turn}))
	case 2:
		g.add(session.LogOnly(messages.ApprovalAsked{ID: "q", ToolName: "Read"}))
	case 3:
		g.add(session.LogOnly(messages.OtherEvent{Name: "later/type", Raw: `{"n":1.50}`}))
	case 4:
		if step > 0 {
			g.add(session.LogOnly(inStepEvent{g.words()}))
		}
	}
}

func (g *generator) context() {
	g.add(session.Add(messages.UserMessage{
		Content: messages.Text(g.words()), Source: messages.PluginSource("p"), Meta: `{"k":"v"}`,
	}))
}

// compact replaces a part of the surface between steps, or the content of one
// tool/result.
func (g *generator) compact() {
	if !g.chance("compact") {
		return
	}
	nodes := naiveNodes(stamp(g.entries))
	if len(nodes) == 0 {
		return
	}
	from := g.pick("from", len(nodes))
	if d, ok := nodes[from].event.Data.(messages.ToolResult); ok {
		d.Content = messages.Text("pruned " + g.words())
		g.add(session.Replace(d, nodes[from].seq, nodes[from].seq, nodes[from].seq))
		return
	}
	to := from + g.pick("to", len(nodes)-from)
	var shadowed []int64
	for _, n := range nodes[from : to+1] {
		shadowed = append(shadowed, n.seq)
	}
	g.add(session.Replace(messages.UserMessage{
		Content: messages.Text("summary " + g.words()), Source: messages.PluginSource("compact"),
	}, nodes[from].seq, nodes[to].seq, shadowed...))
}
