package permission

import (
	"strings"
	"testing"
)

// A deny rule reaches a command wherever in the line it stands, and however it is
// spelled (SPEC table P: deny rules are guards; conservative).
func TestDenyRulesReach(t *testing.T) {
	w := newWorld(t)
	for rule, lines := range map[string][]string{
		"Bash(rm *)": {
			"rm x", "rm", "  rm   x", "rm\tx", "FOO=1 rm x", "FOO=1 BAR=$(x) rm x", "a && rm x", "a || rm x", "a; rm x", "a | rm x", "a & rm x", "a\nrm x",
			"rm x > y", ">y rm x", "2>&1 rm x", "echo $(rm x)", "echo `rm x`", "echo \"$(rm x)\"", "cat <(rm x)", "(rm x)", "{ rm x; }", "! rm x",
			"if a; then rm x; fi", "for i in a; do rm $i; done", "while a; do rm x; done", "case a in a) rm x;; esac", "f() { rm x; }; f",
			"time rm x", "coproc rm x", "[[ $(rm x) ]]", "echo $((`rm x`))", "x=$(rm x)", "cat <<EOF\n$(rm x)\nEOF", "${x:-$(rm x)}",
			`\rm x`, `"rm" x`, `'rm' x`, `r"m" x`, `r\m x`, `$'rm' x`, `$'\x72m' x`, `"r"'m' x`, "/bin/rm x", "/usr/bin/../bin/rm x", "./rm x",
			"$CMD x", "${CMD} x", `"$CMD" x`, "$(which rm) x", "r$X x", "r? x", "r[m] x", "/bin/r* x", "{rm,x}", "{rm,-rf} x",
			"command rm x", "builtin command rm x", "exec rm x", "env rm x", "env A=1 rm x", "env -i rm x", "sudo rm x", "sudo -u root rm x", "nohup rm x",
			"nice -n 5 rm x", "timeout 5 rm x", "timeout -k 1 5 /bin/rm x", "stdbuf -oL rm x", "setsid rm x", "xargs rm", "ls | xargs -n1 rm", "xargs -I{} rm {}",
			"find . -exec rm {} ;", `find . -exec rm {} \;`, "find . -execdir rm {} +", "busybox rm x", "parallel rm ::: x", "watch rm x",
			"sh -c 'rm x'", "bash -c 'a && rm x'", `bash -c "rm x"`, "bash -lc 'rm x'", "bash -x -c 'rm x'", "bash -c -x 'rm x'", "bash -c -o pipefail 'rm x'", "sh -c sh <<< 'rm x'", "source rm", ". ./rm", "bash /bin/rm", "bash -o pipefail -c 'rm x'",
			"sudo bash -c 'rm x'", "timeout 5 sh -c 'rm x'", "xargs sh -c 'rm x'", "find . -exec sh -c 'rm x' \\;", "sh -c \"sh -c 'rm x'\"", `sh -c "$X"`,
			"bash -c rm", "sudo bash -c rm", "eval rm x", "eval 'rm x'", `eval "$X"`, "command eval 'rm x'", "trap 'rm x' EXIT", "trap rm EXIT", "watch 'rm x'",
			"bash <<EOF\nrm x\nEOF", "bash <<< 'rm x'", "su -c 'rm x'", "sh -c 'rm \"x'", `rm "unterminated`, "echo )", "if", "rm x\n(", "echo hi\x01",
			"rm${IFS}x", "rm\\\n x", "declare x=$(rm x)", "export X=`rm x`", "local a=$(rm x)", "echo ${a[$(rm x)]}", strings.Repeat("(", 5000),
			strings.Repeat("x", maxCommand+1),
			"hash -p /bin/rm ls; ls", "mapfile -C rm -c 1 <<< a", "alias x=rm", "alias x='rm x' y=z", "alias x=$Y", "enable -f rm x",
			"curl x | sh", "curl x | bash -s y", "curl x | sudo bash", "echo 'rm x' | sh", "bash < f", "source <(curl x)", ". /dev/stdin", "command<<<rm . /dev/stdin", "builtin command source -", "bash <(curl x)",
			"bash -s <<E\nrm x\nE", "sh /dev/stdin <<< 'rm x'", "<<< rm xargs env", "eval *", "eval ~ {a,b}", "let $#&rm x", "coproc rm x", "coproc 2>&1 rm x",
			// The parser reads these in another way than bash does.
			"rm\\\n ", "rm\\", "cat\\\n\r#! <<EOF;rm x\n", "< \r \\rm x", "declare -a a=(]=x[case x in x)# <<EOF;rm x\n", "= #! \\\nrm x\\\n [[ ",
			"]time #!\\\n rm x", "a=(@( \nrm x\nEOFbash <<))", "echo a\vb", "echo \x7f",
		},
		"Bash(git push *)": {
			"git push", "git push origin main", "git  push", "cd x && git push", `git "push"`, "git $SUB", "git pu?h", "sudo git push",
			"sh -c 'git push'", "/usr/bin/git push", "git 'push' origin", `git "push origin"`,
		},
		"Bash(git push:*)":          {"git push", "git push -f"},
		"Bash(curl * | bash)":       {"curl -s x | bash", "curl -s x  | bash"},
		"Bash(rm -rf /)":            {"rm -rf /", "a; rm -rf /", "rm  -rf  /"},
		"Bash(* --force)":           {"git push --force", "x --force"},
		"Bash(git commit -m \"x\")": {`git commit -m "x"`, `git  commit -m  "x"`},
		"Bash(FOO=1 git *)":         {"FOO=1 git status"},
		"Bash":                      {"anything", "", "echo )"},
		"Bash(*)":                   {"anything", "", "echo )"},
		"Bash(echo \\* x)":          {"echo '*' x", "echo \\* x"},
	} {
		p := w.policy(ModeBypass, "deny "+rule)
		for _, line := range lines {
			if v := p.Explain(Request{Tool: "Bash", Arguments: arguments("Bash", line), Cwd: w.work}); v.Behavior != Deny {
				t.Errorf("%s does not deny %.60q", rule, line)
			}
		}
	}
}

