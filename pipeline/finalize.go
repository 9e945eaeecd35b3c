package pipeline

import "github.com/dsh-actor/dsh-actor/messages"

// finalizer is a tool's finalizeContent (P-24).
type finalizer = func(call *Call, result *messages.Result) (messages.Content, bool)

// runFinalize lets the tool replace what the model reads, and nothing else. A
// finalizer that fails or returns what a log cannot hold makes the result a
// failure; contexts of work that did run are kept (Z-5). It is not called again.
func (x *Execution) runFinalize() {
	err := errGoexit // stands if the finalizer ends the goroutine
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError("finalizeContent", v)
		}
		if err != nil {
			x.result = failed(err, x.earned)
		}
	}()
	content, replace := x.finalize(&x.call, x.result)
	err = nil
	switch {
	case !replace:
		return
	case content.IsZero():
		content = messages.EmptyContent()
	case !losslessContent(content):
		err = errBadResult
		return
	}
	x.result = x.result.With(func(f *messages.ResultFields) { f.Content = content })
}
