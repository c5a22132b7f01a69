package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

var texts = []string{
	`{}`, `[]`, ` { "a" : 1 , "b":[1,{"a":2}] } `, `{"\u0061":1,"b\"c":"}\\"}`, `{"":null,"é":true}`, "{\"a\" \t:\r\n\"x\"}", `{"a:":"b:","b ":" c,"}`,
	`[1,"]",[ ] , {"a":[-1.5e9]},null ]`, `"text"`, `7`, strings.Repeat("[", 64) + strings.Repeat("]", 64),
	`{"a"`, `{"a":`, `{"a":"\`, `[`, `[1,`, `[}`, `{"a":}`, `{"a" 1}`, ``, `{,}`, `{"a":1 "b":2}`,
}

// FuzzMembers: members and elements of what is valid are those that encoding/json reads. Anything else comes to an end,
// with parts of the text.
func FuzzMembers(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		isObject, isList := json.Unmarshal([]byte(text), &object) == nil && object != nil, json.Unmarshal([]byte(text), &list) == nil && list != nil
		got := map[string]string{}
		for name, value := range jsonscan.Members([]byte(text)) {
			member := string(value.Of([]byte(text)))
			if raw := name.Of([]byte(text)); isObject {
				var decoded string
				if err := json.Unmarshal(raw, &decoded); err != nil {
					t.Fatalf("%q has the name %q: %v", text, raw, err)
				}
				got[decoded] = member
			}
		}
		for name, want := range object {
			if isObject && got[name] != string(want) {
				t.Errorf("%q: %q is %q, want %q", text, name, got[name], want)
			}
		}
		n := 0
		for value := range jsonscan.Elements([]byte(text)) {
			if element := string(value.Of([]byte(text))); isList && (n >= len(list) || element != string(list[n])) {
				t.Errorf("%q: element %d is %q of %d", text, n, element, len(list))
			}
			n++
		}
		if isObject && len(got) != len(object) || isList && n != len(list) {
			t.Errorf("%q: %d members, %d elements", text, len(got), n)
		}
	})
}

// TestOutline: brackets in strings do not count, nor names in what is nested.
func TestOutline(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", jsonscan.MaxDepth)
	for text, want := range map[string]int{
		`{"a":1,"b":{"c":2},"d:":[":",{"e":1}]}`: 3, `{}`: 0, `[1]`: 0, deep: 0, `{"a":"` + deep + `[[","b":"\"[["}`: 2, deep + "[": -1, `{"a":` + deep: -1,
	} {
		names, fits := jsonscan.Outline([]byte(text))
		if fits != (want >= 0) || fits && names != want {
			t.Errorf("%s: %d, %t", text, names, fits)
		}
	}
}

// TestEmpty: a list or an object is empty with blanks in it, and nothing else is.
func TestEmpty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[]": "list", " [ \t\r\n] ": "list", "{}": "object", "{ }": "object", "[[]]": "", "[{}]": "", `{"":{}}`: "", "0": "", "null": "", `"[]"`: "", `"{}"`: "",
	} {
		if list, object := jsonscan.EmptyList([]byte(text)), jsonscan.EmptyObject([]byte(text)); list != (want == "list") || object != (want == "object") {
			t.Errorf("%q: list %t, object %t", text, list, object)
		}
	}
}
