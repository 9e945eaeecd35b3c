package permission

import (
	"os"
	"path/filepath"
	"strings"
)

// classifier decides which commands only read, and only in the workspace (SPEC
// table P, first row). It is conservative: a command, a flag or a shape that it
// does not know is not read-only.
type classifier struct {
	workspace *lookup
	// dirs are the directories that relative paths may begin at: the current one, and
	// those that a cd before may have led to.
	dirs []string
	lost bool // a command may have led elsewhere
}

// maxDirs bounds the directories that cds of one command line may combine to.
const maxDirs = 16

func newClassifier(w *lookup) *classifier {
	return &classifier{workspace: w, dirs: []string{w.dir}}
}

// readOnly returns why the command line is not read-only, "" if it is.
func (w *lookup) readOnly(s *script) (why string) {
	switch {
	case s.err != nil:
		return "it cannot be read: " + s.err.Error()
	case s.compound != "":
		return "it has " + s.compound
	case len(s.commands) == 0:
		return "it has no command"
	}
	c := newClassifier(w)
	for i := range s.commands {
		if why := c.command(&s.commands[i]); why != "" {
			return why
		}
	}
	return ""
}

// command returns why the command is not read-only, "" if it is.
func (c *classifier) command(cmd *command) (why string) {
	switch {
	case len(cmd.assigns) > 0:
		return "it has an assignment"
	case len(cmd.redirs) > 0:
		return "it has a redirection"
	case len(cmd.words) == 0:
		return "it has no command"
	case !cmd.words[0].static():
		return "the name of a command is computed"
	case c.lost:
		return "the current directory is not known"
	}
	for i := range cmd.words {
		switch w := &cmd.words[i]; {
		case strings.ContainsAny(w.text, "\x02\x03"):
			return "it has a variable or a substitution"
		case w.brace:
			return "it has a brace expansion"
		}
	}
	name, args := cmd.words[0].text, cmd.words[1:]
	switch name {
	case "cd":
		return c.cd(args)
	case "git":
		return c.git(args)
	}
	k, ok := readOnlyCommand(name)
	if !ok {
		return name + " is not known to be read-only"
	}
	return c.check(name, k, args)
}

// cd takes a change to a directory of the workspace.
func (c *classifier) cd(args []word) (why string) {
	if len(args) != 1 || strings.HasPrefix(args[0].text, "-") || args[0].glob {
		return "cd leads to a directory that is not named"
	}
	if why := c.path(&args[0]); why != "" {
		return why
	}
	c.dirs = c.workspace.changed(c.dirs, &args[0])
	if len(c.dirs) > maxDirs {
		return "it changes the directory too often"
	}
	return ""
}

// changed adds the directories that a cd leads to from dirs. Cd takes .. out of a
// path without following links, as the shell does unless it is told otherwise.
func (w *workspace) changed(dirs []string, to *word) []string {
	for _, dir := range dirs[:len(dirs):len(dirs)] {
		if abs, ok := w.absolute(w.expand(to), dir); ok {
			dirs = append(dirs, filepath.Clean(abs))
		}
	}
	return dirs
}

// expand returns the word with a leading tilde replaced by the home directory. A
// quoted tilde is a name like any other.
func (w *workspace) expand(v *word) string {
	text := strings.ReplaceAll(v.text, string(wildBlank), " ")
	if !v.tilde && strings.HasPrefix(text, "~") {
		return "./" + text
	}
	return text
}

// path returns why the word may name something outside of the workspace.
func (c *classifier) path(v *word) (why string) {
	text := c.workspace.expand(v)
	switch text {
	case "", "-", "/dev/null", "/dev/stdin":
		return ""
	}
	for _, dir := range c.dirs {
		if v.glob {
			matches, ok := c.workspace.glob(text, dir)
			if !ok {
				return text + " matches too much, or what cannot be judged"
			}
			for _, m := range matches {
				if strings.HasPrefix(m.name, "-") {
					return text + " matches a file whose name looks like a flag"
				}
				if !c.workspace.inside(m.target) {
					return m.name + " is outside of the workspace"
				}
			}
			continue
		}
		t, ok := c.workspace.target(text, dir)
		if !ok || !c.workspace.inside(t) {
			return text + " is outside of the workspace"
		}
	}
	return ""
}

// operands says what the arguments of a command that are no flags name.
type operands int

const (
	files         operands = iota
	words                  // text that names no file
	patternOf              // a pattern, unless a flag gives one, and then files
	onlyFlags              // there must be none
	atMostOne              // one file
	noDirectories          // files, none of which may be a directory
	expression             // files, and what find makes of the rest
)

