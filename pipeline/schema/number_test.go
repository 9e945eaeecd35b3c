package schema

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// drawNumber draws a JSON number in any of its spellings.
func drawNumber(t *rapid.T, label string) string {
	s := rapid.SampledFrom([]string{"", "-"}).Draw(t, label+" sign")
	s += rapid.StringMatching(`0|[1-9][0-9]{0,24}`).Draw(t, label+" whole")
	s += rapid.StringMatching(`(\.[0-9]{1,24})?`).Draw(t, label+" fraction")
	if rapid.Bool().Draw(t, label+" has exponent") {
		s += fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"e", "E", "e+", "e-", "E-0"}).Draw(t, label+" e"),
			rapid.IntRange(0, 400).Draw(t, label+" exponent"))
	}
	return s
}

// Z-11: comparison and classification agree with exact arithmetic.
func TestDecimalAgreesWithRat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawNumber(t, "a")
		b := drawNumber(t, "b")
		ra, rb := tree{str: a}.rat(), tree{str: b}.rat()
		if rapid.Bool().Draw(t, "same number") { // respelled
			rb = ra
			b = ra.FloatString(800)
		}
		if got, want := parseDecimal(a).equal(parseDecimal(b)), ra.Cmp(rb) == 0; got != want {
			t.Fatalf("%s == %s: got %v, want %v", a, b, got, want)
		}
		if got, want := finiteNumber(a), (tree{str: a}).finite(); got != want {
			t.Fatalf("finite %s: got %v, want %v", a, got, want)
		}
		if got, want := integerNumber(a), (tree{str: a}).finite() && ra.IsInt(); got != want {
			t.Fatalf("integer %s: got %v, want %v", a, got, want)
		}
	})
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0", "-0.000e5", true},
		{"0", "1", false},
		{"1", "1.0", true},
		{"1200", "1.2e3", true},
		{"1200", "12E+2", true},
		{"0.00012", "12e-5", true},
		{"120.5", "1205e-1", true},
		{"1.2", "12", false},
		{"1", "-1", false},
		{"101", "11", false},
		{"1.01", "10.1", false},
		{"123456789012345678901234567890", "123456789012345678901234567891", false},
		{"1e99999999999999999999", "1", false},
		{"1e-99999999999999999999", "1", false},
	} {
		if got := parseDecimal(c.a).equal(parseDecimal(c.b)); got != c.want {
			t.Errorf("%s == %s: got %v, want %v", c.a, c.b, got, c.want)
		}
		if got := parseDecimal(c.b).equal(parseDecimal(c.a)); got != c.want {
			t.Errorf("%s == %s: got %v, want %v", c.b, c.a, got, c.want)
		}
	}
	if !parseDecimal("1e99999999999999999999").extreme() || parseDecimal("1e99999").extreme() {
		t.Error("extreme exponents are not told from large ones")
	}
	if !integerNumber("1e308") || integerNumber("1e309") {
		t.Error("the limit of integers is not that of float64")
	}
	if _, ok := new(big.Rat).SetString("1e308"); !ok {
		t.Error("the oracle does not read exponents")
	}
}
