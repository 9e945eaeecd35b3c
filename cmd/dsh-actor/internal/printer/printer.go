package printer

import (
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/host"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/streamjson"
	"github.com/dsh-actor/dsh-actor/messages"
)

// Facts finds what the log does not keep of a call that has ended.
type Facts func(messages.ToolResult) (host.CallFacts, bool)

// denials collects the calls that policy refused in a turn.
type denials struct{ list []streamjson.Denial }

func (d *denials) add(f host.CallFacts) {
	if f.Denied {
		d.list = append(d.list, streamjson.Denial{ToolName: f.Name, ToolUseID: f.ID, ToolInput: f.Arguments})
	}
}

func (d *denials) take() []streamjson.Denial {
	list := d.list
	d.list = nil
	return list
}

// failureLine is the one line that standard error gets for a turn that failed, ""
// for one that did not.
func failureLine(r outcome.Result) string {
	switch {
	case !r.IsError:
		return ""
	case r.HasText:
		return r.Text
	case len(r.Errors) > 0:
		return r.Errors[0]
	default:
		return r.Subtype
	}
}
