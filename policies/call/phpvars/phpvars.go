// Package phpvars reads query strings and form bodies into variables as PHP does
// (docs/platform I.1.5).
//
// PHP folds names, so that "rest.route" is rest_route. The last of several equal names
// counts, "a[b][]" builds arrays, and invalid escapes are kept. [Query], [Form], [RawForm]
// and [Multipart] read a whole text into an [Array]. [Variables] builds the one variable that is
// asked for. [Has], [Last] and [HasReader] look for one variable and take next to no memory.
//
// Releases and settings of PHP differ in some names. [Disputed] finds those names, so that
// a caller can refuse them.
package phpvars

import (
	"slices"
	"strconv"
	"unsafe"
)

// Value is a PHP value: a string or an *Array.
type Value = any

// Array is an ordered PHP array. The zero value is empty and ready to use.
type Array struct {
	keys   []string
	values []Value        // of keys
	places map[string]int // in keys; nil for the few keys of most arrays
	next   int64          // index of the next value appended with "[]"
	levels int            // of arrays that get elements, this one included; 0 is no limit
}

// fewKeys is how many keys are searched one by one.
const fewKeys = 8

// place returns where key stands in keys, or -1.
func (a *Array) place(key string) int {
	if a.places == nil {
		return slices.Index(a.keys, key)
	}
	if i, ok := a.places[key]; ok {
		return i
	}
	return -1
}

// Get returns the value under key; ok is false where the key is not set.
func (a *Array) Get(key string) (v Value, ok bool) {
	if a == nil {
		return nil, false
	}
	i := a.place(key)
	if i < 0 {
		return nil, false
	}
	return a.values[i], true
}

// String returns the value under key where it is a string; set tells whether
// the key is set at all, so ("", true) may also be an array.
func (a *Array) String(key string) (s string, set bool) {
	v, set := a.Get(key)
	s, _ = v.(string)
	return s, set
}

// Keys returns the keys in the order in which they were first set.
func (a *Array) Keys() []string {
	if a == nil {
		return nil
	}
	return a.keys
}

// Size returns about how many bytes a takes with all that it holds, but for its texts: most are
// parts of the text that was read.
func (a *Array) Size() int64 {
	const perPlace = 2 * int64(unsafe.Sizeof("")+unsafe.Sizeof(0)) // maps are half full
	n := int64(unsafe.Sizeof(*a)) + int64(cap(a.keys)+cap(a.values))*int64(unsafe.Sizeof("")) + int64(len(a.places))*perPlace
	for _, v := range a.values {
		switch v := v.(type) {
		case *Array:
			n += v.Size()
		case string:
			n += int64(unsafe.Sizeof(v)) // in its interface
		}
	}
	return n
}

// Len returns the number of keys.
func (a *Array) Len() int {
	if a == nil {
		return 0
	}
	return len(a.keys)
}

func (a *Array) set(key string, v Value) {
	if i := a.place(key); i >= 0 {
		a.values[i] = v
		return
	}
	a.keys, a.values = append(a.keys, key), append(a.values, v)
	a.note(len(a.keys) - 1)
	if n, ok := index(key); ok && n >= a.next {
		a.next = n + 1 // negative after the largest index: nothing more is appended
	}
}

// note enters the keys from a place on into places, if there are many.
func (a *Array) note(from int) {
	switch {
	case len(a.keys) <= fewKeys:
		return
	case a.places == nil:
		a.places, from = make(map[string]int, 2*len(a.keys)), 0
	}
	for i, key := range a.keys[from:] {
		a.places[key] = from + i
	}
}

// push appends v under the next free index. It drops v where no index is left.
func (a *Array) push(v Value) {
	if a.next >= 0 {
		a.set(strconv.FormatInt(a.next, 10), v)
	}
}

// enter returns the array under key, which takes the place of a plain value, or with push a
// new one behind the last value. It returns nil where the array gets no elements.
func (a *Array) enter(key string, push bool) *Array {
	if a == nil {
		return nil
	}
	var c *Array
	if i := a.place(key); !push && i >= 0 {
		c, _ = a.values[i].(*Array)
	}
	if c == nil {
		c = &Array{levels: max(0, a.levels-1)}
		a.put(key, push, c)
	}
	if a.levels == 1 {
		return nil
	}
	return c
}

// put sets a value under key, or with push appends it. A nil array gets no elements.
func (a *Array) put(key string, push bool, v Value) {
	switch {
	case a == nil:
	case push:
		a.push(v)
	default:
		a.set(key, v)
	}
}

func (a *Array) remove(key string) {
	if i := a.place(key); i >= 0 {
		a.keys, a.values, a.places = slices.Delete(a.keys, i, i+1), slices.Delete(a.values, i, i+1), nil
		a.note(0)
	}
}

// index tells whether PHP takes key for a number: canonical decimal only.
func index(key string) (int64, bool) {
	if key == "" || len(key) > 19 || key[0] < '0' || key[0] > '9' || len(key) > 1 && key[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(key, 10, 64)
	return n, err == nil
}
