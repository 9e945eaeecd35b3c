// Package docsync keeps the code in docs/ equal to examples that compile and run.
// A block that follows the line
//
//	<!-- from PATH: FUNC -->
//
// must be the body of that function. DOCSYNC=write rewrites the blocks.
package docsync

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var block = regexp.MustCompile("(?s)<!-- from (\\S+): (\\S+) -->\n```go\n(.*?)```\n")

func TestDocsShowCompiledCode(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, filepath.Join(root, "README.md"))
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		fresh := block.ReplaceAllStringFunc(string(text), func(old string) string {
			found++
			m := block.FindStringSubmatch(old)
			body, err := function(filepath.Join(root, m[1]), m[2])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				return old
			}
			return fmt.Sprintf("<!-- from %s: %s -->\n```go\n%s```\n", m[1], m[2], body)
		})
		if fresh == string(text) {
			continue
		}
		if os.Getenv("DOCSYNC") == "write" {
			if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s shows code that its example does not have; run DOCSYNC=write go test ./internal/docsync", page)
	}
	if found == 0 {
		t.Error("no page shows any code: the pattern is broken")
	}
}

// function returns the body of a function of a file, without its braces, one level
// of indentation and the output comment of an example.
func function(path, name string) (string, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, 0)
	if err != nil {
		return "", err
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != name {
			continue
		}
		from, to := set.Position(fn.Body.Lbrace).Offset+1, set.Position(fn.Body.Rbrace).Offset
		body, _, _ := strings.Cut(string(src[from:to]), "\t// Output:")
		body = strings.ReplaceAll(body, "\n\t", "\n")
		return strings.Trim(body, "\n\t ") + "\n", nil
	}
	return "", fmt.Errorf("%s has no function %s", path, name)
}
