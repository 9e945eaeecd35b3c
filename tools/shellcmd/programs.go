package shellcmd

import "strings"

// check says whether a program only reads with these arguments; nil stands for
// any arguments.
type check func(args []argument) bool

// readers are the programs that only read, with the arguments that they do so
// with. A program belongs here only if every option that it has in any common
// version has been looked at: options that write a file or run a program are
// excluded, also where they are abbreviated or joined with others.
var readers = map[string]check{
	"basename": nil, "cat": nil, "cksum": nil, "cmp": nil, "comm": nil, "cut": nil, "df": nil,
	"dirname": nil, "du": nil, "echo": nil, "egrep": nil, "expr": nil, "false": nil, "fgrep": nil, "fold": nil,
	"free": nil, "grep": nil, "groups": nil, "head": nil, "id": nil, "join": nil, "ls": nil, "md5sum": nil,
	"nl": nil, "nproc": nil, "od": nil, "paste": nil, "printenv": nil, "ps": nil, "pwd": nil, "readlink": nil,
	"realpath": nil, "rev": nil, "seq": nil, "sha1sum": nil, "sha256sum": nil, "sha512sum": nil, "sleep": nil,
	"stat": nil, "strings": nil, "tac": nil, "tail": nil, "tr": nil, "true": nil, "uname": nil, "uptime": nil,
	"wc": nil, "which": nil, "whoami": nil,

	"date":     onlyFormat,
	"diff":     without("l", "--paginate"),
	"env":      noArguments,
	"file":     without("C", "--compile"),
	"find":     findReads,
	"git":      gitReads,
	"hostname": noArguments,
	"printf":   printfReads,
	"rg":       without("", "--pre", "--hostname-bin", "--search-zip"),
	"sort":     without("o", "--output", "--compress-program"),
	"tree":     without("oR", "--output"),
	"type":     nil,
	"uniq":     oneOperand,
}

func noArguments(args []argument) bool { return len(args) == 0 }

// without allows everything but the given short options, alone or in a cluster,
// and long options, in full or abbreviated.
func without(short string, long ...string) check {
	return func(args []argument) bool {
		for _, a := range args {
			if a.glob || forbidden(a.text, short, long) {
				return false
			}
		}
		return true
	}
}

func forbidden(arg, short string, long []string) bool {
	name, _, _ := strings.Cut(arg, "=")
	switch {
	case strings.HasPrefix(arg, "--"):
		if name == "--" {
			return false
		}
		for _, l := range long {
			if strings.HasPrefix(l, name) {
				return true
			}
		}
	case strings.HasPrefix(arg, "-"):
		return strings.ContainsAny(arg, short)
	}
	return false
}

// onlyFormat allows date to print, not to set: "+format" and options that have
// no value of their own.
func onlyFormat(args []argument) bool {
	for _, a := range args {
		switch {
		case a.glob:
			return false
		case strings.HasPrefix(a.text, "+"), a.text == "-u", a.text == "--utc", a.text == "-R", strings.HasPrefix(a.text, "-I"):
		default:
			return false
		}
	}
	return true
}

// printfReads excludes -v, whose variable may have a subscript that is
// evaluated.
func printfReads(args []argument) bool {
	return len(args) > 0 && !args[0].glob && !strings.HasPrefix(args[0].text, "-")
}

// oneOperand excludes the second file of uniq, which is written.
func oneOperand(args []argument) bool {
	operands := 0
	for _, a := range args {
		if a.glob {
			return false
		}
		if !strings.HasPrefix(a.text, "-") {
			operands++
		}
	}
	return operands <= 1
}

// findReads excludes what find does to or with the files that it finds.
func findReads(args []argument) bool {
	for _, a := range args {
		if a.mayBeOption() {
			return false // a file may be named like an action
		}
		switch a.text {
		case "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls":
			return false
		}
	}
	return true
}

// gitReads allows the subcommands that show, without options that write a file
// or run a program. Options before the subcommand can set any configuration,
// and are excluded but for one.
func gitReads(args []argument) bool {
	if len(args) > 0 && args[0].text == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 {
		return false
	}
	name, rest := args[0].text, args[1:]
	for _, a := range rest {
		if a.mayBeOption() {
			return false
		}
	}
	switch name {
	case "status", "rev-parse", "ls-files", "ls-tree", "describe", "blame", "merge-base", "rev-list":
		return without("", "--output", "--ext-diff", "--textconv", "--contents")(rest)
	case "log", "diff", "show":
		return without("", "--output", "--ext-diff", "--textconv", "--show-signature")(rest)
	case "branch":
		return onlyThese(rest, "-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current")
	case "tag":
		return onlyThese(rest, "-l", "--list")
	case "remote":
		return onlyThese(rest, "-v", "--verbose")
	case "stash":
		return len(rest) == 1 && rest[0].text == "list"
	}
	return false
}

// mayBeOption reports whether the shell may replace the argument by the name of
// a file that looks like an option.
func (a argument) mayBeOption() bool {
	return a.glob && !strings.HasPrefix(a.text, "/") && !strings.HasPrefix(a.text, "./")
}

func onlyThese(args []argument, allowed ...string) bool {
next:
	for _, a := range args {
		for _, ok := range allowed {
			if a.text == ok {
				continue next
			}
		}
		return false
	}
	return true
}