// kind is what is known of a command that can be used to read only.
type kind struct {
	operands operands
	// any accepts every flag: none of them writes, runs a program or reads a file that
	// it does not name as an argument.
	any bool
	// short lists the accepted one-letter flags in the manner of getopt: a colon
	// follows those with a value, # stands for digits.
	short string
	// long lists the accepted long flags; those with a value end in =.
	long string
	// check looks at all arguments for what the lists cannot say.
	check func(args []word) (why string)
}

func readOnlyCommand(name string) (k kind, ok bool) {
	switch name {
	case "ls", "cat", "head", "tail", "nl", "tac", "rev", "od", "hexdump", "strings", "stat", "df", "realpath",
		"readlink", "cmp", "comm", "join", "fold", "expand", "unexpand":
		return kind{any: true}, true
	case "pwd", "true", "false", ":", "whoami", "id", "groups", "uname", "uptime", "free", "echo", "seq", "basename",
		"dirname", "which", "type", "tr":
		return kind{operands: words, any: true}, true
	case "printf", "test", "[":
		return kind{operands: words, any: true, check: noVariable}, true
	case "command":
		return kind{operands: words, short: "vV", check: onlyAsks}, true
	case "ps":
		return kind{operands: words, any: true, check: noEnvironment}, true
	case "hostname":
		return kind{operands: onlyFlags, short: "fsidIA", long: "fqdn short ip-address domain all-ip-addresses"}, true
	case "date":
		return kind{operands: words, short: "uRI::d:r:", long: "utc universal iso-8601= rfc-email rfc-3339= date=", check: dateFormat}, true
	case "grep", "egrep", "fgrep":
		return kind{operands: patternOf, any: true, check: grepFlags}, true
	case "rg":
		return kind{operands: patternOf, any: true, check: ripgrepFlags}, true
	case "find":
		return kind{operands: expression}, true
	case "wc":
		return kind{short: "clLmw", long: "bytes chars lines words max-line-length"}, true
	case "cut":
		return kind{short: "b:c:d:f:nsz", long: "bytes= characters= delimiter= fields= complement only-delimited " +
			"output-delimiter= zero-terminated"}, true
	case "paste":
		return kind{short: "d:sz", long: "delimiters= serial zero-terminated"}, true
	case "column":
		return kind{short: "ts:o:c:xeR:N:", long: "table separator= output-separator="}, true
	case "cksum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum":
		return kind{short: "btz", long: "binary text tag zero"}, true
	case "sort":
		return kind{short: "bdfghiMnRrVcCmsuzk:t:", long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort " +
			"human-numeric-sort ignore-nonprinting month-sort numeric-sort random-sort reverse version-sort check " +
			"merge stable unique zero-terminated key= field-separator= sort="}, true
	case "uniq":
		return kind{operands: atMostOne, short: "cdDuizf:s:w:", long: "count repeated unique ignore-case zero-terminated " +
			"skip-fields= skip-chars= check-chars="}, true
	case "diff":
		return kind{operands: noDirectories, short: "#uUcCqsyiEbwBZatpTdNW:L:", long: "unified context brief report-identical-files " +
			"side-by-side ignore-case ignore-all-space ignore-space-change ignore-blank-lines text color= width= label= " +
			"new-file minimal strip-trailing-cr suppress-common-lines unified= context="}, true
	case "du":
		return kind{short: "shackmbxS0d:t:", long: "summarize human-readable all total bytes max-depth= apparent-size exclude= " +
			"one-file-system threshold= time"}, true
	case "tree":
		return kind{short: "adfhDpugiInCNtrxqsQFJXL:P:", long: "dirsfirst noreport gitignore prune filelimit= filesfirst"}, true
	case "file":
		return kind{short: "bihLNpsrk0", long: "brief mime mime-type mime-encoding no-pad keep-going"}, true
	case "sed":
		return kind{short: "n", long: "quiet silent", check: sedPrints}, true
	}
	return kind{}, false
}

