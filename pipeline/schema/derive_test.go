package schema

import (
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
)

type (
	base struct {
		ID     string `json:"id"`
		Shared int    `json:"shared"`
	}
	// Extra is embedded by pointer.
	Extra struct {
		Note string `json:"note"`
	}
	scalars struct {
		S   string  `json:"s" description:"some text"`
		B   bool    `json:"b"`
		I   int     `json:"i"`
		U8  uint8   `json:"u8"`
		F   float32 `json:"f"`
		Def string
	}
	optional struct {
		Zero  string  `json:"zero,omitzero"`
		Empty []int   `json:"empty,omitempty"`
		Ptr   *string `json:"ptr"`
		PtrZ  *int    `json:"ptrz,omitzero" description:"maybe"`
		PtrE  **bool  `json:"ptre,omitempty"`
		PtrPZ **bool  `json:"ptrpz,omitzero"`
		Must  bool    `json:"must"`
	}
	containers struct {
		L  []string          `json:"l"`
		LL [][]*int          `json:"ll"`
		A  [2]bool           `json:"a"`
		By []byte            `json:"by"`
		BA [4]byte           `json:"ba"`
		NB []namedByte       `json:"nb"`
		M  map[string]int    `json:"m"`
		MI map[int][]string  `json:"mi"`
		MN map[netip.Addr]*X `json:"mn"`
	}
	namedByte byte
	// X is small.
	X struct {
		V int `json:"v"`
	}
	opaque struct {
		T  time.Time        `json:"t"`
		TP *time.Time       `json:"tp"`
		A  any              `json:"a"`
		AP *any             `json:"ap"`
		J  messages.JSON    `json:"j"`
		V  jsontext.Value   `json:"v"`
		C  messages.Content `json:"c"`
		IP netip.Addr       `json:"ip"`
		Q  int64            `json:"q,string"`
		QP *float64         `json:"qp,string"`
	}
	enums struct {
		Mode  string  `json:"mode" enum:"read,write" description:"how"`
		Maybe *string `json:"maybe" enum:"a,b"`
		Color color   `json:"color,omitzero" enum:"red"`
	}
	color    string
	embedded struct {
		base
		*Extra
		Shared string `json:"shared"` // hides base's
		Named  base   `json:"named"`
	}
	withRest struct {
		A    string         `json:"a,omitzero"`
		Rest map[string]int `json:",embed"`
	}
	ignored struct {
		private int
		Skip    chan int `json:"-"`
		Keep    int      `json:"keep"`
	}
	// Level describes itself.
	Level int
	// Loose describes itself and accepts null.
	Loose     struct{}
	described struct {
		L  Level  `json:"l"`
		LD *Level `json:"ld" description:"override"`
		N  *Loose `json:"n"`
	}
)

func (Level) JSONSchema() messages.JSON {
	return `{"type":"string","description":"own words","enum":["low","high"]}`
}
func (l Level) MarshalText() ([]byte, error) { return []byte([]string{"low", "high"}[l]), nil }

func (*Loose) JSONSchema() messages.JSON              { return `{"title":"loose"}` }
func (Loose) MarshalJSONTo(e *jsontext.Encoder) error { return e.WriteToken(jsontext.Null) }

