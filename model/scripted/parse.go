package scripted

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Load reads the scenario file at path. The error names the file, and the line
// and column if the file could be read; see [Parse].
func Load(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	defer f.Close() // read only
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a scenario. Name is the file's name as it appears in errors; its
// base without extension is the script's name if the scenario gives none. Every
// error is a [*ParseError].
func Parse(name string, data []byte) (*Script, error) {
	s, bad := parse(name, data)
	if bad != nil {
		bad.File = name
		return nil, bad
	}
	return s, nil
}

func parse(name string, data []byte) (*Script, *ParseError) {
	if len(data) > maxFile {
		return nil, errorAt(position{1, 1}, "the file is larger than %d MiB", maxFile>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	read := parseYAML
	if isJSON(name, data) {
		read = parseJSON
	}
	root, bad := read(data)
	if bad != nil {
		return nil, bad
	}
	file, bad := decodeFile(root)
	if bad != nil {
		return nil, bad
	}
	if file.info.Name == "" {
		base := filepath.Base(name)
		file.info.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	s, at, flaw := compile(file.info, file.then, file.answers)
	if flaw != nil {
		return nil, errorAt(file.locate(at, flaw), "%s", flaw.text)
	}
	return s, nil
}

func isJSON(name string, data []byte) bool {
	return strings.EqualFold(filepath.Ext(name), ".json") || bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}
