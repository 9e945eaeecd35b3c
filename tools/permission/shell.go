package permission

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// script is what a Bash command line says: its simple commands, and what is in
// it that policy cannot see through. It does not change.
type script struct {
	text string // trimmed
	// err says why the text could not be read. The shell may run a part of it all the
	// same: it reads line by line.
	err error
	// commands are all simple commands, those inside substitutions, functions and
	// nested shells included.
	commands []command
	// opaque is the first construct whose effect the words do not show: functions,
	// arithmetic, indirect expansions, tests. No allow rule covers it.
	opaque string
	// compound is the first construct beyond simple commands joined by && || | ; and
	// newline. The read-only classifier takes nothing else.
	compound string

	once sync.Once
	wild []string // the forms of the commands, once asked for
}

// forms returns every form of every command that rules which narrow are tested on.
func (s *script) forms() []string {
	s.once.Do(func() {
		for i := range s.commands {
			s.wild = s.commands[i].wildTexts(s.wild)
		}
	})
	return s.wild
}

// command is one simple command.
type command struct {
	words   []word
	assigns []assignment // before it
	redirs  []redirection
	nested  bool   // inside a substitution
	source  string // as written, from the first assignment to the last word
}

// word is one word of a command. Its text is unquoted; what the words do not
// say is marked in it by the wild characters below.
type word struct {
	text  string
	raw   string // as written
	glob  bool   // has an unquoted * ? or [
	brace bool   // may expand to several words
	tilde bool   // begins with an unquoted ~
}

// Marks in the text of words. A command that has one of them itself is not
// readable.
const (
	wildBlank = '\x01' // a blank inside a word
	wildWord  = '\x02' // anything without a word break
	wildAny   = '\x03' // anything, several words included
)

// static reports whether the word is exactly its text when the command runs.
func (w *word) static() bool {
	return !w.glob && !w.brace && !w.tilde && !strings.ContainsAny(w.text, "\x02\x03")
}

type assignment struct {
	name  string
	plain bool // neither an element, nor an array, nor appended to
}

// redirection is one redirection. A here-document has the operator and no target.
type redirection struct {
	op     syntax.RedirOperator
	fd     string // "" or digits; anything else names a variable
	target word
}

// name returns the command's name, "" if it has none.
func (c *command) name() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0].text
}

// Limits of what is read. The parser recurses, and a Go stack that overflows
// cannot be recovered from, so that both length and the number of constructs that
// could nest are bounded.
const (
	maxCommand    = 128 << 10
	maxNesting    = 4096
	maxShellDepth = 4 // bash -c inside bash -c
)

var (
	errTooLong    = fmt.Errorf("it is longer than %d bytes", maxCommand)
	errTooNested  = fmt.Errorf("it has more than %d brackets and keywords", maxNesting)
	errControl    = errors.New("it has control characters")
	errBackslash  = errors.New("it ends in a backslash")
	errComment    = errors.New("it has a comment that shells may read in another way")
	errExtGlob    = errors.New("it has an extended pattern, which shells read only if told to")
	errParserFail = errors.New("the shell parser failed")
)

// parseScript reads a command line.
func parseScript(text string) *script {
	s := &script{text: strings.Trim(text, " \t\n")}
	if words, ok := plainWords(s.text); ok {
		s.commands = []command{{words: words, source: s.text}}
		return s
	}
	b := &builder{script: s}
	if s.err = b.read(text, 0, false); s.err != nil {
		s.commands, s.opaque, s.compound = nil, "", ""
	}
	return s
}

// builder collects what a script says. Its source is the text being read: the
// command line, or that of a nested shell.
type builder struct {
	script *script
	source string
	depth  int
	err    error // of what the parser accepts and shells may not, or not so
}

// read adds the commands of text. Nested text is that of a shell which the
// command line starts.
func (b *builder) read(text string, depth int, nested bool) error {
	if err := readable(text); err != nil {
		return err
	}
	file, err := parseShell(text)
	if err != nil {
		return err
	}
	source, outer := b.source, b.depth
	b.source, b.depth, b.err = text, depth, nil
	b.stmts(file, nested)
	b.source, b.depth = source, outer
	return b.err
}

// readable refuses what must not reach the parser, and what it is known to read
// in another way than shells do: a carriage return is a blank to it and a character
// like any other to bash, so that a # after it begins a comment for the one and not
// for the other. What a backslash at the end takes away depends on what follows when
// the text is run.
func readable(text string) error {
	switch {
	case len(text) > maxCommand:
		return errTooLong
	case strings.ContainsFunc(text, isControl):
		return errControl
	case escaped(text, len(text)):
		return errBackslash
	case len(text) > maxNesting && openings(text) > maxNesting:
		return errTooNested
	}
	return nil
}

// isControl reports whether a character is one that no command line needs.
func isControl(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }

