package permission

import (
	"strings"
	"testing"
)

// SPEC table P, first row: command lines that only read, in the workspace.
func TestReadOnly(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace(w.path("extra")).lookup()
	for _, line := range []string{
		"ls", "ls -la src", "pwd", "cat a.txt", "cat -- a.txt", "cat src/../a.txt", "cat ./a.txt src/main.go", "cat TOP/work/a.txt",
		"cat TOP/extra/e.txt", "cat new-file", "cat 'a.txt'", `cat "a.txt"`, `cat a\.txt`, "cat a.txt | head -5 | wc -l",
		"cat a.txt && ls; pwd || true", "ls\npwd", "ls; ", "cat *.txt", "ls src/*", "wc -l src/*.go", "cat -",
		"grep -rn foo .", "grep -rn '/api/v1' src", "grep foo a.txt /dev/null", "grep -e foo a.txt", "grep -A 3 foo a.txt",
		"grep -E 'a|b' a.txt", "grep --include=*.go -r foo", "rg foo src", "rg -n 'x.*y' -g '*.go'", "rg --files src",
		"find . -name '*.go'", "find src -type f -mtime -7 -not -path './x/*'", `find . \( -name a -o -name b \) -print0`,
		"find . -maxdepth 2 -size +10k", "head -n 5 a.txt", "head -5 a.txt", "tail -f a.txt", "sort -k 2 -rn a.txt", "sort -u a.txt",
		"uniq -c a.txt", "cut -d / -f 1 a.txt", "cut -d/ -f1 a.txt", "tr a-z A-Z", "echo hello", "echo 'rm -rf /'", "printf '%s\\n' x",
		"date", "date +%s", "date -u '+%Y-%m-%d'", "date -d yesterday", "stat a.txt", "file a.txt", "du -sh src", "df -h", "tree -L 2 src",
		"diff -u a.txt src/main.go", "md5sum a.txt", "sed -n 1,5p a.txt", "sed -n '3p' a.txt", "basename /etc/passwd", "dirname /a/b",
		"which git", "type ls", "command -v go", "whoami", "id", "uname -a", "hostname", "ps aux", "true", ":", "test -f a.txt",
		"[ -f a.txt ] && cat a.txt", "cd src && ls", "cd src && cat main.go", "cd src && cat ./sub/x.go", "! grep -q x a.txt",
		"git", "git status", "git status -sb", "git log --oneline -5", "git log -n 3 --pretty=format:%h", "git diff", "git diff HEAD~1 -- src",
		"git diff main..feature", "git diff --stat --cached", "git show HEAD", "git show HEAD:a.txt", "git branch", "git branch -a",
		"git branch --list 'x*'", "git branch --contains HEAD", "git tag", "git tag -l 'v*'", "git remote -v", "git remote get-url origin",
		"git rev-parse HEAD", "git ls-files src", "git blame -L 1,5 a.txt", "git stash list", "git config --get user.name",
		"git config --list", "git config get user.name", "git reflog", "git reflog show", "git worktree list", "git --no-pager log",
		"git -C src status", "git grep -n foo", "git grep '/api'", "git describe --tags", "git cat-file -p HEAD", "git shortlog -s",
	} {
		if why := ws.readOnly(parseScript(w.expand(line))); why != "" {
			t.Errorf("%q is not read-only: %s", line, why)
		}
	}
}

