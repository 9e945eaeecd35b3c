package messages

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The catalogue describes exactly the core types, and every sample is a full
// one: it has the documented members, in their order, and no others.
func TestCatalogue(t *testing.T) {
	var names, want []string
	for _, d := range Catalogue() {
		names = append(names, d.Name)
		if d.Doc == "" || d.Place == "" || d.Surface != IsSurfaceType(d.Name) {
			t.Errorf("%s is not described: %+v", d.Name, d)
		}
		text, err := MarshalJSON(d.Sample)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		back, err := registry.DecodeEvent(text)
		if err != nil {
			t.Errorf("%s: the sample is no event: %v", d.Name, err)
		} else if diff := cmp.Diff(d.Sample, back, exact); diff != "" {
			t.Errorf("%s: the sample changes (-want +got):\n%s", d.Name, diff)
		}
		for name, value := range text.Members() {
			if name == "data" {
				checkMembers(t, d.Name, "", value, d.Fields)
			}
		}
		checkTags(t, d)
	}
	for _, typ := range registry.Types() {
		want = append(want, typ.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("types (-core +described):\n%s", diff)
	}
}

func TestTypeCatalogue(t *testing.T) {
	known := map[string]bool{"string": true, "integer": true, "boolean": true, "JSON": true}
	for _, d := range TypeCatalogue() {
		if known[d.Name] {
			t.Errorf("type %s is described twice", d.Name)
		}
		known[d.Name] = true
	}
	checkTypes := func(where string, fields []FieldDoc) {
		for _, f := range fields {
			if !known[strings.TrimSuffix(f.Type, "[]")] {
				t.Errorf("%s.%s is of type %s, which is not described", where, f.Name, f.Type)
			}
			if f.Doc == "" {
				t.Errorf("%s.%s is not described", where, f.Name)
			}
		}
	}
	for _, d := range Catalogue() {
		checkTypes(d.Name, d.Fields)
	}
	for _, d := range TypeCatalogue() {
		if (d.Tag == "") != (len(d.Cases) == 1) {
			t.Errorf("%s has %d cases and the tag %q", d.Name, len(d.Cases), d.Tag)
		}
		for _, c := range d.Cases {
			where := d.Name + "." + c.Name
			checkTypes(where, c.Fields)
			checkMembers(t, where, d.Tag, c.Sample, c.Fields)
			if d.Tag != "" {
				if got, err := discriminator(c.Sample, d.Tag); err != nil || got != c.Name {
					t.Errorf("%s: the sample is of case %q, %v", where, got, err)
				}
			}
		}
	}
}

// checkMembers checks that a sample has exactly the documented members.
func checkMembers(t *testing.T, where, tag string, sample JSON, fields []FieldDoc) {
	t.Helper()
	var got, want []string
	for name, value := range sample.Members() {
		if name == tag && tag != "" {
			continue
		}
		kind := map[byte]string{'"': "string", '0': "integer", 't': "boolean", 'f': "boolean", '{': "object", '[': "array", 'n': "null"}[byte(value.Kind())]
		got = append(got, name+" "+kind)
	}
	for i, f := range fields {
		kind := f.Type
		switch {
		case strings.HasSuffix(kind, "[]"):
			kind = "array"
		case kind == "JSON":
			if i < len(got) {
				_, kind, _ = strings.Cut(got[i], " ")
			}
		case kind != "string" && kind != "integer" && kind != "boolean":
			kind = "object"
		}
		want = append(want, f.Name+" "+kind)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: members of the sample (-documented +written):\n%s", where, diff)
	}
}

// checkTags compares a description with the tags of the Go type.
func checkTags(t *testing.T, d EventDoc) {
	t.Helper()
	typ := reflect.TypeOf(d.Sample.Data)
	var want, got []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, fmt.Sprint(name, " optional=", strings.Contains(options, "omitzero")))
	}
	for _, f := range d.Fields {
		got = append(got, fmt.Sprint(f.Name, " optional=", f.Optional))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-tags of %s +documented):\n%s", d.Name, typ, diff)
	}
}

// What is optional may be missing, what is not may not.
func TestCatalogueTellsWhatIsRequired(t *testing.T) {
	for _, d := range Catalogue() {
		text, err := MarshalJSON(d.Sample)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Fields {
			cut := withoutDataMember(text, f.Name)
			if _, err := registry.DecodeEvent(cut); (err == nil) != f.Optional {
				t.Errorf("%s without %s: %v", d.Name, f.Name, err)
			}
		}
	}
}

// withoutDataMember returns the event's text without one member of data.
func withoutDataMember(text JSON, drop string) JSON {
	var outer []string
	for name, value := range text.Members() {
		if name == "data" {
			var inner []string
			for n, v := range value.Members() {
				if n != drop {
					inner = append(inner, fmt.Sprintf("%q:%s", n, v))
				}
			}
			value = JSON("{" + strings.Join(inner, ",") + "}")
		}
		outer = append(outer, fmt.Sprintf("%q:%s", name, value))
	}
	return JSON("{" + strings.Join(outer, ",") + "}")
}
