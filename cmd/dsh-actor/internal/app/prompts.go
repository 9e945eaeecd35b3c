package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/drive"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/streamjson"
	"github.com/dsh-actor/dsh-actor/messages"
)

// maxStdin is the longest prompt that is read from standard input, as in the real
// program.
const maxStdin = 10 << 20

// patience is how long a prompt on standard input is waited for if there is another
// one: a process that inherits an open pipe from somewhere must not wait for ever.
const patience = 3 * time.Second

// promptText puts the prompt together: the arguments, then what is on standard
// input, then what the scenario offers.
func (a *app) promptText(ctx context.Context, args []string, offered string) (string, error) {
	text := strings.Join(args, " ")
	given := strings.TrimSpace(text) != ""
	piped, err := a.piped(ctx, given || offered != "")
	if err != nil {
		return "", err
	}
	switch hasPiped := strings.TrimSpace(piped) != ""; {
	case given && hasPiped:
		return text + "\n" + piped, nil
	case given:
		return text, nil
	case hasPiped:
		return piped, nil
	case offered != "" && len(args) == 0:
		return offered, nil
	case len(args) > 0:
		return "", usagef("the prompt is empty")
	default:
		return "", usagef("no prompt: give one as an argument or on standard input (words after --allowedTools are rules: write -- before the prompt)")
	}
}

// piped returns what is on standard input, "" if it is a terminal. If there is
// another prompt, input that does not come is not waited for.
func (a *app) piped(ctx context.Context, optional bool) (string, error) {
	if a.sys.In.Terminal() {
		return "", nil
	}
	if optional && a.sys.In.Waits(ctx, patience) {
		a.warn("nothing came on standard input for " + patience.String() + ": going on without it (</dev/null avoids the wait)")
		return "", nil
	}
	b, err := a.sys.In.All(ctx, maxStdin)
	if err != nil {
		return "", err
	}
	return messages.ValidUTF8(string(b)), nil
}

// once is the source of one prompt.
func once(content messages.Content) drive.Source {
	given := false
	return func(context.Context) (drive.Input, error) {
		if given {
			return drive.Input{}, io.EOF
		}
		given = true
		return drive.Input{Prompt: content}, nil
	}
}

// lines is the source of prompts that come as lines of JSON.
func (a *app) lines(w *streamjson.Writer, replay bool) drive.Source {
	var r *streamjson.Reader
	return func(ctx context.Context) (drive.Input, error) {
		if r == nil {
			r = streamjson.NewReader(a.sys.In.Reader(ctx), streamjson.MaxLine)
		}
		line, err := r.Next()
		if err != nil {
			return drive.Input{}, err
		}
		if line.Control == "" {
			in := drive.Input{Prompt: line.Prompt}
			if replay {
				in.Done = func(err error) error {
					if err != nil {
						return err
					}
					return w.Replay(line.Prompt)
				}
			}
			return in, nil
		}
		return drive.Input{Interrupt: line.Control == "interrupt", Done: func(err error) error { return control(w, line, err) }}, nil
	}
}

// errUnknownControl is the answer to a control request that is not known.
var errUnknownControl = errors.New("this control request is not supported; interrupt is")

// control answers a control request.
func control(w *streamjson.Writer, line streamjson.Line, err error) error {
	if line.Control != "interrupt" {
		err = fmt.Errorf("%s: %w", line.Control, errUnknownControl)
	}
	if err != nil {
		return w.ControlResponse(line.RequestID, err.Error())
	}
	return w.ControlResponse(line.RequestID, "")
}