// openings bounds the depth to which text can nest: every level takes a bracket,
// a back quote or a keyword. Quoted ones count too, because only the parser can
// tell.
func openings(text string) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[', '`':
			n++
		}
	}
	for _, keyword := range [...]string{
		"if", "while", "until", "for", "case", "select", "function", "coproc", "time", "do", "then", "else", "elif", "!",
	} {
		n += strings.Count(text, keyword)
	}
	return n
}

// parsers are reused: a new one allocates several kilobytes.
var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)) }}

func parseShell(text string) (file *syntax.File, err error) {
	p := parsers.Get().(*syntax.Parser)
	defer func() {
		if recover() != nil {
			file, err = nil, errParserFail // and the parser is not used again
			return
		}
		parsers.Put(p)
	}()
	return p.Parse(strings.NewReader(text), "")
}

// mark keeps the first of what policy cannot see through.
func mark(what *string, construct string) {
	if *what == "" {
		*what = construct
	}
}

// stmts collects the commands of a file.
func (b *builder) stmts(file *syntax.File, nested bool) {
	if nested {
		mark(&b.script.compound, "a nested shell")
	}
	inside := 0 // substitutions around the node
	if nested {
		inside++
	}
	var stack []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			last := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if isSubstitution(last) {
				inside--
			}
			return true
		}
		stack = append(stack, n)
		if isSubstitution(n) {
			inside++
			mark(&b.script.compound, "a substitution")
		}
		b.node(n, inside > 0)
		return true
	})
}

func isSubstitution(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return true
	}
	return false
}

// node takes what one node says.
func (b *builder) node(n syntax.Node, nested bool) {
	s := b.script
	switch n := n.(type) {
	case *syntax.Stmt:
		b.stmt(n, nested)
	case *syntax.File, *syntax.CallExpr, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted,
		*syntax.DblQuoted, *syntax.Redirect, *syntax.CmdSubst, *syntax.ProcSubst:
	case *syntax.Comment:
		if !b.plainComment(n) {
			b.err = errComment
		}
	case *syntax.ExtGlob:
		b.err = errExtGlob
	case *syntax.Assign:
		if n.Index != nil || n.Array != nil {
			mark(&s.opaque, "an array")
		}
	case *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause,
		*syntax.CaseItem, *syntax.TimeClause:
		mark(&s.compound, "a compound command")
	case *syntax.ForClause:
		mark(&s.compound, "a loop")
		if !n.Select {
			if loop, ok := n.Loop.(*syntax.WordIter); ok {
				s.commands = append(s.commands, command{assigns: []assignment{{loop.Name.Value, true}}, nested: nested})
				return
			}
		}
		mark(&s.opaque, "an arithmetic or select loop")
	case *syntax.WordIter, *syntax.DeclClause:
	case *syntax.ParamExp:
		mark(&s.compound, "a variable")
		if !plainParameter(n) {
			mark(&s.opaque, "a parameter expansion with an operator")
		}
	case *syntax.FuncDecl:
		mark(&s.opaque, "a function")
	case *syntax.ArithmExp, *syntax.ArithmCmd:
		mark(&s.opaque, "arithmetic")
	case *syntax.LetClause:
		// The parser takes an unquoted & or | for an operator; shells end the command.
		mark(&s.opaque, "arithmetic")
		s.commands = append(s.commands, unknownCommand("let"))
	case *syntax.TestClause:
		mark(&s.opaque, "a [[ ]] test")
	case *syntax.CoprocClause:
		// Whether the next word is a name or the command depends on the shell's version.
		mark(&s.opaque, "a coprocess")
		s.commands = append(s.commands, unknownCommand("coproc"))
	default:
		mark(&s.opaque, "a construct that is not understood")
	}
	if s.opaque != "" {
		mark(&s.compound, s.opaque)
	}
}

// plainComment reports whether a comment is one to every shell: it begins a word
// and ends with the line. The parser also takes # for the beginning of one after the
// parenthesis of an array, and goes on after a backslash at the end of the line.
func (b *builder) plainComment(c *syntax.Comment) bool {
	start, end := int(c.Hash.Offset()), int(c.End().Offset())
	if start > end || end > len(b.source) || strings.Contains(b.source[start:end], "\n") || strings.HasSuffix(b.source[start:end], `\`) {
		return false
	}
	return (start == 0 || strings.IndexByte(" \t\n", b.source[start-1]) >= 0) && (end == len(b.source) || b.source[end] == '\n')
}

// unknownCommand is a command of which nothing is known.
func unknownCommand(source string) command {
	return command{words: []word{{text: string(wildAny), raw: source}}, source: source, nested: true}
}

// plainParameter reports whether the expansion is the value of one variable and
// nothing else.
func plainParameter(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Width && !p.IsSet && p.Flags == nil && p.NestedParam == nil && p.Index == nil &&
		p.Modifiers == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// stmt takes the simple command of a statement, if it is one, with its
// redirections.
func (b *builder) stmt(n *syntax.Stmt, nested bool) {
	s := b.script
	if n.Background || n.Coprocess || n.Disown {
		mark(&s.compound, "a background command")
	}
	c := command{nested: nested}
	switch cmd := n.Cmd.(type) {
	case *syntax.CallExpr:
		b.call(&c, cmd)
	case *syntax.DeclClause:
		b.declaration(&c, cmd)
	default:
		if len(n.Redirs) == 0 {
			return
		}
	}
	for _, r := range n.Redirs {
		mark(&s.compound, "a redirection")
		c.redirs = append(c.redirs, b.redirection(r))
	}
	s.commands = append(s.commands, c)
	b.shells(&c, n.Redirs)
}

func (b *builder) call(c *command, cmd *syntax.CallExpr) {
	for _, a := range cmd.Assigns {
		mark(&b.script.compound, "an assignment")
		c.assigns = append(c.assigns, assignment{a.Name.Value, !a.Append && a.Index == nil && a.Array == nil})
	}
	c.words = make([]word, len(cmd.Args))
	for i, w := range cmd.Args {
		c.words[i] = b.word(w)
	}
	if len(c.words) > 0 {
		c.source = b.text(cmd.Pos(), cmd.Args[len(cmd.Args)-1].End()) // with the assignments
	}
}

// declaration takes export, declare and their like as commands.
func (b *builder) declaration(c *command, cmd *syntax.DeclClause) {
	mark(&b.script.compound, "a declaration")
	c.words = []word{{text: cmd.Variant.Value, raw: cmd.Variant.Value}}
	c.source = b.text(cmd.Pos(), cmd.End())
	for _, a := range cmd.Args {
		w := word{raw: b.text(a.Pos(), a.End())}
		if a.Value != nil {
			w = b.word(a.Value)
		}
		if a.Name != nil {
			name := a.Name.Value
			switch {
			case a.Append:
				name += "+="
			case !a.Naked:
				name += "="
			}
			w.text = name + w.text
			w.raw = b.text(a.Pos(), a.End())
		}
		c.words = append(c.words, w)
	}
}

func (b *builder) redirection(r *syntax.Redirect) redirection {
	out := redirection{op: r.Op}
	if r.N != nil {
		out.fd = r.N.Value
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
	default:
		out.target = b.word(r.Word)
	}
	return out
}

// text returns a part of the source.
func (b *builder) text(from, to syntax.Pos) string {
	start, end := int(from.Offset()), int(to.Offset())
	if start > end || end > len(b.source) {
		return ""
	}
	return b.source[start:end]
}

// shells adds the commands that the command hands to another shell as text:
// sh -c, eval, a here-document. What is not known in advance, such as what comes
// through a pipe, is a command of which nothing is known.
func (b *builder) shells(c *command, redirs []*syntax.Redirect) {
	for _, text := range c.shellTexts() {
		b.shell(text)
	}
	script := c.scriptFrom()
	if script == scriptElsewhere {
		return
	}
	seen := false
	for _, r := range redirs {
		switch {
		case r.Hdoc != nil:
			b.shell(b.word(r.Hdoc))
		case r.Op == syntax.WordHdoc:
			b.shell(b.word(r.Word))
		default:
			continue
		}
		seen = true
	}
	if !seen || script == scriptUnknown {
		b.script.commands = append(b.script.commands, unknownCommand(c.source))
	}
}

func (b *builder) shell(w word) {
	text := strings.ReplaceAll(w.text, string(wildBlank), " ")
	if b.depth == maxShellDepth || strings.ContainsAny(text, "\x02\x03") {
		mark(&b.script.opaque, "a shell with computed text")
		b.script.commands = append(b.script.commands, unknownCommand(w.raw))
		return
	}
	err := b.err
	if b.read(text, b.depth+1, true) != nil {
		mark(&b.script.opaque, "a shell with text that cannot be read")
		b.script.commands = append(b.script.commands, unknownCommand(w.raw))
	}
	b.err = err
}

// joinWords makes the one text that rules are matched with.
func joinWords(words []word, of func(*word) string) string {
	if len(words) == 1 {
		return of(&words[0])
	}
	size := len(words)
	for i := range words {
		size += len(of(&words[i]))
	}
	var b strings.Builder
	b.Grow(size)
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(of(&words[i]))
	}
	return b.String()
}

func wordText(w *word) string { return w.text }
func wordRaw(w *word) string  { return w.raw }

// wordWild is the text of a word as a rule that narrows must see it: what the
// shell may expand it to.
func wordWild(w *word) string {
	switch {
	case w.brace, w.glob && strings.Contains(w.text, "["):
		return string(wildAny)
	case w.glob:
		return globWild.Replace(w.text)
	}
	return w.text
}

var globWild = strings.NewReplacer("*", string(wildAny), "?", string(wildWord))
