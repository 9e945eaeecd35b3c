package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/go-json-experiment/json"
)

// MaxLine is the length in bytes from which on [ReadJSONL] refuses a line, so
// that text without line ends does not fill the memory.
const MaxLine = 256 << 20

// headerLine is line 1 of a log as JSON lines (K-7).
type headerLine struct {
	Type   string `json:"type"`
	Header Header `json:",embed"`
}

const headerType = "session"

// WriteJSONL writes a session as JSON lines: the header, then one event per
// line, each line ended by "\n". It stops at the first error of events or w.
func WriteJSONL(w io.Writer, header Header, events iter.Seq2[messages.Event, error]) error {
	text, err := messages.MarshalJSON(headerLine{headerType, header})
	if err != nil {
		return fmt.Errorf("write header of session %s: %w", header.ID, err)
	}
	out := bufio.NewWriter(w)
	line := append([]byte(text), '\n')
	if _, err := out.Write(line); err != nil {
		return fmt.Errorf("write header of session %s: %w", header.ID, err)
	}
	for e, err := range events {
		if err == nil {
			line, err = e.AppendJSON(line[:0])
		}
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		if err != nil {
			return fmt.Errorf("write events of session %s: %w", header.ID, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write events of session %s: %w", header.ID, err)
	}
	return nil
}

// JSONL is a session that is being read from JSON lines.
type JSONL struct {
	header Header
	in     *bufio.Reader
	types  *messages.Registry
	limit  int // of a line's length
	line   int // number of the last line that was read, from 1
	torn   int
}

// LineError says which line of a log as JSON lines is bad.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

// ReadJSONL reads the header of a session written by [WriteJSONL]; the events
// are read from r as [JSONL.Events] is consumed. Types has the declared event
// types; events of other types become [messages.OtherEvent]. Nil: none.
//
// Errors are a [*LineError], or what r says. Nothing is checked but the form of
// a line: [Seed] and [Verify] check the log.
func ReadJSONL(r io.Reader, types *messages.Registry) (*JSONL, error) {
	if types == nil {
		types = coreTypes
	}
	j := &JSONL{in: bufio.NewReader(r), types: types, limit: MaxLine}
	line, err := j.next()
	switch {
	case err == io.EOF:
		return nil, &LineError{1, errors.New("no complete header line")}
	case err != nil:
		return nil, err
	}
	var h headerLine
	if err := json.Unmarshal(line, &h, json.RejectUnknownMembers(true)); err != nil {
		return nil, &LineError{1, fmt.Errorf("session header: %w", err)}
	}
	if h.Type != headerType {
		return nil, &LineError{1, fmt.Errorf("session header: type is %q, not %q", h.Type, headerType)}
	}
	if err := h.Header.Validate(); err != nil {
		return nil, &LineError{1, err}
	}
	j.header = h.Header
	return j, nil
}

// Header returns the session's header.
func (j *JSONL) Header() Header { return j.header }

// Events yields the events in the order of their lines. It can be consumed once.
//
// A last line without its newline was torn by a crash: it is cut (K-8), and Torn
// says how long it was. Any other line that is not an event is an error that
// names the line and ends the events.
func (j *JSONL) Events() iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for {
			line, err := j.next()
			if err == io.EOF {
				return
			}
			var e messages.Event
			if err == nil {
				if e, err = j.types.DecodeEvent(messages.JSON(line)); err != nil {
					err = &LineError{j.line, err}
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Torn is the length in bytes of the torn last line, known when the events were
// consumed to their end. It is 0 if the text ended in a newline.
func (j *JSONL) Torn() int { return j.torn }

// next returns the next complete line without its newline, or io.EOF. The line
// is valid until the next call.
func (j *JSONL) next() ([]byte, error) {
	line, err := j.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := append([]byte(nil), line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(long) > j.limit {
				return nil, &LineError{j.line + 1, fmt.Errorf("longer than %d bytes", j.limit)}
			}
			line, err = j.in.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	switch {
	case err == io.EOF:
		j.torn = len(line)
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("read line %d: %w", j.line+1, err)
	}
	j.line++
	return line[:len(line)-1], nil
}
