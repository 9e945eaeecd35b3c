package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/internal/plain"
)

// ReadInput is the arguments of Read.
type ReadInput struct {
	FilePath string `json:"file_path" description:"The file, as an absolute path."`
	Offset   int    `json:"offset,omitzero" description:"The line to begin at, counted from 1."`
	Limit    int    `json:"limit,omitzero" description:"How many lines to read; 2000 by default."`
}

// ReadOutput is the canonical value of Read (Z-44).
type ReadOutput struct {
	Type string   `json:"type" enum:"text,image"`
	File ReadFile `json:"file"`
}

// ReadFile is a file that was read: FilePath to TotalLines of a text, Base64 to
// OriginalSize of an image.
type ReadFile struct {
	FilePath   string  `json:"filePath,omitzero"`
	Content    *string `json:"content,omitzero"` // absent for an image
	NumLines   int     `json:"numLines,omitzero"`
	StartLine  int     `json:"startLine,omitzero"`
	TotalLines int     `json:"totalLines,omitzero"`

	Base64       string `json:"base64,omitzero"`
	MediaType    string `json:"type,omitzero"`
	OriginalSize int64  `json:"originalSize,omitzero"`
}

const (
	defaultReadLines = 2000
	maxReadWhole     = 256 << 10 // bytes of a file that is read without a limit
	maxReadLine      = 2000      // code points of a line that are shown
	maxReadImage     = 5 << 20
)

func (k *Kit) read() pipeline.Tool {
	return pipeline.MustDefine(pipeline.Definition[ReadInput, ReadOutput]{
		Name: "Read",
		Description: "Reads a text file, with line numbers, or an image. " +
			"Of a long file give offset and limit. Long lines are cut.",
		Run:             k.runRead,
		Render:          renderRead,
		Concurrent:      func(ReadInput) bool { return true },
		FinalizeContent: plain.Failure,
	})
}

func (k *Kit) runRead(_ context.Context, inv *pipeline.Invocation, in ReadInput) (ReadOutput, error) {
	s := k.sessions.get(sessionOf(inv.Agent()))
	cwd := s.cwd(inv.Agent())
	path := absolute(in.FilePath, cwd)
	if media := imageType(path); media != "" {
		return readImage(path, media, cwd)
	}
	if in.Offset < 0 || in.Limit < 0 {
		return ReadOutput{}, errors.New("offset and limit must not be negative")
	}
	f, err := readText(path)
	if err != nil {
		return ReadOutput{}, fileError(err, cwd)
	}
	if in.Limit == 0 && in.Offset == 0 && len(f.text) > maxReadWhole {
		return ReadOutput{}, fmt.Errorf("the file has %d bytes, more than the %d that can be read at once; read parts of it with offset and limit, or search it with Grep", len(f.text), maxReadWhole)
	}
	s.saw(path, f.info)
	lines := strings.Split(f.text, "\n")
	first := max(in.Offset, 1)
	count := in.Limit
	if count == 0 {
		count = defaultReadLines
	}
	from := min(first-1, len(lines))
	to := min(from+min(count, len(lines)), len(lines))
	content := strings.Join(lines[from:to], "\n")
	return ReadOutput{Type: "text", File: ReadFile{
		FilePath: path, Content: &content, NumLines: to - from, StartLine: first, TotalLines: len(lines),
	}}, nil
}

// renderRead numbers the lines.
func renderRead(_ ReadInput, o ReadOutput) messages.Content {
	if o.Type == "image" {
		return messages.NewContent(messages.ImageBlock{MediaType: o.File.MediaType, Data: o.File.Base64})
	}
	var content string
	if o.File.Content != nil {
		content = *o.File.Content
	}
	switch {
	case o.File.NumLines == 0:
		return messages.Textf("[the file has %d lines, none of them from line %d on]", o.File.TotalLines, o.File.StartLine)
	case content == "" && o.File.TotalLines <= 1:
		return messages.Text("[the file is empty]")
	}
	var b strings.Builder
	b.Grow(len(content) + 8*o.File.NumLines)
	n := o.File.StartLine
	for line := range strings.SplitSeq(content, "\n") {
		if n > o.File.StartLine {
			b.WriteByte('\n')
		}
		b.WriteString(strconv.Itoa(n))
		b.WriteByte('\t')
		b.WriteString(cutLine(line))
		n++
	}
	if last := o.File.StartLine + o.File.NumLines - 1; last < o.File.TotalLines {
		fmt.Fprintf(&b, "\n[%d more lines; read on with offset %d]", o.File.TotalLines-last, last+1)
	}
	return messages.Text(b.String())
}

// cutLine shortens a line that is too long, between code points (Z-7).
func cutLine(line string) string {
	if len(line) <= maxReadLine {
		return line
	}
	total := utf8.RuneCountInString(line)
	if total <= maxReadLine {
		return line
	}
	n := 0
	for i := range line {
		if n == maxReadLine {
			return fmt.Sprintf("%s... [%d more characters]", line[:i], total-maxReadLine)
		}
		n++
	}
	return line
}

func imageType(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	}
	return ""
}

func readImage(path, media, cwd string) (ReadOutput, error) {
	data, info, err := readRegular(path, maxReadImage)
	if err != nil {
		return ReadOutput{}, fileError(err, cwd)
	}
	if !isImage(data, media) {
		return ReadOutput{}, fmt.Errorf("%s is not of the type that its name says (%s)", path, media)
	}
	return ReadOutput{Type: "image", File: ReadFile{
		Base64: base64.StdEncoding.EncodeToString(data), MediaType: media, OriginalSize: info.Size(),
	}}, nil
}

// isImage looks at the first bytes: a provider refuses a request as a whole for
// an image that is none.
func isImage(data []byte, media string) bool {
	switch media {
	case "image/png":
		return bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n"))
	case "image/jpeg":
		return bytes.HasPrefix(data, []byte("\xff\xd8\xff"))
	case "image/gif":
		return bytes.HasPrefix(data, []byte("GIF8"))
	case "image/webp":
		return len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
	}
	return false
}
