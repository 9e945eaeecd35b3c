package tools

import (
	"fmt"
	"regexp"
	"strings"
)

// globPattern compiles a pattern over slash-separated paths: "*" and "?" stop at
// a slash, "**" as a whole segment stands for any number of segments,
// "[a-z]" and "[!a-z]" for one character, "{a,b}" for one of several.
func globPattern(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A(?:`)
	if err := globExpr(&b, pattern); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	b.WriteString(`)\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return re, nil
}

func globExpr(b *strings.Builder, p string) error {
	depth := 0
	for i := 0; i < len(p); {
		rest := p[i:]
		start := i == 0 || p[i-1] == '/' || p[i-1] == '{' || p[i-1] == ','
		switch {
		case start && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:[^/]+/)*`)
			i += 3
			continue
		case start && rest == "**":
			b.WriteString(`.*`)
			i += 2
			continue
		}
		switch c := p[i]; c {
		case '*':
			b.WriteString(`[^/]*`)
			for i+1 < len(p) && p[i+1] == '*' {
				i++ // two in the middle of a segment are one
			}
		case '?':
			b.WriteString(`[^/]`)
		case '[':
			n, class, err := globClass(rest)
			if err != nil {
				return err
			}
			b.WriteString(class)
			i += n - 1
		case '{':
			depth++
			b.WriteString(`(?:`)
		case '}':
			if depth == 0 {
				b.WriteString(`\}`)
				break
			}
			depth--
			b.WriteString(`)`)
		case ',':
			if depth > 0 {
				b.WriteString(`|`)
			} else {
				b.WriteString(`,`)
			}
		case '\\':
			if i++; i == len(p) {
				return fmt.Errorf("it ends with a backslash")
			}
			i = quoteRune(b, p, i)
			continue
		default:
			i = quoteRune(b, p, i)
			continue
		}
		i++
	}
	if depth > 0 {
		return fmt.Errorf("a brace is not closed")
	}
	return nil
}

// quoteRune writes the code point at i and returns where the next one is.
func quoteRune(b *strings.Builder, p string, i int) int {
	for j := range p[i:] {
		if j > 0 {
			b.WriteString(regexp.QuoteMeta(p[i : i+j]))
			return i + j
		}
	}
	b.WriteString(regexp.QuoteMeta(p[i:]))
	return len(p)
}

// globClass reads a class at the beginning of p and returns its length.
func globClass(p string) (n int, class string, err error) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	from := i
	if i < len(p) && p[i] == ']' {
		i++ // a bracket in the first place is one of the characters
	}
	end := strings.IndexByte(p[min(i, len(p)):], ']')
	if end < 0 {
		return 0, "", fmt.Errorf("a bracket is not closed")
	}
	end += i
	var b strings.Builder
	b.WriteByte('[')
	if negated {
		b.WriteString(`^/`)
	}
	for _, r := range p[from:end] {
		switch r {
		case '[', ']', '\\', '^', '&', '~':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte(']')
	return end + 1, b.String(), nil
}
