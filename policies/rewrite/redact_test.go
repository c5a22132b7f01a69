package rewrite

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	paths := [][]string{{"access_token"}, {"source", "access_token"}, {"_embedded", "author", "slug"}, {"lines", "price"}, {"5", "deep"}}
	for in, want := range map[string]string{
		`{"access_token":"s","a":1.50}`:                                                  `{"access_token":"[redacted]","a":1.50}`,
		`{"source":{"access_token":{"deep":"s"},"b":[]}}`:                                `{"source":{"access_token":"[redacted]","b":[]}}`,
		`[{"access_token":1},{"access_token":[1,2]}]`:                                    `[{"access_token":"[redacted]"},{"access_token":"[redacted]"}]`,
		`{"body":{"access_token":"s"},"status":200,"headers":{}}`:                        `{"body":{"access_token":"[redacted]"},"status":200,"headers":{}}`,
		`{"update":[{"access_token":"s","id":7}]}`:                                       `{"update":[{"access_token":"[redacted]","id":7}]}`,
		`{"body":{"create":[{"access_token":"s"}]}}`:                                     `{"body":{"create":[{"access_token":"[redacted]"}]}}`,
		`{"responses":[{"body":{"access_token":"s"}}]}`:                                  `{"responses":[{"body":{"access_token":"[redacted]"}}]}`,
		`{"deleted":true,"previous":{"access_token":"s","source":{"access_token":"s"}}}`: `{"deleted":true,"previous":{"access_token":"[redacted]","source":{"access_token":"[redacted]"}}}`,
		`{"body":{"deleted":true,"previous":{"access_token":"s"}}}`:                      `{"body":{"deleted":true,"previous":{"access_token":"[redacted]"}}}`,
		`{"delete":[{"deleted":true,"previous":{"access_token":"s"}}]}`:                  `{"delete":[{"deleted":true,"previous":{"access_token":"[redacted]"}}]}`,
		`{"responses":[{"body":{"previous":{"access_token":"s"}}}]}`:                     `{"responses":[{"body":{"previous":{"access_token":"[redacted]"}}}]}`,
		`/**/cb({"access_token":"s"})`:                                                   `/**/cb({"access_token":"[redacted]"})`,
		`{"\u0061ccess_token":"s"}`:                                                      `{"access_token":"[redacted]"}`,
		`{"access_token":"a","access_token":"b"}`:                                        `{"access_token":"[redacted]","access_token":"[redacted]"}`,
		`[{"_embedded":{"author":[{"slug":"admin","id":1}]}}]`:                           `[{"_embedded":{"author":[{"slug":"[redacted]","id":1}]}}]`,
		`{"other":{"access_token":"kept"},"e":"\u00e9\/"}`:                               `{"other":{"access_token":"kept"},"e":"\u00e9\/"}`,
		`{"lines":{"1":{"price":5,"name":"x"}},"5":{"deep":1}}`:                          `{"lines":{"1":{"price":"[redacted]","name":"x"}},"5":{"deep":"[redacted]"}}`,
		`{"update":{"1":{"access_token":"s"}},"body":{"7":{"lines":{"2":{"price":5}}}}}`: `{"update":{"1":{"access_token":"[redacted]"}},"body":{"7":{"lines":{"2":{"price":"[redacted]"}}}}}`,
		`{"other":{"1":{"access_token":"kept"}},"5":{"6":{"deep":"s"}}}`:                 `{"other":{"1":{"access_token":"kept"}},"5":{"6":{"deep":"[redacted]"}}}`,
		`"text"`: `"text"`,
	} {
		got, err := Redact([]byte(in), paths)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	for _, in := range []string{``, `{`, `{"a":1}x`, `<html>`, `{"a":1}{"access_token":"s"}`, `cb({"access_token":"s"})`, `PHP Warning: x {"access_token":"s"}`} {
		if got, err := Redact([]byte(in), paths); err == nil {
			t.Errorf("%s: got %s without an error", in, got)
		}
	}
}

// TestRedact_Work: the work grows with the answer alone, however deep its lists with holes are. Of such depth each member
// would otherwise cost as much as all that are around it.
func TestRedact_Work(t *testing.T) {
	const deep = 500
	w := &redactor{in: []byte(strings.Repeat(`{"1":`, deep) + `{"status":1}` + strings.Repeat("}", deep)), paths: [][]string{{"status"}}}
	w.all()
	if cap(w.at) > 4 || !strings.Contains(string(w.out), `"status":"[redacted]"`) {
		t.Errorf("%d names on the way, %s", cap(w.at), w.out)
	}
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"SECRET"}`, `[{"source":{"access_token":"SECRET"}}]`, `/**/cb({"access_token":"SECRET"})`, `{"a":"\ud800","access_token":1}`, `[[[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := Redact(in, [][]string{{"access_token"}})
		if err != nil || bytes.HasPrefix(out, []byte("/**/")) {
			return
		}
		var top map[string]any
		if json.Unmarshal(out, &top) == nil && top["access_token"] != nil && top["access_token"] != "[redacted]" {
			t.Errorf("%s became %s", in, out)
		}
		again, err := Redact(out, [][]string{{"access_token"}})
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("not idempotent: %s, %s, %v", out, again, err)
		}
	})
}