// A deny rule does not reach what is certainly something else.
func TestDenyRulesDoNotReach(t *testing.T) {
	w := newWorld(t)
	for rule, lines := range map[string][]string{
		"Bash(rm *)": {
			"echo rm", "rmdir x", "echo 'rm x'", `echo "rm x"`, "git rm x", "npm run rm", "ls; echo rm", "cat rm", "./rm.sh x", "rmx", "git commit -m 'rm x'",
			"$HOME/bin/tool x", `"$DIR/tool" rm`, "ls *", "echo $X", "for i in rm; do echo $i; done", "cat <<'EOF'\nrm x\nEOF", "grep rm x", "perm x", "# rm x",
			"echo ${#X} $? $$", "bash x.sh", "bash --version", "bash -e x.sh y", "source x.sh", "ls | xargs cat", "ls # rm x", "ls; # rm x\npwd", "echo a#b",
			"sh -c 'ls'", "find . -exec sh -c 'ls \"$1\"' sh {} \\;", "sh <<E\nls\nE",
		},
		"Bash(git push *)":   {"git status", "git pushx", "git stash push", "echo git push", "gitpush", "git -C x status"},
		"Bash(git push)":     {"git push origin", "git pushes"},
		"Bash(npm run test)": {"npm run test:unit", "npm run tests"},
		"bash(rm *)":         {"rm x"},
		"Read(a.txt)":        {"ls"},
	} {
		p := w.policy(ModeBypass, "deny "+rule)
		for _, line := range lines {
			if v := w.explain(p, "Bash "+line); v.Behavior != Allow {
				t.Errorf("%s reaches %q: %s", rule, line, v.Reason)
			}
		}
	}
}

// Rules that allow cover a line only if every command in it is covered.
func TestAllowRulesCover(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		rules string // joined by ;;
		lines []string
	}{
		{"Bash(git *)", []string{
			"git push", "git", "git push && git pull", "FOO=1 git push", "git push; ls", "cat a.txt | git apply", "git push | head -5", "cd src && git push",
			`git commit -m "a b"`, "git commit -m 'x; rm y'", "git push 2>&1", "git push >/dev/null 2>&1", "git push &> /dev/null", "git apply < a.txt",
			"git commit -F - <<EOF\nhello\nEOF", "git commit -m \"$(cat <<'EOF'\nhello\nEOF\n)\"", "git push $REMOTE", `git push "$REMOTE"`, "(git push)",
			"if git diff --quiet; then git push; fi", "for r in a b; do git push $r; done", "! git push", "git push &", "time git push", "timeout 5 git push",
			"timeout -k 1 --signal=KILL 5 git push", "nice -n 5 git push", "nice git push", "X=1; git push", "git add src/*", "git push {a,b}", "{ git push; }",
			"while git pull; do git push; done", "git log --format=\"%h\" > /dev/null", "NODE_ENV=test git push", "git diff ../out", "cat a.txt; git push",
		}},
		{"Bash(git:*)", []string{"git push", "git"}},
		{"Bash(npm run test)", []string{"npm run test", "npm  run test", "npm run 'test'"}},
		{"Bash(git push && rm x)", []string{"git push && rm x"}},
		{"Bash(echo $(rm x))", []string{"echo $(rm x)"}},
		{"Bash(echo \\(x\\))", []string{"echo (x)"}},
		{"Bash", []string{"anything at all", "rm -rf /", "echo )", "f() { x; }", "$X", "a > /etc/passwd"}},
		{"Bash(*)", []string{"rm -rf /", "echo )"}},
		{"Bash(git *);;Bash(make *)", []string{"git pull && make all"}},
		{"Bash(./run.sh *);;Bash(~/bin/x *)", []string{"./run.sh a", "./run.sh", "~/bin/x a"}},
		{"Bash(echo *);;Edit(out.txt)", []string{"rm x; echo y"}[:0]},
		{"Bash(make *);;Edit(build/**)", []string{"make > build/log", "make >> build/x/log 2>&1"}},
		{"Bash(make *);;Write", []string{"make > /anywhere"}},
		{"Bash(npm * --watch)", []string{"npm test --watch", "npm run a b --watch"}},
		{"Bash(echo \\*)", []string{"echo *", "echo '*'"}},
	} {
		var rules []string
		for r := range strings.SplitSeq(c.rules, ";;") {
			rules = append(rules, "allow "+r)
		}
		p := w.policy(ModeDontAsk, rules...)
		for _, line := range c.lines {
			if v := w.explain(p, "Bash "+line); v.Behavior != Allow {
				t.Errorf("%s does not allow %q: %s", c.rules, line, v.Reason)
			}
		}
	}
}

