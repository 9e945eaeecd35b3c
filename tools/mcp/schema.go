package mcp

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// validator checks arguments against the schema of a tool. A nil validator
// accepts all.
type validator struct{ schema *jsonschema.Schema }

// compileSchema prepares a schema of any draft. What it refers to must be in it.
func compileSchema(schema messages.JSON) (*validator, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	const location = "mem:///tool"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(location, doc); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	s, err := c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return &validator{s}, nil
}

// noLoader refuses to read what a schema refers to: the library would read any
// file.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schemas elsewhere are not read (%s)", url)
}

// check returns the failure of arguments that the schema refuses (Z-28).
func (v *validator) check(arguments messages.JSON) error {
	if v == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(arguments)))
	if err == nil {
		err = v.schema.Validate(value)
	}
	if err != nil {
		return pipeline.InvalidArguments(violations(err))
	}
	return nil
}

// violations is the library's message in one line, without the name that we gave
// to the schema.
func violations(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	if len(lines) > 1 {
		lines = lines[1:] // the first says only that there is something
	}
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(l), "- ")
	}
	return strings.Join(lines, "; ")
}
