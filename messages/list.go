package messages

import (
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// List is an immutable sequence. The zero value is empty.
type List[T any] struct{ items []T }

// ListOf returns a list of copies of items.
func ListOf[T any](items ...T) List[T] {
	if len(items) == 0 {
		return List[T]{}
	}
	return List[T]{slices.Clone(items)}
}

// FrozenList wraps items without copying. The caller gives up the slice and
// must not write to it afterwards.
func FrozenList[T any](items []T) List[T] { return List[T]{items[:len(items):len(items)]} }

// Len returns the number of items.
func (l List[T]) Len() int { return len(l.items) }

// IsZero reports whether the list is empty.
func (l List[T]) IsZero() bool { return len(l.items) == 0 }

// At returns item i. It panics if i is out of range.
func (l List[T]) At(i int) T { return l.items[i] }

// All iterates over index and item.
func (l List[T]) All() iter.Seq2[int, T] { return slices.All(l.items) }

// Values iterates over the items.
func (l List[T]) Values() iter.Seq[T] { return slices.Values(l.items) }

// Slice returns a copy that the caller may change.
func (l List[T]) Slice() []T { return slices.Clone(l.items) }

// Borrow returns the items without copying them. The slice is shared with the list
// and must not be written to.
func (l List[T]) Borrow() []T { return l.items }

// Append returns a list with items added; l is unchanged.
func (l List[T]) Append(items ...T) List[T] {
	if len(items) == 0 {
		return l
	}
	return List[T]{append(l.items[:len(l.items):len(l.items)], items...)}
}

// Concat returns the items of l followed by those of other.
func (l List[T]) Concat(other List[T]) List[T] {
	switch {
	case len(other.items) == 0:
		return l
	case len(l.items) == 0:
		return other
	}
	return l.Append(other.items...)
}

// MarshalJSONTo writes the list as an array.
func (l List[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if l.items == nil {
		return json.MarshalEncode(enc, []T{}, marshalOptions)
	}
	return json.MarshalEncode(enc, l.items, marshalOptions)
}

// UnmarshalJSONFrom reads an array.
func (l *List[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if k := dec.PeekKind(); k != '[' {
		return fmt.Errorf("must be an array, not %v", k)
	}
	// Never decode into l.items: other lists share them.
	var items []T
	if err := json.UnmarshalDecode(dec, &items); err != nil {
		return err
	}
	if len(items) == 0 {
		items = nil // one form of empty
	}
	l.items = slices.Clip(items)
	return nil
}