// check tests the arguments of a command.
func (c *classifier) check(name string, k kind, args []word) (why string) {
	if k.check != nil {
		if why := k.check(args); why != "" {
			return name + " " + why
		}
	}
	if k.operands == expression {
		return c.find(args)
	}
	rest, why := k.flags(args)
	if why != "" {
		return name + " " + why
	}
	switch {
	case k.operands == onlyFlags && len(rest) > 0, k.operands == atMostOne && len(rest) > 1:
		return name + " has an operand too many"
	case k.operands == patternOf && !givesPattern(args) && len(rest) > 0:
		rest = rest[1:]
	case name == "sed" && len(rest) > 0:
		rest = rest[1:] // the script
	}
	for i := range rest {
		if k.operands == words && !rest[i].glob {
			continue
		}
		if why := c.path(&rest[i]); why != "" {
			return why
		}
		// Links in a directory that is compared are followed.
		if k.operands == noDirectories && c.directory(&rest[i]) {
			return name + " compares directories"
		}
	}
	if !k.any || k.operands == words {
		return "" // no flag that is accepted names a file
	}
	for i := range args {
		if why := c.flagPath(args[i]); why != "" {
			return why
		}
	}
	return ""
}

// directory reports whether the word is a directory, or may be one.
func (c *classifier) directory(v *word) bool {
	for _, dir := range c.dirs {
		t, ok := c.workspace.target(c.workspace.expand(v), dir)
		if !ok || v.glob {
			return true
		}
		if info, err := os.Stat(t.resolved); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// flagPath returns why a flag may name a file outside of the workspace. A value in
// a word of its own is an operand and tested as such.
func (c *classifier) flagPath(flag word) (why string) {
	name, value, long := strings.Cut(flag.text, "=")
	switch {
	case !strings.HasPrefix(name, "-"):
	case long && strings.HasPrefix(name, "--"):
		return c.path(&word{text: value, glob: flag.glob, tilde: strings.HasPrefix(value, "~")})
	case strings.ContainsAny(flag.text, "/~") || strings.Contains(flag.text, ".."):
		return flag.text + " may name a file"
	}
	return ""
}

// flags parts the operands from the flags and refuses flags that are not known. A
// pattern that begins with a wildcard may match a name that looks like a flag; the
// test of its matches finds that.
func (k kind) flags(args []word) (rest []word, why string) {
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case text == "--":
			return append(rest, args[i+1:]...), ""
		case !strings.HasPrefix(text, "-") || text == "-":
			rest = append(rest, args[i])
		case k.any:
			if args[i].glob && !strings.Contains(text, "=") {
				return nil, "has a flag with a wildcard: " + text
			}
		case args[i].glob:
			return nil, "has a flag with a wildcard: " + text
		case strings.HasPrefix(text, "--"):
			name, _, hasValue := strings.Cut(text[2:], "=")
			plain, withValue := listed(k.long, name)
			switch {
			case !plain && !withValue, hasValue && !withValue:
				return nil, "has the flag " + text
			case withValue && !plain && !hasValue:
				i++ // the value is the next word
			}
		default:
			skip, ok := cluster(k.short, text[1:])
			if !ok {
				return nil, "has the flag " + text
			}
			i += skip
		}
	}
	return rest, ""
}

// listed looks a long flag up. Abbreviations are not accepted.
func listed(long, name string) (plain, withValue bool) {
	for f := range strings.FieldsSeq(long) {
		plain = plain || f == name
		withValue = withValue || f == name+"="
	}
	return plain, withValue
}

// cluster tests one-letter flags that are given together, such as -la. Skip is 1
// if the last one's value is the next word.
func cluster(short, letters string) (skip int, ok bool) {
	for i := 0; i < len(letters); i++ {
		c := letters[i]
		if c >= '0' && c <= '9' && strings.Contains(short, "#") {
			continue
		}
		at := strings.IndexByte(short, c)
		if at < 0 || c == ':' || c == '#' {
			return 0, false
		}
		switch {
		case strings.HasPrefix(short[at+1:], "::"): // an attached value or none
			return 0, true
		case strings.HasPrefix(short[at+1:], ":"):
			if i+1 < len(letters) {
				return 0, true
			}
			return 1, true
		}
	}
	return 0, true
}

// noVariable refuses flags that take the name of a variable: an index in it is
// computed, and may run commands.
func noVariable(args []word) string {
	for i := range args {
		if t := args[i].text; strings.HasPrefix(t, "-v") || strings.HasPrefix(t, "-R") {
			return "names a variable"
		}
	}
	return ""
}

// onlyAsks refuses to run what command is given to run.
func onlyAsks(args []word) string {
	if len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return ""
	}
	return "runs a program"
}

// noEnvironment refuses what makes ps show environments: an e among options
// without a dash.
func noEnvironment(args []word) string {
	for i := range args {
		if t := args[i].text; !strings.HasPrefix(t, "-") && strings.Contains(t, "e") || t == "-E" {
			return "shows environments"
		}
	}
	return ""
}

