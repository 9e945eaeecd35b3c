package proc

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Env says what environment a child gets: Base without the names that look
// like secrets and without those dropped, then the entries of Set (R-2, Z-20).
type Env struct {
	// Base is the ambient environment, usually os.Environ(). Nothing is taken
	// from the caller's environment unless it is in here.
	Base []string
	// Inherit keeps the names of Base that look like secrets.
	Inherit bool
	// Drop are names that are removed from Base, also under Inherit. A name
	// that ends in "*" stands for every name that begins so.
	Drop []string
	// Set are trusted "NAME=value" entries. They override Base and each other
	// in order, and are never removed.
	Set []string
}

// secretWords mark the names that are removed (Z-20).
var secretWords = [...]string{"KEY", "SECRET", "TOKEN", "PASSWORD"}

// Secret reports whether the name of an environment variable looks like that
// of a secret: it contains KEY, SECRET, TOKEN or PASSWORD in any case (Z-20).
func Secret(name string) bool {
	for _, word := range secretWords {
		if containsFold(name, word) {
			return true
		}
	}
	return false
}

// List returns the entries for a child that runs in dir: one for each name, in
// the order in which the names first appear. If dir is an absolute path, PWD
// is set to it unless Set has its own. Entries without a name or with a zero
// byte are left out.
func (e *Env) List(dir string) []string {
	list := make([]string, 0, len(e.Base)+len(e.Set)+2)
	at := make(map[string]int, cap(list))
	put := func(name, entry string) {
		if foldNames {
			name = strings.ToUpper(name)
		}
		if i, ok := at[name]; ok {
			list[i] = entry
			return
		}
		at[name] = len(list)
		list = append(list, entry)
	}
	for _, entry := range e.Base {
		name, ok := entryName(entry)
		if !ok || e.dropped(name) || !e.Inherit && Secret(name) {
			continue
		}
		put(name, entry)
	}
	if filepath.IsAbs(dir) && runtime.GOOS != "windows" {
		put("PWD", "PWD="+dir)
	}
	for _, entry := range e.Set {
		if name, ok := entryName(entry); ok {
			put(name, entry)
		}
	}
	return list
}

func (e *Env) dropped(name string) bool {
	for _, d := range e.Drop {
		if prefix, ok := strings.CutSuffix(d, "*"); ok && strings.HasPrefix(name, prefix) || d == name {
			return true
		}
	}
	return false
}

const foldNames = runtime.GOOS == "windows" // names differ in more than case

// entryName returns the name of an entry. Windows has hidden entries whose
// name begins with "=".
func entryName(entry string) (string, bool) {
	i := strings.IndexByte(entry, '=')
	if i == 0 && foldNames {
		i = strings.IndexByte(entry[1:], '=') + 1
	}
	if i <= 0 || strings.IndexByte(entry, 0) >= 0 {
		return "", false
	}
	return entry[:i], true
}

// lookupEnv returns the value of a name in a list that has each name once.
func lookupEnv(list []string, name string) string {
	for _, entry := range list {
		if n, ok := entryName(entry); ok && (n == name || foldNames && strings.EqualFold(n, name)) {
			return entry[len(n)+1:]
		}
	}
	return ""
}

// containsFold reports whether s contains the upper-case ASCII word in any
// case.
func containsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		j := 0
		for j < len(word) && upper(s[i+j]) == word[j] {
			j++
		}
		if j == len(word) {
			return true
		}
	}
	return false
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
