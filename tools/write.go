package tools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/internal/plain"
)

// WriteInput is the arguments of Write.
type WriteInput struct {
	FilePath string `json:"file_path" description:"The file, as an absolute path. Missing directories are made."`
	Content  string `json:"content" description:"The whole content of the file."`
}

// WriteOutput is the canonical value of Write (Z-44).
type WriteOutput struct {
	Type            string  `json:"type" enum:"create,update"`
	FilePath        string  `json:"filePath"`
	Content         string  `json:"content"`
	StructuredPatch []Hunk  `json:"structuredPatch"`
	OriginalFile    *string `json:"originalFile"` // null for a new file
	UserModified    bool    `json:"userModified"`
}

func (k *Kit) write() pipeline.Tool {
	return pipeline.MustDefine(pipeline.Definition[WriteInput, WriteOutput]{
		Name: "Write",
		Description: "Writes a file. A file that exists is replaced, and must have been read before. " +
			"To change a part of a file use Edit.",
		Run:             k.runWrite,
		Render:          renderWrite,
		FinalizeContent: plain.Failure,
	})
}

func (k *Kit) runWrite(_ context.Context, inv *pipeline.Invocation, in WriteInput) (WriteOutput, error) {
	s := k.sessions.get(sessionOf(inv.Agent()))
	cwd := s.cwd(inv.Agent())
	path := absolute(in.FilePath, cwd)
	old, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createFile(s, path, in.Content)
	}
	if err != nil {
		return WriteOutput{}, fileError(err, cwd)
	}
	if err := k.unchanged(s, path, old.info); err != nil {
		return WriteOutput{}, err
	}
	info, err := old.write(in.Content)
	if err != nil {
		return WriteOutput{}, fileError(err, cwd)
	}
	s.saw(path, info)
	return WriteOutput{
		Type: "update", FilePath: path, Content: in.Content, OriginalFile: &old.text,
		StructuredPatch: diff(old.text, in.Content),
	}, nil
}

func createFile(s *session, path, content string) (WriteOutput, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return WriteOutput{}, fileError(err, "")
	}
	// Exclusive: what has appeared meanwhile was not read.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return WriteOutput{}, fileError(err, "")
	}
	_, err = f.WriteString(content)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
		return WriteOutput{}, fileError(err, "")
	}
	if info, err := os.Stat(path); err == nil {
		s.saw(path, info)
	}
	return WriteOutput{Type: "create", FilePath: path, Content: content, StructuredPatch: []Hunk{}}, nil
}

// The measured words (oracle).
const stateIsCurrent = " (file state is current in your context \u2014 no need to Read it back)"

func renderWrite(_ WriteInput, o WriteOutput) messages.Content {
	if o.Type == "create" {
		return messages.Text("File created successfully at: " + o.FilePath + stateIsCurrent)
	}
	return messages.Text(updated(o.FilePath))
}

func updated(path string) string {
	return "The file " + path + " has been updated successfully." + stateIsCurrent
}
