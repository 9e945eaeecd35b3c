// Package plain has failures of tools read as the tool says them.
package plain

import (
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Failure is a finalizeContent (P-24): it takes off the "Error: " that the
// pipeline puts before the message of a failed body (P-17). A failure with a
// code is the pipeline's own and stays as it is, and so does content that
// somebody else has changed.
func Failure(call *pipeline.Call, r *messages.Result) (messages.Content, bool) {
	if !r.IsError() || !call.BodyInvoked() || r.Info() != (messages.ErrorInfo{}) {
		return messages.Content{}, false
	}
	if r.Content().Len() != 1 || r.Content().Text() != "Error: "+r.Message() {
		return messages.Content{}, false
	}
	return messages.Text(r.Message()), true
}
