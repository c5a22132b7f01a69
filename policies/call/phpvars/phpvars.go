// Package phpvars reads query strings and form bodies into variables as PHP
// does: names folded ("rest.route" is rest_route), last one wins, "a[b][]"
// builds arrays, invalid escapes are kept (platform-facts I.1.5).
package phpvars

// Value is a PHP value: a string or an *Array.
type Value = any

// Array is an ordered PHP array. The zero value is empty and ready to use.
type Array struct {
	keys   []string
	values map[string]Value
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