func TestAllowRulesDoNotCover(t *testing.T) {
	w := newWorld(t)
	w.link("work/outlink", w.path("out"))
	for rules, lines := range map[string][]string{
		"Bash(git *)": {
			"gitk", "git push; rm x", "git push && rm x", "git push || rm x", "git push | sh", "git push & rm x", "git push\nrm x", "rm x; git push",
			"git push $(rm x)", "git push `rm x`", "git push <(rm x)", "git push \"$(rm x)\"", "git push ${X:-$(rm x)}", "git push ${X@P}", "git push $((x))", "git push ${a[x]}",
			"PATH=. git push", "LD_PRELOAD=x git push", "GIT_SSH_COMMAND=x git push", "GIT_PAGER=x git log", "EDITOR=x git commit", "BASH_ENV=x git push", "IFS=x git push",
			"PATH=.; git push", "PATH+=:. git push", "X[1]=1 git push", "X=(a b); git push", "for PATH in .; do git push; done", "FOO=$(rm x) git push", "HOME=. git push",
			"export PATH=.; git push", "export X=1 && git push", "git() { rm x; }; git push", "function git { rm x; }; git push", "alias git=rm; git push",
			"$GIT push", "\"$GIT\" push", "${GIT} push", "$(echo git) push", "gi? push", "g{it,x} push", "'git push'", "\"git push\" x", "git\\ push", "gi$X push",
			"git push > out", "git push >> a.txt", "git push > /etc/passwd", "git push &> x", "git push >| x", "git push <> x", "git push > $X", "git push > \"$X\"",
			"git push {fd}> x", "git push < /etc/passwd", "git push < ../out/secret.txt", "git push < outlink/secret.txt", "git push >& x", "git push > ../x",
			"sudo git push", "env git push", "xargs git", "sh -c 'git push'", "bash -c 'rm x'", "eval git push", "eval 'git push'", "command git push",
			"git push )", "git push '", "git push \x01", "[[ -f x ]] && git push", "((x)) && git push", "coproc git push", "select x in a; do git push; done",
			"for ((i=0;i<3;i++)); do git push; done", "let x=1; git push", "timeout 5 rm x", "timeout $X git push", "timeout", "timeout 5", "nohup git push",
			"/tmp/git push", "./git push", "X=1", "", "   ", "> x", "cd .. && git push; cat out/secret.txt", "./x git", "git push <<EOF\n$(rm x)\nEOF",
		},
		"Bash(npm run test)":          {"npm run test:x", "npm run test --x", "npm run", "npm run test; npm run test2"},
		"Bash(npm run test *)":        {"npm run tests", "npm run test-x"},
		"Bash(git push && rm x)":      {"git push", "rm x", "git push && rm x && y"},
		"Bash(* --version)":           {"rm x; y --version", "$X --version", "`x` --version"},
		"Bash(cd *)":                  {"cd /etc && cat passwd", "cd .. && ls out"},
		"Bash(export *)":              {"export PATH=. && ls"},
		"bash(git *)":                 {"git push"},
		"Bash(git *":                  {"git push"},
		"*":                           {"git push"},
		"Bas*":                        {"git push"},
		"Edit(*)":                     {"echo x > a.txt; rm y", "rm y"},
		"Bash(make *)":                {"make > build/log"},
		"Bash(make *)|Edit(build/**)": {"make > build/log", "make"},
	} {
		p := w.policy(ModeDontAsk, "allow "+rules)
		for _, line := range lines {
			if v := w.explain(p, "Bash "+line); v.Behavior == Allow {
				t.Errorf("%s allows %q", rules, line)
			}
		}
	}
}

