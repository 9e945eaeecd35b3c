package permission

import "fmt"

// Mode says what happens to a call that no rule decides (SPEC table P).
type Mode string

// Modes.
const (
	ModeDefault     Mode = "default"
	ModeAcceptEdits Mode = "acceptEdits"
	ModePlan        Mode = "plan"
	ModeDontAsk     Mode = "dontAsk"
	ModeBypass      Mode = "bypassPermissions"
)

// Modes returns all modes.
func Modes() []Mode {
	return []Mode{ModeDefault, ModeAcceptEdits, ModePlan, ModeDontAsk, ModeBypass}
}

// ParseMode returns the mode of a name. Empty is the default mode.
func ParseMode(name string) (Mode, error) {
	if name == "" {
		return ModeDefault, nil
	}
	for _, m := range Modes() {
		if string(m) == name {
			return m, nil
		}
	}
	return "", fmt.Errorf("unknown permission mode %q (%v)", name, Modes())
}

// row is a row of SPEC table P.
type row int

const (
	rowReads  row = iota // reads in the workspace
	rowEdits             // edits in the workspace
	rowOthers            // everything else
)

// behavior is the table.
func (m Mode) behavior(r row) Behavior {
	switch {
	case m == ModeBypass || r == rowReads || r == rowEdits && m == ModeAcceptEdits:
		return Allow
	case m == ModePlan || m == ModeDontAsk:
		return Deny
	}
	return Ask
}

// row classifies a call. Why says what keeps a call from a better row.
func (s *subject) row() (r row, why string) {
	switch s.class {
	case shell:
		if s.missing != "" {
			return rowOthers, s.noArgument()
		}
		if why := s.look.readOnly(s.commands()); why != "" {
			return rowOthers, "the command is not read-only: " + why
		}
		return rowReads, ""
	case reading, search, editing:
		if s.missing != "" {
			return rowOthers, s.noArgument()
		}
		return s.fileRow()
	}
	return rowOthers, "the tool may do anything"
}

func (s *subject) noArgument() string {
	return fmt.Sprintf("the argument %q is missing or no string", s.missing)
}

func (s *subject) fileRow() (r row, why string) {
	targets, ok := s.paths()
	if !ok {
		return rowOthers, "it names a path that cannot be judged"
	}
	for _, t := range targets {
		switch path := s.look.displayPath(t.lexical); {
		case !s.look.inside(t):
			return rowOthers, path + " is outside of the workspace"
		case s.class == editing && t.protected():
			return rowOthers, path + " is what programs and permissions obey"
		}
	}
	if s.class == editing {
		return rowEdits, "it changes " + s.look.displayPath(targets[0].lexical)
	}
	return rowReads, ""
}
