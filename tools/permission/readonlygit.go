package permission

import "strings"

// git returns why a git command is not read-only, "" if it is. Of what git can
// run by its configuration (fsmonitor, external diffs, text converters) nothing is
// seen here; the configuration is protected from being written instead
// ([target.protected]).
func (c *classifier) git(args []word) (why string) {
	// Before the subcommand.
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch args[0].text {
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs":
			args = args[1:]
		case "--version":
			return ""
		case "-C":
			if len(args) < 2 || args[1].glob {
				return "git -C names no directory"
			}
			inner := *c
			if why := inner.cd(args[1:2]); why != "" {
				return why
			}
			return inner.git(args[2:])
		default:
			return "git has the flag " + args[0].text
		}
	}
	if len(args) == 0 {
		return ""
	}
	name, args := args[0].text, args[1:]
	k, ok := gitCommand(name)
	if !ok {
		return "git " + name + " is not known to be read-only"
	}
	if why := gitForm(name, args); why != "" {
		return "git " + name + " " + why
	}
	rest, why := k.flags(args)
	if why != "" {
		return "git " + name + " " + why
	}
	if name == "grep" && len(rest) > 0 && !givesPattern(args) {
		rest = rest[1:]
	}
	for i := range rest {
		if why := c.path(&rest[i]); why != "" {
			return why
		}
	}
	if !k.any {
		return ""
	}
	for i := range args {
		if why := c.flagPath(args[i]); why != "" {
			return why
		}
	}
	return ""
}

// Flags of the commands that show history and differences. Not among them:
// --output (writes), --ext-diff and --textconv (run programs), --no-index (reads
// any file), -O (reads a file).
const (
	gitDiffShort = "#pusUabwBMCDRzlS:G:Wn:iEPFL:t"
	gitDiffLong  = "patch no-patch unified= raw numstat shortstat stat stat= compact-summary dirstat summary name-only " +
		"name-status color color= no-color word-diff word-diff= word-diff-regex= color-words ignore-all-space ignore-space-change " +
		"ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol minimal patience histogram diff-algorithm= cached staged " +
		"merge-base exit-code quiet find-renames find-renames= find-copies find-copies= no-renames diff-filter= text " +
		"function-context inter-hunk-context= abbrev abbrev= full-index no-ext-diff no-textconv submodule submodule= relative " +
		"pickaxe-all pickaxe-regex no-prefix src-prefix= dst-prefix= check binary irreversible-delete"
	gitLogLong = " oneline graph decorate decorate= no-decorate pretty pretty= format= date= relative-date all branches branches= " +
		"tags tags= remotes remotes= max-count= skip= since= after= until= before= author= committer= grep= all-match " +
		"invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp merges no-merges first-parent follow " +
		"full-history simplify-merges ancestry-path topo-order date-order author-date-order reverse left-right " +
		"left-only right-only cherry-pick cherry-mark cherry boundary no-walk show-signature notes no-notes " +
		"abbrev-commit no-abbrev-commit parents children source count walk-reflogs summary numbered email group="
)

func gitCommand(name string) (k kind, ok bool) {
	switch name {
	case "status", "rev-parse", "ls-files", "ls-tree", "describe", "merge-base", "name-rev", "show-ref", "for-each-ref",
		"count-objects", "check-ignore", "version":
		return kind{any: true}, true
	case "diff":
		return kind{short: gitDiffShort, long: gitDiffLong}, true
	case "log", "show", "whatchanged", "shortlog", "reflog", "rev-list", "stash":
		return kind{short: gitDiffShort + "gces", long: gitDiffLong + gitLogLong}, true
	case "diff-tree", "diff-index", "diff-files":
		return kind{short: gitDiffShort + "rmcv", long: gitDiffLong + " root"}, true
	case "blame", "annotate":
		return kind{short: "bcelnfpswtML:C", long: "porcelain line-porcelain incremental show-name show-number show-email date= " +
			"since= abbrev= first-parent color-lines color-by-age"}, true
	case "cat-file":
		return kind{short: "tspe"}, true
	case "grep":
		return kind{short: "#invwlLcEGPFhHqoraIzA:B:C:e:W", long: "line-number ignore-case invert-match word-regexp files-with-matches " +
			"files-without-match count extended-regexp basic-regexp perl-regexp fixed-strings cached untracked " +
			"heading break only-matching all-match and or not max-depth= recursive no-recursive context= " +
			"after-context= before-context= function-context show-function color= no-color column"}, true
	case "branch":
		return kind{short: "arvli", long: "all remotes verbose list show-current contains no-contains merged no-merged points-at= " +
			"sort= format= column no-column color= no-color ignore-case abbrev= no-abbrev"}, true
	case "tag":
		return kind{short: "#lin", long: "list contains no-contains merged no-merged points-at= sort= format= column no-column color= " +
			"no-color ignore-case"}, true
	case "remote":
		return kind{short: "v", long: "verbose all push"}, true
	case "config":
		return kind{short: "lz", long: "get get-all get-regexp list show-origin show-scope global local system worktree name-only null " +
			"type= bool int path default="}, true
	case "worktree":
		return kind{short: "vz", long: "porcelain verbose"}, true
	}
	return kind{}, false
}

// gitForm refuses forms of a subcommand that write, as far as flags do not tell.
func gitForm(name string, args []word) (why string) {
	first, lists := "", false
	count := 0 // operands
	for i := range args {
		t := args[i].text
		if !strings.HasPrefix(t, "-") {
			if count++; count == 1 {
				first = t
			}
			continue
		}
		flag, _, _ := strings.Cut(t, "=")
		switch flag {
		case "-l":
			lists = lists || name != "branch" // which made a branch of it once
		case "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at",
			"--get", "--get-all", "--get-regexp":
			lists = true
		}
	}
	switch name {
	case "branch", "tag":
		if count > 0 && !lists {
			return "makes a " + name
		}
	case "config":
		if !lists && (first != "get" && first != "list" || count > 2) {
			return "may set a value"
		}
	case "remote":
		if count > 0 && first != "get-url" {
			return "may change a remote"
		}
	case "stash":
		if len(args) == 0 || args[0].text != "list" && args[0].text != "show" {
			return "changes the stash"
		}
	case "reflog":
		if first != "" && first != "show" && first != "list" && first != "exists" {
			return "may change the reflog"
		}
	case "worktree":
		if len(args) == 0 || args[0].text != "list" {
			return "may change a worktree"
		}
	}
	return ""
}