// SPEC table P: whatever is not known to read only, is not taken to.
func TestNotReadOnly(t *testing.T) {
	w := newWorld(t)
	w.link("work/link", w.path("out/secret.txt"))
	w.link("work/dirlink", w.path("out"))
	w.link("work/rel", "../out/secret.txt")
	w.file("work/globs/-flag")
	w.link("work/globs/z.txt", w.path("out/secret.txt"))
	ws := w.workspace().lookup()
	for _, line := range []string{
		"", "   ", "# nothing", "rm a.txt", "npm test", "python -c 1", "make", "./ls", "/bin/ls", "src/ls",
		// Redirections, substitutions, variables.
		"ls > out", "ls >> out", "ls > /dev/null", "ls 2>&1", "cat < a.txt", "cat <<EOF\nx\nEOF", "cat <<< x", "ls &> x",
		"cat $(echo a)", "cat `echo a`", "cat <(ls)", "echo $(rm x)", "echo `rm x`", "cat $FILE", "echo ${X:-$(rm x)}", "echo $((1+1))",
		"echo $HOME", `cat "$X"`, "cat a$IFS$9b", "FOO=1 ls", "FOO=1", "export X=1", "LD_PRELOAD=x ls", "cat {a,b}.txt", "cat {1..3}",
		// Shapes.
		"ls &", "(ls)", "{ ls; }", "if true; then ls; fi", "for f in a b; do ls; done", "while true; do ls; done", "ls() { rm x; }; ls",
		"[[ -f a ]]", "((1))", "let x=1", "time ls", "coproc ls", "case x in x) ls;; esac", "ls && rm x", "ls | xargs rm", "ls; rm x",
		"ls\nrm x", "ls || rm x", "cat a.txt | tee b", "cat a.txt | sh", "eval ls", "exec ls", "command ls", "builtin echo", "env",
		"env ls", "xargs ls", "sh -c ls", "bash x.sh", "sudo ls", ". a.txt", "source a.txt", "l\\s -x | rm", "$X", "\"$X\" a", "l? a.txt",
		"ls \"unterminated", "ls )", "ls '", "ls $(", "ls \x01",
		// Outside of the workspace.
		"cat /etc/passwd", "cat ../out/secret.txt", "cat TOP/out/secret.txt", "ls /", "ls ..", "ls ~", "cat ~/.ssh/id", "cat ~root/x",
		"cat src/../../out/secret.txt", "cat link", "cat rel", "cat dirlink/secret.txt", "ls dirlink", "cat src/../link", "ls dirlink/*",
		"cat globs/*.txt", "cat link*", "cat ../out/*", "ls /*", "cat [a]*", "grep -r x ..", "grep -f /etc/passwd a.txt", "grep -f/etc/passwd a.txt",
		"grep --file=/etc/passwd a.txt", "grep -re x /etc", "grep -e x /etc/passwd", "grep --regexp=x /etc/passwd", "rg --files /etc",
		"rg --ignore-file=/etc/x y", "find / -name x", "find .. -name x", "find . -newer /etc/passwd", "head -n5 /etc/passwd",
		"wc -l /etc/passwd", "cd /tmp", "cd ..", "cd", "cd -", "cd ~", "cd $X", "cd src && cat ../../out/secret.txt", "cd src; cd ..; cat ../out/x",
		"cd dirlink && cat secret.txt", "cd src && cd sub && cat ../../../out/x", "diff a.txt /etc/passwd", "sort /etc/passwd",
		"git -C .. status", "git -C / log", "git diff --no-index /etc/passwd a.txt", "git log -- ../out", "git grep x -- /etc",
		"ls --ignore=/x/../..", "tail /dev/sda", "cat /proc/self/environ", "cat '~'/../../out/secret.txt",
		// Flags that write, run programs or follow links.
		"find . -delete", "find . -exec rm {} ;", "find . -exec rm {} +", `find . -execdir rm {} \;`, `find . -ok rm {} \;`, "find . -fprint x",
		"find . -fprintf x y", "find . -fls x", "find -L . -name x", "find . -follow", "find . -files0-from a.txt", "sort -o b a.txt",
		"sort --output=b a.txt", "sort -ob a.txt", "sort --outp=b a.txt", "sort -T /tmp a.txt", "sort --compress-program=x a.txt", "sort -uo b a.txt",
		"uniq a.txt b.txt", "uniq -f 1 a.txt b.txt", "tree -o x", "tree -R", "tree -l", "grep -R x .", "grep -rR x .", "grep --dereference-recursive x .",
		"grep --deref x .", "rg --pre=x y", "rg --pre x y", "rg -L x", "rg --follow x", "rg -z x", "rg --hostname-bin=x y", "date -s now",
		"date --set=now", "date 01010000", "date -f a.txt", "hostname evil", "hostname -F a.txt", "file -C -m a.txt", "file -f a.txt", "du -L .",
		"du --files0-from=a.txt", "diff -r src src", "diff src globs", "sed -i s/a/b/ a.txt", "sed s/a/b/ a.txt", "sed -n 'w x' a.txt", "sed -n '1e id' a.txt",
		"sed -n 1p -i a.txt", "sed -ni 1p a.txt", "sed -n -e 1p a.txt", "sed -n -f a.txt", "sed 1p", "printf -v 'a[$(id)]' x", "test -v 'a[$(id)]'",
		"[ -v x ]", "md5sum -c a.txt", "wc --files0-from=a.txt", "ps e", "ps auxe", "ps axeww", "base64 -o x", "xxd -r a b", "awk '{print}' a.txt",
		"command rm x", "command -p rm", "rg x *", "cat globs/*", "tee x", "touch x", "mkdir x", "less a.txt", "jq . a.txt", "history",
		// Git.
		"git push", "git commit -m x", "git checkout x", "git reset", "git add .", "git branch new", "git branch -D x", "git branch -d x", "git branch -m a b",
		"git branch -v new", "git branch -l new", "git branch --edit-description", "git branch -u x", "git tag v1", "git tag -d v1", "git tag -a v1 -m x", "git tag -n5 v1",
		"git remote add a b", "git remote rm a", "git remote set-url a b", "git remote show origin", "git remote update", "git stash", "git stash pop",
		"git stash drop", "git stash -p list", "git config user.name x", "git config --unset x", "git config --global x y", "git config -f a.txt --get x",
		"git config --get x --file=/etc/x", "git config set a b", "git config get a b c", "git config --edit", "git reflog expire", "git reflog delete x", "git worktree add x",
		"git -c core.pager=x log", "git -c alias.x=!sh x", "git --exec-path=x log", "git --git-dir=x log", "git -p log", "git log --output=x",
		"git log --outpu=x", "git diff --output x", "git diff --ext-diff", "git diff -Ox", "git log --textconv", "git grep -O x", "git grep --open-files-in-pager=x y",
		"git grep -f a.txt", "git cat-file --textconv x", "git cat-file --batch", "git fetch", "git pull", "git clone x", "git x", "git help log", "git bisect log",
		"git submodule foreach rm", "git diff ../out", "git rev-list --disk-usage --output=x", "git -C $X status", "git $X", "g\\it push", "git show --format=%h --ext-diff",
	} {
		if why := ws.readOnly(parseScript(w.expand(line))); why == "" {
			t.Errorf("%q is read-only", line)
		}
	}
}

// A session without a working directory has no workspace.
func TestReadOnlyNowhere(t *testing.T) {
	ws := newWorkspace("", "", "", "", nil, false).lookup()
	for line, want := range map[string]bool{"pwd": true, "git status": true, "echo x": true, "cat a.txt": false, "cat /etc/passwd": false, "ls *": false} {
		if got := ws.readOnly(parseScript(line)) == ""; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// The reason names what is in the way.
func TestReadOnlyReasons(t *testing.T) {
	ws := newWorld(t).workspace().lookup()
	for line, want := range map[string]string{
		"npm test":        "npm is not known to be read-only",
		"ls > x":          "it has a redirection",
		"cat /etc/passwd": "/etc/passwd is outside of the workspace",
		"find . -delete":  "find has -delete",
		"git push":        "git push is not known to be read-only",
		"sort -o x":       "sort has the flag -o",
		"ls 'x":           "cannot be read",
	} {
		if why := ws.readOnly(parseScript(line)); !strings.Contains(why, want) {
			t.Errorf("%q: %q, want %q", line, why, want)
		}
	}
}
