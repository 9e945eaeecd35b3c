package shellcmd

import "testing"

// SPEC table P: a conservative parse.
func TestReadOnly(t *testing.T) {
	for line, want := range map[string]bool{
		"ls":                              true,
		"ls -la /tmp":                     true,
		"pwd":                             true,
		"cat a.txt 'b c.txt' \"d e\"":     true,
		"ls *.go":                         true,
		"git status":                      true,
		"git --no-pager log --oneline -5": true,
		"git diff HEAD~1 -- a.go":         true,
		"git branch -a":                   true,
		"git stash list":                  true,
		"cat a | grep -n foo | sort -k2 | uniq -c": true,
		"ls && pwd || echo no; whoami":             true,
		"find . -name '*.go' -type f":              true,
		"echo hello\\ world":                       true,
		"date +%s":                                 true,
		"rg -n 'func \\w+' src":                    true,
		"! grep -q x y":                            true,
		"wc -l a.txt # lines":                      true,

		"":                        false,
		"# nothing":               false,
		"rm x":                    false,
		"ls > out":                false,
		"ls 2>/dev/null":          false,
		"cat < in":                false,
		"cat <<E\nE":              false,
		"ls $(rm x)":              false,
		"ls `rm x`":               false,
		"ls $HOME":                false,
		"ls \"$HOME\"":            false,
		"ls \"$(rm x)\"":          false,
		"cat <(rm x)":             false,
		"ls &":                    false,
		"FOO=1 ls":                false,
		"PATH=. ls":               false,
		"(ls)":                    false,
		"{ ls; }":                 false,
		"if ls; then pwd; fi":     false,
		"for i in a; do ls; done": false,
		"ls() { rm x; }; ls":      false,
		"ls |& cat":               false,
		"./ls":                    false,
		"/bin/ls":                 false,
		"l?":                      false,
		"'l's":                    true, // quotes make no difference to the shell
		"$'ls'":                   false,
		"cat {a,b}":               false,
		"cat $((1))":              false,
		"cat 'unclosed":           false,
		"eval ls":                 false,
		"command ls":              false,
		"exec ls":                 false,
		"xargs rm":                false,
		"ls | xargs rm":           false,
		"ls | sh":                 false,
		"sudo ls":                 false,
		"env rm x":                false,
		"env":                     true,
		"tee x":                   false,
		"sed -n p a":              false,
		"awk 1 a":                 false,
		"cd /tmp":                 false,

		"find . -delete":                      false,
		"find . -exec rm {} +":                false,
		"find . -name x -fprint y":            false,
		"diff -l a b":                         false,
		"diff a b":                            true,
		"find ./*.d -name x":                  true,
		"git log --show-sig":                  false,
		"git log *":                           false,
		"find *":                              false,
		"sort -o a b":                         false,
		"sort -ro a b":                        false,
		"sort -oa b":                          false,
		"sort --output=a b":                   false,
		"sort --out a b":                      false,
		"sort --o=a b":                        false,
		"sort --compress-prog=sh b":           false,
		"sort *":                              false,
		"sort -- a":                           true,
		"uniq a b":                            false,
		"uniq -c a":                           true,
		"tree -o x":                           false,
		"file -C -m x":                        false,
		"file --comp":                         false,
		"date -s 2020-01-01":                  false,
		"date 010100002020":                   false,
		"hostname evil":                       false,
		"rg --pre sh x":                       false,
		"rg --pre=sh x":                       false,
		"printf -v 'a[$(rm x)]' x":            false,
		"printf '%s\\n' x":                    true,
		"test -v 'a[$(rm x)]'":                false,
		"[ -v 'a[$(rm x)]' ]":                 false,
		"[[ -f x ]]":                          false,
		"git -c core.pager=sh log":            false,
		"git -C /x status":                    false,
		"git --exec-path=/x status":           false,
		"git":                                 false,
		"git log --output=x":                  false,
		"git log --outp=x":                    false,
		"git diff --ext-diff":                 false,
		"git branch new":                      false,
		"git branch -D x":                     false,
		"git tag v1":                          false,
		"git remote add a b":                  false,
		"git stash":                           false,
		"git push":                            false,
		"git checkout x":                      false,
		"git grep --open-files-in-pager=sh x": false,
		"git config core.pager sh":            false,
	} {
		if got := ReadOnly(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestSilent(t *testing.T) {
	for line, want := range map[string]bool{
		"mkdir a":                 true,
		"mkdir -p a && touch a/b": true,
		"if true; then rm x; fi":  false,
		"mkdir a; ls":             false,
		"mkdir $(echo a)":         false,
		"rm a | cat":              false,
		"":                        false,
		"A=1":                     false,
		"'unclosed":               false,
	} {
		if got := Silent(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// What only reads is made of literal words of known programs, however it is
// written.
func FuzzReadOnly(f *testing.F) {
	for _, s := range []string{"ls -la", "git log | head", "sort -o x", "cat $(x)", "ls \\\n-l", "echo 'a'\"b\"c", "a;b&&c||d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		Silent(line)
		if !ReadOnly(line) {
			return
		}
		calls, ok := simpleCalls(line)
		if !ok || len(calls) == 0 {
			t.Fatalf("%q has no calls", line)
		}
		for _, c := range calls {
			if _, known := readers[c.name]; !known {
				t.Errorf("%q runs %q", line, c.name)
			}
		}
	})
}

func BenchmarkReadOnly(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ReadOnly("git log --oneline -20 | grep -i fix && ls -la src/*.go")
	}
}
