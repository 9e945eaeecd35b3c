package schema_test

import (
	"fmt"
	"strings"

	"github.com/dsh-actor/dsh-actor/pipeline/schema"
)

func ExampleFor() {
	type args struct {
		Path  string `json:"path" description:"file to read"`
		Mode  string `json:"mode" enum:"text,bytes"`
		Limit int    `json:"limit,omitzero"`
	}
	s, err := schema.For[args]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.JSON())
	violations := s.Validate(schema.Arguments, `{"mode":"lines","limit":1.5,"other":true}`)
	fmt.Println("invalid arguments: " + strings.Join(violations, "; "))
	// Output:
	// {"type":"object","properties":{"path":{"type":"string","description":"file to read"},"mode":{"type":"string","enum":["text","bytes"]},"limit":{"type":"integer"}},"required":["path","mode"]}
	// invalid arguments: missing required property "path"; "mode" must be one of ["text","bytes"]; "limit" must be an integer
}

func ExampleParse() {
	_, err := schema.Parse(`{"type":"object","properties":{"when":{"type":"string","format":"date"}},"required":["then"]}`)
	fmt.Println(err)
	// Output:
	// unsupported JSON schema: at /properties/when/format: unknown keyword; at /required/0: "then" is not in properties
}
