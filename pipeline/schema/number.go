package schema

import (
	"math"
	"strconv"
	"strings"
)

// decimal is a JSON number seen as sign, significant digits and position,
// without converting it: 1200, 1.2e3 and 1200.0 have the same shape. It lets
// numbers of any length be compared exactly and without allocation.
type decimal struct {
	neg  bool
	zero bool
	// coef is the part of the text that holds the significant digits: it starts
	// and ends with a nonzero digit and may contain one decimal point.
	coef string
	// lead and last are the powers of ten of the first and the last significant
	// digit. They saturate at ±expLimit.
	lead, last int64
}

// expLimit bounds exponents, so that sums of them cannot overflow. No number
// that is near it can be held by anything that reads JSON.
const expLimit = math.MaxInt64 / 4

// parseDecimal reads a syntactically valid JSON number.
func parseDecimal(raw string) decimal {
	var d decimal
	if raw[0] == '-' {
		d.neg, raw = true, raw[1:]
	}
	exp := int64(0)
	if i := strings.IndexAny(raw, "eE"); i >= 0 {
		exp = parseExponent(raw[i+1:])
		raw = raw[:i]
	}
	point := strings.IndexByte(raw, '.')
	if point < 0 {
		point = len(raw)
	}
	first := strings.IndexAny(raw, "123456789")
	if first < 0 {
		return decimal{zero: true} // -0 equals 0
	}
	last := strings.LastIndexAny(raw, "123456789")
	d.coef = raw[first : last+1]
	d.lead = power(first, point) + exp
	d.last = power(last, point) + exp
	return d
}

// power returns the power of ten of the digit at index i of a number whose
// decimal point is at index point.
func power(i, point int) int64 {
	if i < point {
		return int64(point - i - 1)
	}
	return int64(point - i)
}

// parseExponent reads what follows the e of a JSON number.
func parseExponent(s string) int64 {
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	n := int64(0)
	for i := range len(s) {
		if n = n*10 + int64(s[i]-'0'); n > expLimit/10 {
			n = expLimit
			break
		}
	}
	if neg {
		return -n
	}
	return n
}

// extreme reports whether the exponent saturated, so that two different numbers
// could look equal.
func (d decimal) extreme() bool { return !d.zero && (d.lead > expLimit/20 || d.last < -expLimit/20) }

// equal reports whether both denote the same number. It is exact unless both
// are extreme.
func (d decimal) equal(o decimal) bool {
	if d.zero || o.zero {
		return d.zero == o.zero
	}
	if d.neg != o.neg || d.lead != o.lead || d.last != o.last {
		return false
	}
	a, b := d.coef, o.coef
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == '.':
			a = a[1:]
		case b[0] == '.':
			b = b[1:]
		case a[0] != b[0]:
			return false
		default:
			a, b = a[1:], b[1:]
		}
	}
	// Equal first and last powers mean equally many digits, and both texts end
	// with one, so neither is left over.
	return len(a) == len(b)
}

const maxFloatPower = 308 // the largest float64 is about 1.8e308

// finiteNumber reports whether a JSON number lies in the range of a float64,
// which is what JSON readers can be expected to hold (P-36, "a finite JSON
// number"). Digits beyond the precision of a float64 do not matter.
func finiteNumber(raw string) bool {
	if len(raw) <= maxFloatPower && plainDigits(raw) {
		return true
	}
	d := parseDecimal(raw)
	switch {
	case d.zero || d.lead < maxFloatPower:
		return true
	case d.lead > maxFloatPower:
		return false
	}
	_, err := strconv.ParseFloat(raw, 64)
	return err == nil
}

// integerNumber reports whether a JSON number is a finite whole number: 1, 1.0
// and 1e2 are.
func integerNumber(raw string) bool {
	if len(raw) <= maxFloatPower && plainDigits(raw) {
		return true
	}
	d := parseDecimal(raw)
	return d.zero || d.last >= 0 && finiteNumber(raw)
}

// plainDigits reports whether a JSON number has neither fraction nor exponent.
func plainDigits(raw string) bool {
	for i := range len(raw) {
		if raw[i] > '9' || raw[i] == '.' {
			return false
		}
	}
	return true
}