func TestOf(t *testing.T) {
	for _, c := range []struct {
		sample any
		want   messages.JSON
		exact  bool
	}{
		{"", `{"type":"string"}`, true},
		{0, `{"type":"integer"}`, true},
		{0.0, `{"type":"number"}`, true},
		{false, `{"type":"boolean"}`, true},
		{[]string{}, `{"type":"array","items":{"type":"string"}}`, true},
		{new(int), `{"oneOf":[{"type":"integer"},{"type":"null"}]}`, true},
		{struct{}{}, `{"type":"object"}`, true},
		{messages.JSON(""), `{}`, true},
		{scalars{}, `{"type":"object","properties":{"s":{"type":"string","description":"some text"},"b":{"type":"boolean"},"i":{"type":"integer"},"u8":{"type":"integer"},"f":{"type":"number"},"Def":{"type":"string"}},"required":["s","b","i","u8","f","Def"]}`, true},
		{optional{}, `{"type":"object","properties":{"zero":{"type":"string"},"empty":{"type":"array","items":{"type":"integer"}},"ptr":{"oneOf":[{"type":"string"},{"type":"null"}]},"ptrz":{"type":"integer","description":"maybe"},"ptre":{"type":"boolean"},"ptrpz":{"oneOf":[{"type":"boolean"},{"type":"null"}]},"must":{"type":"boolean"}},"required":["must"]}`, true},
		{containers{}, `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}},"ll":{"type":"array","items":{"type":"array","items":{"oneOf":[{"type":"integer"},{"type":"null"}]}}},"a":{"type":"array","items":{"type":"boolean"}},"by":{"type":"string"},"ba":{"type":"string"},"nb":{"type":"array","items":{"type":"integer"}},"m":{"type":"object"},"mi":{"type":"object"},"mn":{"type":"object"}},"required":["l","ll","a","by","ba","nb","m","mi","mn"]}`, true},
		{opaque{}, `{"type":"object","properties":{"t":{"type":"string"},"tp":{"oneOf":[{"type":"string"},{"type":"null"}]},"a":{},"ap":{},"j":{},"v":{},"c":{"type":"array"},"ip":{"type":"string"},"q":{"type":"string"},"qp":{"oneOf":[{"type":"string"},{"type":"null"}]}},"required":["t","a","j","v","c","ip","q"]}`, true},
		{enums{}, `{"type":"object","properties":{"mode":{"type":"string","description":"how","enum":["read","write"]},"maybe":{"oneOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]},"color":{"type":"string","enum":["red"]}},"required":["mode"]}`, false},
		{embedded{}, `{"type":"object","properties":{"id":{"type":"string"},"note":{"type":"string"},"shared":{"type":"string"},"named":{"type":"object","properties":{"id":{"type":"string"},"shared":{"type":"integer"}},"required":["id","shared"]}},"required":["id","shared","named"]}`, true},
		{withRest{}, `{"type":"object","properties":{"a":{"type":"string"}}}`, false},
		{ignored{private: 1}, `{"type":"object","properties":{"keep":{"type":"integer"}},"required":["keep"]}`, true},
		{described{}, `{"type":"object","properties":{"l":{"type":"string","description":"own words","enum":["low","high"]},"ld":{"description":"override","oneOf":[{"type":"string","description":"own words","enum":["low","high"]},{"type":"null"}]},"n":{"title":"loose"}},"required":["l"]}`, false},
		{struct {
			L Level `json:"l" description:"mine"`
		}{}, `{"type":"object","properties":{"l":{"description":"mine","type":"string","enum":["low","high"]}},"required":["l"]}`, false},
	} {
		typ := reflect.TypeOf(c.sample)
		s, err := Of(typ)
		if err != nil {
			t.Errorf("Of(%s): %v", typ, err)
			continue
		}
		if diff := cmp.Diff(c.want, s.JSON()); diff != "" {
			t.Errorf("Of(%s) (-want +got):\n%s", typ, diff)
		}
		if s.ByConstruction() != c.exact {
			t.Errorf("Of(%s).ByConstruction() = %v", typ, s.ByConstruction())
		}
		// What was derived is what its text says.
		again, err := Parse(s.JSON())
		if err != nil || again.JSON() != s.JSON() {
			t.Errorf("Of(%s): the text does not parse to itself: %v", typ, err)
		}
	}
}

// P-36: extra argument keys are allowed.
func TestDerivedObjectsAreOpen(t *testing.T) {
	s, err := For[X]()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Validate(Arguments, `{"w":null,"v":1}`); got != nil {
		t.Errorf("an extra key: %v", got)
	}
}

type (
	tree1 struct {
		Children []tree1 `json:"children"`
	}
	tree2 struct {
		Other *tree3 `json:"other,omitzero"`
	}
	tree3 struct {
		Back map[string]tree2 `json:"back"`
	}
	list      []list
	selfish   struct{ V int }
	halfText  struct{ V int }
	badWord   struct{}
	invisible struct{ a, b int }
	aMap      map[string]int
)

func (selfish) MarshalJSON() ([]byte, error)      { return []byte("1"), nil }
func (*halfText) UnmarshalText(text []byte) error { return nil }
func (badWord) JSONSchema() messages.JSON         { return `{"type":"text"}` }

