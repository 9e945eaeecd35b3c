package pipeline

import (
	"context"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// post runs tools/post-execute and applies its decision (P-22, P-23).
func (x *Execution) post(ctx context.Context) {
	decision, err := x.pipeline.seams.PostExecute.Run(ctx, Outcome{&x.call, x.result}, acceptOutcome)
	if err != nil {
		x.fail(err)
		return
	}
	switch d := decision.(type) {
	case messages.ResultAccept:
		x.accept(d)
	case messages.ResultBlock:
		x.block(d)
	}
	x.abortSuccess(ctx)
}

func acceptOutcome(context.Context, Outcome) (messages.PostToolDecision, error) {
	return messages.ResultAccept{}, nil
}

// accept applies a decision that keeps the result. A decision that contradicts
// itself or the result is a failure of its listener: its contexts are lost, those
// of work that did run are kept (P-14, Z-5).
func (x *Execution) accept(d messages.ResultAccept) {
	contexts := x.result.Contexts().Concat(d.Contexts)
	switch {
	case !d.Content.IsZero() && d.Value != "":
		x.fail(errBothReplaced)
	case !d.Content.IsZero():
		x.replaceContent(d.Content, contexts)
	case d.Value != "" && x.result.IsError():
		x.fail(errValueOfFailed)
	case d.Value != "":
		x.result = x.reproject(d.Value, contexts)
	case !d.Contexts.IsZero():
		x.result = x.result.With(func(f *messages.ResultFields) { f.Contexts = contexts })
	}
}

// replaceContent replaces what the model reads and keeps everything else. The
// content that the body made stays in meta.original (Z-25); a nested call has no
// meta (P-18).
func (x *Execution) replaceContent(content messages.Content, contexts messages.List[messages.Context]) {
	meta := x.result.Meta()
	if x.call.parent == 0 {
		var err error
		if meta, err = withOriginal(meta, x.result.Content()); err != nil {
			x.fail(errBadResult)
			return
		}
	}
	x.result = x.result.With(func(f *messages.ResultFields) {
		f.Content, f.Meta, f.Contexts = content, meta, contexts
	})
}

// block turns the result into a failure that reads the feedback. All contexts of
// the result are dropped, deferred ones too; only the decision's own remain
// (P-22).
func (x *Execution) block(d messages.ResultBlock) {
	if x.trace != nil {
		x.trace.decision, x.trace.before = otel.DecisionBlock, x.result
	}
	x.earned = noContexts
	content := d.Feedback
	if content.IsZero() {
		content = messages.Text(textBlocked)
	}
	x.result = messages.NewFailure(messages.ResultFields{
		Message: feedbackMessage(content), Content: content, Contexts: d.Contexts,
	})
}

// feedbackMessage is the error message of blocked feedback: text blocks joined by
// newline, others as "[type content]".
func feedbackMessage(c messages.Content) string {
	var parts []string
	for b := range c.Blocks() {
		switch b := b.(type) {
		case nil: // refused with the candidate (P-25)
		case messages.TextBlock:
			parts = append(parts, b.Text)
		default:
			parts = append(parts, "["+b.BlockType()+" content]")
		}
	}
	return orDefault(strings.Join(parts, "\n"), textBlocked)
}
