package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Severity grades a diagnostic.
type Severity string

// Severities. An error means that something the user wrote is not in force.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Diagnostic is one thing to tell the author of a settings file. Line and
// Column count from 1, columns in code points; they are 0 if the place is the
// file as a whole.
type Diagnostic struct {
	File     string   `json:"file,omitzero"`
	Pointer  string   `json:"pointer,omitzero"`
	Line     int      `json:"line,omitzero"`
	Column   int      `json:"column,omitzero"`
	Message  string   `json:"message"`
	Severity Severity `json:"severity"`
}

// String is one line: file:line:column: severity: message (pointer).
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(Origin{File: d.File, Line: d.Line, Column: d.Column}.String())
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Message)
	if d.Pointer != "" {
		fmt.Fprintf(&b, " (%s)", d.Pointer)
	}
	return b.String()
}

// Origin is the place of a value: a file, and the value in it. The zero Origin
// is of what came from no file.
type Origin struct {
	File    string `json:"file,omitzero"`
	Layer   Layer  `json:"layer,omitzero"`
	Pointer string `json:"pointer,omitzero"`
	Line    int    `json:"line,omitzero"`
	Column  int    `json:"column,omitzero"`
}

// String is file:line:column, or the file alone.
func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return o.File + ":" + strconv.Itoa(o.Line) + ":" + strconv.Itoa(o.Column)
}

// Diagnose makes a diagnostic of the place.
func (o Origin) Diagnose(severity Severity, format string, args ...any) Diagnostic {
	return Diagnostic{
		File: o.File, Pointer: o.Pointer, Line: o.Line, Column: o.Column,
		Message: fmt.Sprintf(format, args...), Severity: severity,
	}
}
