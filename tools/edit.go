package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/internal/plain"
)

// EditInput is the arguments of Edit.
type EditInput struct {
	FilePath   string `json:"file_path" description:"The file, as an absolute path."`
	OldString  string `json:"old_string" description:"The text to replace, exactly as it is in the file, without line numbers."`
	NewString  string `json:"new_string" description:"The text to put in its place."`
	ReplaceAll bool   `json:"replace_all,omitzero" description:"Replace every occurrence; otherwise there must be exactly one."`
}

// EditOutput is the canonical value of Edit (Z-44).
type EditOutput struct {
	FilePath        string `json:"filePath"`
	OldString       string `json:"oldString"`
	NewString       string `json:"newString"`
	OriginalFile    string `json:"originalFile"`
	StructuredPatch []Hunk `json:"structuredPatch"`
	UserModified    bool   `json:"userModified"`
	ReplaceAll      bool   `json:"replaceAll"`
}

func (k *Kit) edit() pipeline.Tool {
	return pipeline.MustDefine(pipeline.Definition[EditInput, EditOutput]{
		Name:            "Edit",
		Description:     "Replaces text in a file that was read before. With an empty old_string it makes a new file.",
		Run:             k.runEdit,
		Render:          func(_ EditInput, o EditOutput) messages.Content { return messages.Text(updated(o.FilePath)) },
		FinalizeContent: plain.Failure,
	})
}

func (k *Kit) runEdit(_ context.Context, inv *pipeline.Invocation, in EditInput) (EditOutput, error) {
	s := k.sessions.get(sessionOf(inv.Agent()))
	cwd := s.cwd(inv.Agent())
	path := absolute(in.FilePath, cwd)
	if in.OldString == in.NewString {
		return EditOutput{}, errors.New("there is nothing to change: old_string and new_string are the same")
	}
	out := EditOutput{FilePath: path, OldString: in.OldString, NewString: in.NewString, ReplaceAll: in.ReplaceAll}
	old, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) && in.OldString == "" {
		_, err := createFile(s, path, in.NewString)
		out.StructuredPatch = diff("", in.NewString)
		return out, err
	}
	if err != nil {
		return EditOutput{}, fileError(err, cwd)
	}
	if err := k.unchanged(s, path, old.info); err != nil {
		return EditOutput{}, err
	}
	text, err := replaced(old, in)
	if err != nil {
		return EditOutput{}, err
	}
	info, err := old.write(text)
	if err != nil {
		return EditOutput{}, fileError(err, cwd)
	}
	s.saw(path, info)
	out.OriginalFile, out.StructuredPatch = old.text, diff(old.text, text)
	return out, nil
}

// replaced returns the text of the file after the edit.
func replaced(f *textFile, in EditInput) (string, error) {
	from, to := in.OldString, in.NewString
	if f.crlf { // the model may have copied the ends of lines
		from, to = strings.ReplaceAll(from, "\r\n", "\n"), strings.ReplaceAll(to, "\r\n", "\n")
	}
	if from == "" {
		if f.text != "" {
			return "", errors.New("old_string is empty, but the file is not")
		}
		return to, nil
	}
	switch n := strings.Count(f.text, from); {
	case n == 0:
		return "", fmt.Errorf("old_string is not in the file:\n%s", in.OldString)
	case n > 1 && !in.ReplaceAll:
		return "", fmt.Errorf("old_string is in the file %d times; give more of the text around it, or set replace_all:\n%s", n, in.OldString)
	}
	return strings.ReplaceAll(f.text, from, to), nil
}