// dateFormat refuses operands that set the clock.
func dateFormat(args []word) string {
	for i := 0; i < len(args); i++ {
		switch t := args[i].text; {
		case t == "-d" || t == "-r":
			i++
		case t == "" || t[0] != '-' && t[0] != '+':
			return "has an operand that sets the clock"
		}
	}
	return ""
}

// givesPattern reports whether a flag of grep or rg gives the pattern, so that the
// first operand is a file, or may do so.
func givesPattern(args []word) bool {
	for i := range args {
		switch t := args[i].text; {
		case t == "--":
			return false
		case strings.HasPrefix(t, "--"):
			name, _, _ := strings.Cut(t, "=")
			if strings.HasPrefix("--regexp", name) || strings.HasPrefix("--file", name) || name == "--files" || name == "--type-list" {
				return true
			}
		case strings.HasPrefix(t, "-") && strings.ContainsAny(t, "ef"):
			return true
		}
	}
	return false
}

// grepFlags refuses to follow links.
func grepFlags(args []word) string {
	for i := range args {
		switch t := args[i].text; {
		case strings.HasPrefix(t, "--"):
			if name, _, _ := strings.Cut(t, "="); len(name) > 3 && strings.HasPrefix("--dereference-recursive", name) {
				return "follows links"
			}
		case strings.HasPrefix(t, "-") && strings.Contains(t, "R"):
			return "follows links"
		}
	}
	return ""
}

// ripgrepFlags refuses to follow links and to run programs.
func ripgrepFlags(args []word) string {
	for i := range args {
		switch t := args[i].text; {
		case strings.HasPrefix(t, "--pre"), strings.HasPrefix(t, "--hostname-bin"), strings.HasPrefix(t, "--search-zip"):
			return "runs a program"
		case strings.HasPrefix(t, "--follow"):
			return "follows links"
		case strings.HasPrefix(t, "--"):
		case strings.HasPrefix(t, "-") && strings.ContainsAny(t, "Lz"):
			return "follows links or runs a program"
		}
	}
	return ""
}

// sedPrints accepts a script that prints lines by number, and nothing else: sed can
// write files and run commands.
func sedPrints(args []word) string {
	quiet := false
	for i := range args {
		t := args[i].text
		if strings.HasPrefix(t, "-") {
			quiet = quiet || t == "-n" || t == "--quiet" || t == "--silent"
			continue
		}
		if !quiet || args[i].glob || !isLineRange(t) {
			break
		}
		return ""
	}
	return "runs a script that is more than printing lines"
}

// isLineRange reports whether a sed script is of the form 3p, 1,5p or 2,$p.
func isLineRange(script string) bool {
	script, ok := strings.CutSuffix(script, "p")
	from, to, ranged := strings.Cut(script, ",")
	return ok && isLine(from) && (!ranged || isLine(to))
}

func isLine(s string) bool {
	return s == "$" || s != "" && strings.Trim(s, "0123456789") == ""
}

// find tests the arguments of find: where it starts, and what it does.
func (c *classifier) find(args []word) (why string) {
	for i := range args {
		t := args[i].text
		if strings.HasPrefix(t, "-") && !isFindTest(t[1:]) {
			return "find has " + t
		}
		if t == "(" || t == ")" || t == "!" || t == "," || strings.HasPrefix(t, "-") {
			continue
		}
		// Starting points and the values of tests alike: a value that looks like a path
		// outside is refused with it.
		if why := c.path(&args[i]); why != "" {
			return why
		}
	}
	return ""
}

func isFindTest(name string) bool {
	switch name {
	case "name", "iname", "path", "ipath", "wholename", "iwholename", "regex", "iregex", "regextype", "type", "xtype",
		"maxdepth", "mindepth", "size", "mtime", "atime", "ctime", "mmin", "amin", "cmin", "newer", "newermt", "anewer", "cnewer",
		"empty", "perm", "user", "group", "uid", "gid", "nouser", "nogroup", "print", "print0", "printf", "ls", "prune",
		"quit", "not", "a", "and", "o", "or", "depth", "xdev", "mount", "readable", "writable", "executable", "links",
		"inum", "samefile", "true", "false", "daystart", "H", "P", "used", "fstype":
		return true
	}
	// Numbers such as -7 are values: -mtime -7.
	return name != "" && strings.Trim(name, "0123456789.kMGcwb") == "" && name[0] >= '0' && name[0] <= '9'
}
