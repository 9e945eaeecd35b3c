package permission

import "github.com/dsh-actor/dsh-actor/internal/settings"

// Diagnostic tells the author of a rule what is wrong with it: file, JSON pointer,
// line and column, message, severity. An error means that the rule is not in
// force, or not as written.
type Diagnostic = settings.Diagnostic

// Severity grades a diagnostic.
type Severity = settings.Severity

// Origin is where a rule was written.
type Origin = settings.Origin

// Severities of diagnostics.
const (
	SeverityError   = settings.Error
	SeverityWarning = settings.Warning
	SeverityInfo    = settings.Info
)
