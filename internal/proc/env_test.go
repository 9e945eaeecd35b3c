package proc

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// R-2, Z-20
func TestEnvList(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("PWD and the case of names differ on Windows")
	}
	for _, tc := range []struct {
		name string
		env  Env
		dir  string
		want []string
	}{
		{name: "nothing is ambient", env: Env{}, want: []string{}},
		{
			name: "secrets are removed in any case and at any place",
			env: Env{Base: []string{"PATH=/bin", "OPENAI_API_KEY=1", "aws_secret_access=2", "GithubToken=3",
				"DB_PassWord_FILE=4", "MONKEY=5", "TOK=6", "HOME=/h"}},
			want: []string{"PATH=/bin", "TOK=6", "HOME=/h"},
		},
		{
			name: "inherit keeps them",
			env:  Env{Base: []string{"API_KEY=1", "A=b"}, Inherit: true},
			want: []string{"API_KEY=1", "A=b"},
		},
		{
			name: "trusted entries are never removed",
			env:  Env{Base: []string{"API_KEY=ambient"}, Set: []string{"API_KEY=handed"}, Drop: []string{"API_KEY"}},
			want: []string{"API_KEY=handed"},
		},
		{
			name: "drop by name and by prefix, also under inherit",
			env: Env{Base: []string{"DSH_A=1", "DSH=2", "XDSH_A=3", "CLAUDE=4", "CLAUDECODE=5"}, Inherit: true,
				Drop: []string{"DSH_*", "CLAUDE"}},
			want: []string{"DSH=2", "XDSH_A=3", "CLAUDECODE=5"},
		},
		{
			name: "the last entry of a name counts, at the place of the first",
			env:  Env{Base: []string{"A=1", "B=2", "A=3"}, Set: []string{"B=4", "C=5", "C=6"}},
			want: []string{"A=3", "B=4", "C=6"},
		},
		{
			name: "PWD follows the directory", dir: "/tmp",
			env:  Env{Base: []string{"PWD=/old", "A=1"}},
			want: []string{"PWD=/tmp", "A=1"},
		},
		{
			name: "PWD of the caller counts", dir: "/tmp",
			env:  Env{Set: []string{"PWD=/mine"}},
			want: []string{"PWD=/mine"},
		},
		{
			name: "values are kept as they are, what is no entry is left out",
			env:  Env{Base: []string{"A=x=y ", "B=", "noequals", "=x", "Z=\x00"}},
			want: []string{"A=x=y ", "B="},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.env.List(tc.dir)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookupEnv(t *testing.T) {
	list := []string{"A=1", "PATHS=no", "PATH=/bin:/x=y"}
	if got := lookupEnv(list, "PATH"); got != "/bin:/x=y" {
		t.Errorf("PATH is %q", got)
	}
	if got := lookupEnv(list, "NONE"); got != "" {
		t.Errorf("NONE is %q", got)
	}
}

func BenchmarkEnvList(b *testing.B) {
	b.ReportAllocs()
	base := make([]string, 60)
	for i := range base {
		base[i] = "VARIABLE_" + string(rune('A'+i)) + "=some value of a common length"
	}
	env := Env{Base: base, Set: []string{"A=1", "B=2"}}
	for b.Loop() {
		env.List("/tmp")
	}
}
