package schema

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
)

// fill sets v to a random value. Full leaves nothing nil, zero or empty.
func fill(t *rapid.T, v reflect.Value, full bool) {
	sometimes := func() bool { return full || rapid.Bool().Draw(t, "set") }
	text := rapid.String()
	if full {
		text = rapid.StringN(1, 5, -1)
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(1, 1<<35).Draw(t, "unix"), 0).UTC()))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{1, 2, 3, rapid.Byte().Draw(t, "ip")})))
		return
	case messages.JSON:
		v.Set(reflect.ValueOf(drawJSON(t)))
		return
	case jsontext.Value:
		v.Set(reflect.ValueOf(drawJSON(t).Value()))
		return
	case messages.Content:
		v.Set(reflect.ValueOf(messages.Text(text.Draw(t, "text"))))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(full || rapid.Bool().Draw(t, "bool"))
	case reflect.String:
		v.SetString(text.Draw(t, "string"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		bits := v.Type().Bits()
		v.SetInt(rapid.Int64Range(-1<<(bits-1), 1<<(bits-1)-1).Draw(t, "int"))
		if full && v.IsZero() {
			v.SetInt(1)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 1<<v.Type().Bits()-1).Draw(t, "uint"))
	case reflect.Float32:
		v.SetFloat(float64(rapid.Float32().Draw(t, "float32")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float64"))
	case reflect.Pointer:
		if sometimes() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), full)
		}
	case reflect.Slice:
		if sometimes() {
			v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(1, 3).Draw(t, "len"), 3))
			for i := range v.Len() {
				fill(t, v.Index(i), full)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), full)
		}
	case reflect.Map:
		if sometimes() {
			v.Set(reflect.MakeMap(v.Type()))
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, full)
			fill(t, elem, full)
			v.SetMapIndex(key, elem)
		}
	case reflect.Interface:
		if sometimes() {
			v.Set(reflect.ValueOf([]any{rapid.String().Draw(t, "any"), 1.5, nil}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(t, f, full)
			} else if v.Type().Field(i).Anonymous { // an embedded unexported struct
				fill(t, reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), full)
			}
		}
	case reflect.Chan: // json:"-"
	default:
		panic(fmt.Sprint("cannot fill ", v.Type()))
	}
}

func drawJSON(t *rapid.T) messages.JSON {
	return rapid.SampledFrom([]messages.JSON{
		`null`, `true`, `"x"`, `-0`, `1e400`, `123456789012345678901234567890`, `[]`, `{"a":[{"b":null}]}`,
	}).Draw(t, "json")
}

type (
	clashA struct {
		Both  string
		OnlyA int `json:"onlyA"`
		Won   int `json:"won"`
	}
	clashB struct {
		Both  string
		OnlyB int `json:"onlyB"`
	}
	// clash has two fields named both at one depth, which hide each other, and
	// a won of its own.
	clash struct {
		clashA
		Between bool `json:"between"`
		clashB
		Won string `json:"won"`
	}
	// tagWins has one tagged and one untagged field of a name at one depth.
	tagWins struct {
		tagged
		untagged
	}
	tagged struct {
		X string `json:"Name"`
	}
	untagged struct {
		Name int
	}
	diamond struct {
		Left
		Right
	}
	// Left and Right embed the same struct, whose fields hide each other.
	Left struct {
		Common
		L int
	}
	// Right is Left's twin.
	Right struct {
		Common
		R int
	}
	// Common is embedded twice.
	Common      struct{ C string }
	viaEmbedTag struct {
		In X    `json:",embed"`
		On bool `json:"on"`
	}
)

// derivable are types whose every value conforms by construction.
var derivable = []any{
	scalars{}, optional{}, containers{}, opaque{}, embedded{}, ignored{}, clash{}, tagWins{}, diamond{}, viaEmbedTag{},
	X{}, []optional{}, map[string]X{}, [3]*X{}, new(embedded), 1, "", time.Time{},
}

// P-36, P-18: what package json encodes from T conforms to the schema of T; and
// it never does once a required member is taken out.
func TestDerivedSchemasAcceptTheirType(t *testing.T) {
	for _, sample := range derivable {
		typ := reflect.TypeOf(sample)
		t.Run(typ.String(), func(t *testing.T) {
			s, err := Of(typ)
			if err != nil {
				t.Fatal(err)
			}
			if !s.ByConstruction() {
				t.Fatal("not by construction")
			}
			rapid.Check(t, func(t *rapid.T) {
				p := reflect.New(typ)
				fill(t, p.Elem(), rapid.Bool().Draw(t, "full"))
				text, err := messages.MarshalJSON(p.Interface())
				if err != nil {
					t.Fatal(err)
				}
				if v := s.Validate(Value, text); v != nil {
					t.Fatalf("%s\ndoes not conform to\n%s\n%v", text, s.JSON(), v)
				}
				if len(s.root.required) == 0 {
					return
				}
				gone := s.root.props[rapid.SampledFrom(s.root.required).Draw(t, "gone")].name
				cut := without(text, gone)
				want := fmt.Sprintf(`missing required property "value.%s"`, gone)
				if diff := cmp.Diff([]string{want}, s.Validate(Value, cut)); diff != "" {
					t.Fatalf("%s without %s (-want +got):\n%s", text, gone, diff)
				}
			})
		})
	}
}

// without returns the object text without one member.
func without(text messages.JSON, name string) messages.JSON {
	var kept []string
	for _, m := range membersOf(string(text)) {
		if m.name != name {
			kept = append(kept, string(messages.QuoteJSON(m.name))+":"+m.value)
		}
	}
	return messages.JSON("{" + strings.Join(kept, ",") + "}")
}

// Properties are named, selected and ordered as package json does it.
func TestDerivedPropertiesAreTheEncodedOnes(t *testing.T) {
	for _, sample := range append(derivable[:len(derivable):len(derivable)], enums{}) {
		typ := reflect.TypeOf(sample)
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
			continue
		}
		s, err := Of(typ)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			p := reflect.New(typ)
			fill(t, p.Elem(), true)
			text, err := messages.MarshalJSON(p.Interface())
			if err != nil {
				t.Fatal(err)
			}
			var encoded, declared []string
			for _, m := range membersOf(string(text)) {
				encoded = append(encoded, m.name)
			}
			for _, p := range s.root.props {
				declared = append(declared, p.name)
			}
			if diff := cmp.Diff(encoded, declared); diff != "" {
				t.Fatalf("%s (-encoded +declared):\n%s", typ, diff)
			}
		})
	}
}

// Arguments that conform decode into the type they were derived from.
func TestConformingArgumentsDecode(t *testing.T) {
	s, err := For[optional]()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []messages.JSON{
		`{"must":true}`, `{"must":false,"ptr":null,"extra":[1]}`, `{"must":true,"ptr":"x","empty":[1,-0],"ptrpz":null,"ptrz":3}`,
	} {
		if v := s.Validate(Arguments, args); v != nil {
			t.Errorf("%s: %v", args, v)
		}
		var out optional
		if err := args.Unmarshal(&out); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}
