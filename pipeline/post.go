package pipeline

import (
	"context"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// post runs tools/post-execute and applies its decision (P-22, P-23).
func (x *Execution) post(ctx context.Context) {
	x.outcome = Outcome{Call: &x.call, Result: x.result}
	decision, err := x.pipeline.seams.PostExecute.Run(ctx, &x.outcome, acceptOutcome)
	if err != nil {
		x.deferred = x.result.Contexts() // what did run keeps its contexts (Z-5)
		x.fail(err)
		return
	}
	switch d := decision.(type) {
	case messages.ResultAccept:
		x.accept(d)
	case messages.ResultBlock:
		x.block(d)
	default:
		x.fail(noDecisionError("tools/post-execute", "of an unknown kind"))
		return
	}
	x.abortSuccess(ctx)
}

func acceptOutcome(context.Context, *Outcome) (messages.PostToolDecision, error) {
	return messages.ResultAccept{}, nil
}

func (x *Execution) accept(d messages.ResultAccept) {
	contexts := x.result.Contexts().Concat(d.Contexts)
	switch {
	case !d.Content.IsZero() && d.Value != "":
		x.result = messages.NewFailure(messages.ResultFields{Message: textBothReplaced, Contexts: contexts})
	case !d.Content.IsZero():
		x.replaceContent(d.Content, contexts)
	case d.Value != "" && x.result.IsError():
		x.result = messages.NewFailure(messages.ResultFields{Message: textValueOfFailed, Contexts: contexts})
	case d.Value != "":
		x.result = x.reproject(d.Value, contexts)
	case d.Contexts.Len() > 0:
		x.result = x.result.With(func(f *messages.ResultFields) { f.Contexts = contexts })
	}
}

// replaceContent keeps the content that the body made in meta.original (Z-25).
func (x *Execution) replaceContent(content messages.Content, contexts messages.List[messages.Context]) {
	meta, err := withOriginal(x.result.Meta(), x.result.Content())
	if err != nil {
		x.result = messages.NewFailure(messages.ResultFields{Message: textBadResult})
		return
	}
	x.result = x.result.With(func(f *messages.ResultFields) {
		f.Content, f.Meta, f.Contexts = content, meta, contexts
	})
}

// withOriginal adds the member "original" to the meta object.
func withOriginal(meta messages.JSON, original messages.Content) (messages.JSON, error) {
	members := map[string]messages.JSON{}
	if meta != "" {
		if err := meta.Unmarshal(&members); err != nil {
			return "", err
		}
	}
	text, err := messages.MarshalJSON(original)
	if err != nil {
		return "", err
	}
	members["original"] = text
	return messages.MarshalJSON(members)
}

// block turns the result into a failure that reads the feedback (P-22).
func (x *Execution) block(d messages.ResultBlock) {
	content := d.Feedback
	if content.IsZero() {
		content = messages.EmptyContent()
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
		case messages.TextBlock:
			parts = append(parts, b.Text)
		default:
			parts = append(parts, "["+b.BlockType()+" content]")
		}
	}
	return orDefault(strings.Join(parts, "\n"), textBlocked)
}
