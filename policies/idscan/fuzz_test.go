package idscan

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"testing"
)

// member is one of an object, in its order.
type member struct {
	name  string
	value any // json.Number, string, bool, nil, []any or []member
}

// decoded reads a whole text with encoding/json, and keeps what a map would lose.
func decoded(text []byte) (any, bool) {
	if !json.Valid(text) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := valueOf(d)
	if _, more := d.Token(); err != nil || more != io.EOF {
		return nil, false
	}
	return v, true
}

func valueOf(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := valueOf(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		object := []member{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := valueOf(d)
			if err != nil {
				return nil, err
			}
			object = append(object, member{name.(string), v})
		}
		_, err = d.Token()
		return object, err
	}
	return token, nil
}

// idsOf is what the answer says, without a thought for escapes in names.
func idsOf(shape Shape, v any) (ids []uint64) {
	var list []any
	switch whole := v.(type) {
	case []any:
		if shape == List {
			list = whole
		}
	case []member:
		switch shape {
		case Object:
			list = []any{v}
		case Created:
			list = only[[]any](whole, "create")
		case List:
		}
	}
	for _, v := range list {
		object, ok := v.([]member)
		if !ok {
			return nil
		}
		if shape == Created && slices.ContainsFunc(object, func(m member) bool { return m.name == "error" }) {
			continue
		}
		id, err := only[json.Number](object, "id").Int64()
		if n := uint64(id); err == nil && id > 0 && n <= MaxID && !slices.Contains(ids, n) {
			ids = append(ids, n)
		}
	}
	return ids
}

// only returns the value of the only member of that name.
func only[T any](object []member, name string) (v T) {
	times := 0
	for _, m := range object {
		if m.name == name {
			v, _ = m.value.(T)
			times++
		}
	}
	if times != 1 {
		return *new(T)
	}
	return v
}

// FuzzScanner: every id that the scanner finds is one that encoding/json finds at the same
// place, it finds all of them unless a name has an escape or a bound is passed, and no split
// changes the result.
func FuzzScanner(f *testing.F) {
	found := 0
	for _, seed := range []string{
		"[" + order(7) + "," + order(8) + "]", order(7), `{"create":[` + order(7) + `,{"id":0,"error":{}}],"update":[{"id":2}]}`,
		`[{"id":7,"id":8}]`, `[{"\u0069d":7},{"id\u0041":8}]`, `[{"id":9007199254740993},{"id":1e3},{"id":-1}]`, `[{"id":7}] x`, `[[{"id":7}]]`, "[]",
	} {
		for shape := range byte(3) {
			ids, _ := scan(Shape(shape), 100, seed, 3)
			found += len(ids)
			f.Add([]byte(seed), shape, 3)
		}
	}
	if found != 4 {
		f.Fatalf("the seeds have %d ids", found)
	}
	f.Fuzz(func(t *testing.T, text []byte, kind byte, size int) {
		shape := Shape(kind % 3)
		got, err := scan(shape, 100, string(text), max(len(text), 1))
		if again, failed := scan(shape, 100, string(text), max(size, 1)); !slices.Equal(got, again) || (err == nil) != (failed == nil) {
			t.Fatalf("in pieces of %d: %v, %v, in one %v, %v", size, again, failed, got, err)
		}
		v, valid := decoded(text)
		if !valid {
			if len(got) > 0 {
				t.Fatalf("%v of what is no JSON", got)
			}
			return
		}
		want := idsOf(shape, v)
		for _, id := range got {
			if !slices.Contains(want, id) {
				t.Fatalf("%d is not among %v", id, want)
			}
		}
		if !bytes.Contains(text, []byte(`\`)) && err == nil && !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
