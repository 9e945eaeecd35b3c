package ptable

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tail = " 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 12345 1000 200 18446744073709551615"

func TestParseStat(t *testing.T) {
	want := Proc{ID: ID{PID: 42, Start: 12345}, PPID: 7, PGID: 8, SID: 9, Name: "a"}
	with := func(f func(*Proc)) Proc { p := want; f(&p); return p }
	for _, tc := range []struct {
		name, line string
		want       Proc
		bad        bool
	}{
		{name: "plain", line: "42 (a) S 7 8 9" + tail, want: want},
		{name: "a name with spaces and parentheses", line: "42 (a) Z 1 (b) c) S 7 8 9" + tail,
			want: with(func(p *Proc) { p.Name = "a) Z 1 (b) c" })},
		{name: "zombie", line: "42 (a) Z 7 8 9" + tail, want: with(func(p *Proc) { p.Dead = true })},
		{name: "ended first thread of a living process", line: "42 (a) Z 7 8 9 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 3 0 12345 1000", want: want},
		{name: "exiting", line: "42 (a) R 7 8 9 0 -1 4194308 100 0 0 0 0 0 0 0 20 0 1 0 12345 1000",
			want: with(func(p *Proc) { p.Exiting = true })},
		{name: "empty", line: "", bad: true},
		{name: "cut off", line: "42 (a) S 7 8 9 0 -1", bad: true},
		{name: "no name", line: "42 a S", bad: true},
		{name: "only a name", line: "42 (a)", bad: true},
		{name: "no start", line: "42 (a) S 7 8 9 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 x 1", bad: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := parseStat(42, []byte(tc.line))
			if ok == tc.bad {
				t.Fatalf("parsed: %v", ok)
			}
			if diff := cmp.Diff(tc.want, got); ok && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (a) S 7 8 9" + tail))
	f.Add([]byte("1 (()) Z"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, ok := parseStat(1, line); ok && p.PID != 1 {
			t.Errorf("%+v", p)
		}
	})
}
