package streamjson

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// MaxLine is the longest line that the command reads, in bytes.
const MaxLine = 64 << 20

// Line is one line of standard input: a prompt, or a control request.
type Line struct {
	// Prompt is the content of a user line, absent for other lines.
	Prompt messages.Content
	// Control is the subtype of a control request, RequestID its id.
	Control   string
	RequestID string
}

// Reader reads lines. It is not safe for concurrent use.
type Reader struct {
	in     *bufio.Reader
	limit  int
	number int
}

// NewReader returns a reader of in. No line is longer than limit bytes.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// Next returns the next line that is not blank. At the end of the input it returns
// io.EOF; an error of a line names its number.
func (r *Reader) Next() (Line, error) {
	for {
		text, err := r.line()
		if text = bytes.TrimSpace(text); len(text) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			line, err := Parse(text)
			if err != nil {
				return line, fmt.Errorf("line %d of standard input: %w", r.number, err)
			}
			return line, nil
		}
		if err != nil {
			return Line{}, err
		}
	}
}

func (r *Reader) line() ([]byte, error) {
	r.number++
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > r.limit {
			return nil, fmt.Errorf("line %d of standard input is longer than %d bytes", r.number, r.limit)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Parse reads one line. Members that are not known here are ignored, as they are
// by the real program.
func Parse(text []byte) (Line, error) {
	var in struct {
		Type    string `json:"type"`
		Message struct {
			Role    string        `json:"role"`
			Content messages.JSON `json:"content"`
		} `json:"message"`
		RequestID string `json:"request_id"`
		Request   struct {
			Subtype string `json:"subtype"`
		} `json:"request"`
	}
	if err := json.Unmarshal(text, &in, jsontext.AllowInvalidUTF8(true)); err != nil {
		return Line{}, fmt.Errorf("not a JSON object with a message: %w", err)
	}
	switch in.Type {
	case "user":
		if in.Message.Role != "user" {
			return Line{}, fmt.Errorf(`message.role is %q, must be "user"`, in.Message.Role)
		}
		content, err := promptContent(in.Message.Content)
		return Line{Prompt: content}, err
	case "control_request":
		if in.Request.Subtype == "" {
			return Line{}, errors.New("request.subtype is missing")
		}
		return Line{Control: in.Request.Subtype, RequestID: in.RequestID}, nil
	default:
		return Line{}, fmt.Errorf(`type is %q, must be "user" or "control_request"`, in.Type)
	}
}

// promptContent reads message.content: a string, or a list of text and image
// blocks.
func promptContent(j messages.JSON) (messages.Content, error) {
	var none messages.Content
	if j.Kind() == '"' {
		var text string
		if err := j.Unmarshal(&text, jsontext.AllowInvalidUTF8(true)); err != nil {
			return none, fmt.Errorf("message.content: %w", err)
		}
		if text == "" {
			return none, errors.New("message.content is empty")
		}
		return messages.Text(text), nil
	}
	var in []struct {
		Type   string      `json:"type"`
		Text   string      `json:"text"`
		Source imageSource `json:"source"`
	}
	if j.Kind() != '[' {
		return none, errors.New("message.content must be a string or a list of blocks")
	}
	if err := j.Unmarshal(&in, jsontext.AllowInvalidUTF8(true)); err != nil {
		return none, fmt.Errorf("message.content: %w", err)
	}
	var blocks []messages.Block
	for i, b := range in {
		switch {
		case b.Type == "text":
			blocks = append(blocks, messages.TextBlock{Text: b.Text})
		case b.Type == "image" && b.Source.Type == "base64":
			blocks = append(blocks, messages.ImageBlock{MediaType: b.Source.MediaType, Data: b.Source.Data})
		case b.Type == "image":
			return none, fmt.Errorf("message.content[%d]: an image source of type %q is not supported, only base64", i, b.Source.Type)
		default:
			return none, fmt.Errorf("message.content[%d]: a block of type %q is not supported in a prompt", i, b.Type)
		}
	}
	if len(blocks) == 0 {
		return none, errors.New("message.content is empty")
	}
	return messages.NewContent(blocks...), nil
}
