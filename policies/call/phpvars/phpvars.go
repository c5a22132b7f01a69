// Package phpvars reads query strings and form bodies into variables as PHP does
// (docs/platform I.1.5).
//
// PHP folds names, so that "rest.route" is rest_route. The last of several equal names
// counts, "a[b][]" builds arrays, and invalid escapes are kept. [Query], [Form], [RawForm]
// and [Multipart] read a whole text into an [Array]. [Has], [Last] and [HasReader] look for
// one variable and take next to no memory.
//
// Releases and settings of PHP differ in some names. [Disputed] finds those names, so that
// a caller can refuse them.
package phpvars

import (
	"slices"
	"strconv"
)

// Value is a PHP value: a string or an *Array.
type Value = any

// Array is an ordered PHP array. The zero value is empty and ready to use.
type Array struct {
	keys   []string
	values map[string]Value
	next   int64 // index of the next value appended with "[]"
}

// Get returns the value under key; ok is false where the key is not set.
func (a *Array) Get(key string) (v Value, ok bool) {
	if a == nil {
		return nil, false
	}
	v, ok = a.values[key]
	return v, ok
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

// Len returns the number of keys.
func (a *Array) Len() int {
	if a == nil {
		return 0
	}
	return len(a.keys)
}

func (a *Array) set(key string, v Value) {
	if a.values == nil {
		a.values = make(map[string]Value)
	}
	if _, ok := a.values[key]; !ok {
		a.keys = append(a.keys, key)
		if n, ok := index(key); ok && n >= a.next {
			a.next = n + 1 // negative after the largest index: nothing more is appended
		}
	}
	a.values[key] = v
}

// push appends v under the next free index. It drops v where no index is left.
func (a *Array) push(v Value) {
	if a.next >= 0 {
		a.set(strconv.FormatInt(a.next, 10), v)
	}
}

// child returns the array under key, which takes the place of a plain value.
func (a *Array) child(key string) *Array {
	c, ok := a.values[key].(*Array)
	if !ok {
		c = new(Array)
		a.set(key, c)
	}
	return c
}

func (a *Array) remove(key string) {
	if _, ok := a.values[key]; ok {
		delete(a.values, key)
		a.keys = slices.DeleteFunc(a.keys, func(k string) bool { return k == key })
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