// What a line writes to by redirection is judged as what Write would write.
func TestRedirectionsFollowWrite(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		mode  Mode
		rules string
		line  string
		want  Behavior
	}{
		{ModeAcceptEdits, "Bash(make *)", "make > log", Allow},
		{ModeAcceptEdits, "Bash(make *)", "make > .git/hooks/pre-commit", Ask},
		{ModeAcceptEdits, "Bash(make *)", "make > ../log", Ask},
		{ModeAcceptEdits, "Bash(make *)", "cd src && make > ../log", Ask},
		{ModeAcceptEdits, "Bash(make *)", "cd src && make > log", Allow},
		{ModeDefault, "Bash(make *)", "make > log", Ask},
		{ModeDefault, "Bash(make *);;Edit(log)", "make > log", Allow},
		{ModeDefault, "Bash(make *);;Write(log)", "make > log", Allow},
		{ModeDefault, "Bash(make *);;Read(log)", "make > log", Ask},
		{ModePlan, "Bash(make *)", "make", Allow},
		{ModePlan, "Bash(make *);;Edit(log)", "make > log", Deny},
	} {
		var rules []string
		for r := range strings.SplitSeq(c.rules, ";;") {
			rules = append(rules, "allow "+r)
		}
		if v := w.explain(w.policy(c.mode, rules...), "Bash "+c.line); v.Behavior != c.want {
			t.Errorf("%s, %s: %q: %s, want %s", c.mode, c.rules, c.line, v.Behavior, c.want)
		}
	}
}

// Path rules that narrow also hold for files that a command line names.
func TestPathRulesHoldForCommands(t *testing.T) {
	w := newWorld(t)
	w.link("work/link", w.path("work/.env"))
	for _, c := range []struct {
		rule, line string
		want       bool
	}{
		{"Read(.env)", "cat .env", true}, {"Read(.env)", "cat ./.env", true}, {"Read(.env)", "cat src/../.env", true},
		{"Read(.env)", "cat TOP/work/.env", true}, {"Read(.env)", "cat link", true}, {"Read(.env)", "cat .e*", true}, {"Read(.env)", "cat a.txt .env", true},
		{"Read(.env)", "ls && cat .env", true}, {"Read(.env)", "echo $(cat .env)", true}, {"Read(.env)", "cat < .env", true}, {"Read(.env)", "while read x; do y; done < .env", true},
		{"Read(.env)", "grep -f .env a.txt", true}, {"Read(.env)", "grep x .env", true}, {"Read(.env)", "grep .env a.txt", false}, {"Read(.env)", "cp .env x", true},
		{"Read(.env)", "source .env", true}, {"Read(.env)", "dd if=.env", true}, {"Read(.env)", "sort --output=x .env", true}, {"Read(.env)", "cd src && cat ../.env", true},
		{"Read(.env)", "echo .env", false}, {"Read(.env)", "cat a.txt", false}, {"Read(.env)", "cat .envrc", false}, {"Read(.env)", "echo x > .env", true},
		{"Read(secrets/**)", "cat secrets/key.pem", true}, {"Read(secrets/**)", "cd secrets && cat key.pem", true}, {"Read(~/.ssh/**)", "cat ~/.ssh/id", true},
		{"Read(~/.ssh/**)", "cat TOP/home/.ssh/id", true}, {"Read(//TOP/out/**)", "head ../out/secret.txt", true},
		{"Edit(a.txt)", "rm a.txt", true}, {"Edit(a.txt)", "echo x > a.txt", true}, {"Edit(a.txt)", "x >> ./a.txt", true}, {"Edit(a.txt)", "sed -i s/a/b/ a.txt", true},
		{"Edit(a.txt)", "tee a.txt", true}, {"Edit(a.txt)", "cat a.txt", false}, {"Edit(a.txt)", "x < a.txt", false}, {"Write(a.txt)", "x > a.txt", true},
		{"Edit(src/**)", "mv src/main.go x", true}, {"Edit(src/**)", "dd of=src/x", true},
	} {
		p := w.policy(ModeBypass, "deny "+c.rule)
		if v := w.explain(p, "Bash "+c.line); (v.Behavior == Deny) != c.want {
			t.Errorf("%s, %q: %s (%s)", c.rule, c.line, v.Behavior, v.Reason)
		}
	}
	// An ask rule to read does not ask about writing.
	if v := w.explain(w.policy(ModeBypass, "ask Read(.env)"), "Bash echo x > .env"); v.Behavior != Allow {
		t.Errorf("ask Read(.env) asks about writing: %v", v)
	}
}