func TestOfRefuses(t *testing.T) {
	_ = invisible{a: 1, b: 2}
	for _, c := range []struct {
		sample any
		why    string
	}{
		{tree1{}, `Go type schema.tree1: field Children: item: schema.tree1 is recursive; a schema of the subset cannot refer to itself`},
		{tree2{}, `Go type schema.tree2: field Other: field Back: map value: schema.tree2 is recursive; a schema of the subset cannot refer to itself`},
		{list{}, `Go type schema.list: item: schema.list is recursive; a schema of the subset cannot refer to itself`},
		{func() {}, `Go type func(): func() has no JSON form`},
		{struct {
			In struct{ C chan int }
		}{}, `field In: field C: chan int has no JSON form`},
		{complex64(0), `complex64 has no JSON form`},
		{struct{ E error }{}, `field E: error is an interface with methods`},
		{struct{ D time.Duration }{}, `field D: time.Duration has no default JSON form; use a number or a string`},
		{map[bool]int{}, `map key of type bool`},
		{map[string]func(){}, `map value: func() has no JSON form`},
		{selfish{}, `schema.selfish encodes itself; give it the method JSONSchema() messages.JSON`},
		{halfText{}, `schema.halfText decodes itself but does not encode itself`},
		{badWord{}, `JSONSchema of schema.badWord: unsupported JSON schema: at /type: unknown type "text"`},
		// Types that go vet would not let stand in a source file.
		{reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
			{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
		}), `fields A and B have the same JSON name "x"`},
		{reflect.StructOf([]reflect.StructField{
			{Name: "a", PkgPath: "p", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
		}), `unexported field a has a json tag`},
		{invisible{}, `type schema.invisible has no exported fields`},
		{struct {
			netip.Addr
			netip.Prefix
		}{}, `field Addr of type netip.Addr cannot be embedded`},
		{struct{ url.Values }{}, `embedded field Values of type url.Values needs a JSON name`},
		{struct {
			A aMap `json:",embed" description:"x"`
		}{}, `embedded field A cannot have other options`},
		{struct {
			A int `json:",embed"`
		}{}, `field A of type int cannot be embedded`},
		{struct {
			A map[int]int `json:",embed"`
		}{}, `field A of type map[int]int cannot be embedded`},
		{struct {
			X `json:",omitzero"`
		}{}, `embedded field X cannot have other options`},
		{struct {
			A int `json:"a,format:hex"`
		}{}, `field A has the json option "format:hex", which a schema cannot express`},
		{struct {
			A int `json:"'a'"`
		}{}, `field A has a malformed json tag "'a'"`},
		{reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"a,"`},
		}), `field A has a malformed json tag "a,"`},
		{struct {
			A bool `json:"a,string"`
		}{}, `field A: the json option string is for numbers only`},
		{struct {
			A int `json:"a" enum:"1,2"`
		}{}, `field A: an enum tag is for strings only`},
		{struct {
			A netip.Addr `json:"a" enum:"1,2"`
		}{}, `field A: an enum tag is for strings only`},
		{struct {
			A int `json:"a,string" enum:"1,2"`
		}{}, `field A: an enum tag is for strings only`},
		{struct {
			A string `json:"a" enum:"x,,y"`
		}{}, `field A: enum "x,,y" has an empty or a repeated value`},
		{struct {
			A string `json:"a" enum:"x,x"`
		}{}, `field A: enum "x,x" has an empty or a repeated value`},
		{struct {
			A string `json:"a" enum:""`
		}{}, `field A has an empty enum`},
	} {
		typ, ok := c.sample.(reflect.Type)
		if !ok {
			typ = reflect.TypeOf(c.sample)
		}
		s, err := Of(typ)
		if err == nil {
			t.Errorf("%s: accepted as %s", typ, s.JSON())
			continue
		}
		if !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s:\n got %v\nwant %s", typ, err, c.why)
		}
		if messages.CodeOf(err) != messages.CodeUnsupportedSchema {
			t.Errorf("%s: code %q", typ, messages.CodeOf(err))
		}
	}
	if _, err := Of(nil); messages.CodeOf(err) != messages.CodeUnsupportedSchema {
		t.Errorf("Of(nil): %v", err)
	}
	if _, err := For[any](); err != nil {
		t.Errorf("For[any]: %v", err)
	}
}
