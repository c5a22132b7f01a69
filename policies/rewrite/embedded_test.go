package rewrite

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// replaced stands for what a policy makes of an embedded object: the route of its call.
func replaced(c *call.Call, _ jsontext.Value) (jsontext.Value, error) {
	if c == nil {
		return jsontext.Value(`"unknown"`), nil
	}
	return jsontext.Value(`"` + c.Route + `"`), nil
}

func same(_ *call.Call, value jsontext.Value) (jsontext.Value, error) { return value, nil }

var posts = &call.Call{Kind: call.Single, Route: "/wp/v2/posts", Key: "/wp/v2/posts", Method: "GET"}

// TestEmbedded: embedded objects are replaced wherever they stand, and wherever the links of
// their object do. All else stays.
func TestEmbedded(t *testing.T) {
	for in, want := range map[string]string{
		`{"_embedded":{"author":[{}]}}`:                                         `{"_embedded":{"author":["unknown"]}}`,
		` [ {"a" : 1, "_embedded":{"a":[1, 2],"b":[]} } , 2]`:                   ` [ {"a" : 1, "_embedded":{"a":["unknown","unknown"],"b":[]} } , 2]`,
		`{"body":[{"_embedded":{"a":[1]},"z":"\u00e9"}],"status":200}`:          `{"body":[{"_embedded":{"a":["unknown"]},"z":"\u00e9"}],"status":200}`,
		`{"_embedded":{"a":[1]},"b":2,"_embedded":{"c":[3]},"d":[4]}`:           `{"_embedded":{"a":["unknown"]},"b":2,"_embedded":{"c":["unknown"]},"d":[4]}`,
		`{"_embedded":{"a":[1]},"body":{"_embedded":{"a":[1]},"x":1},"last":1}`: `{"_embedded":{"a":["unknown"]},"body":{"_embedded":{"a":["unknown"]},"x":1},"last":1}`,
		`/**/cb({"_embedded":{"a":[1]}});`:                                      "",
		`/**/cb({"_embedded":{"a":[1]}})`:                                       `/**/cb({"_embedded":{"a":["unknown"]}})`,
		`"text"`:                                                                `"text"`,
		`<html>`:                                                                "", `{"a":1`: "", `[1,`: "", `{"_embedded":1}`: "", `{"_embedded":{"a":1}}`: "", `"a" "b"`: "", ``: "",
	} {
		got, err := Embedded([]byte(in), posts, replaced)
		if (err != nil) != (want == "") || err == nil && string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

// TestEmbedded_Links: each _embedded goes by the links of its own object, which may stand behind it
// and behind those inside.
func TestEmbedded_Links(t *testing.T) {
	object := func(links, inside string) string {
		return `{"_embedded":{"a":[1]},"body":` + inside + `,"_embedded":{"a":[2]},"_links":{"a":[{"href":"https://a.test/wp-json/wp/v2/` + links + `"}]}}`
	}
	p, _ := platforms.ByName("wordpress")
	r := httptest.NewRequest(http.MethodGet, "/wp-json/wp/v2/posts?_embed", http.NoBody)
	c := call.NewReader(call.Config{Platform: p, Limits: call.Limits{Body: 1, Upload: 1, Spool: budget.NewSpool(t.TempDir(), 1)}}).Read(r, nil)
	defer c.Close()
	in := object("users", "["+object("tags", "0")+","+object("pages", object("media", "[]"))+"]")
	got, err := Embedded([]byte(in), c, replaced)
	var routes []string
	for _, found := range regexp.MustCompile(`\["/wp/v2/(\w+)"\]|unknown`).FindAllSubmatch(got, -1) {
		routes = append(routes, string(found[1]))
	}
	if want := "users tags tags pages media media pages users"; err != nil || strings.Join(routes, " ") != want { //nolint:dupword // each object's own
		t.Errorf("%v, %v\n%s", routes, err, got)
	}
}

// TestRewriting_Memory: an answer takes its own size and that of the result, however deeply it
// is nested and whatever stands around it.
func TestRewriting_Memory(t *testing.T) {
	const size = 1 << 20
	post := `{"id":1,"content":"` + strings.Repeat("lorem ipsum ", 100) + `","_links":{"author":[{"href":"x"}]},"_embedded":{"author":[{"slug":"admin"}]}}`
	list := "[" + post + strings.Repeat(","+post, size/len(post)) + "]"
	for name, body := range map[string]string{
		"a list":   list,
		"nested":   strings.Repeat("[", 400) + list + strings.Repeat("]", 400),
		"envelope": strings.Repeat(`{"body":`, 400) + list + strings.Repeat("}", 400),
		"script":   "/**/cb(" + list + ")",
		"one":      `{"_embedded":{"author":` + list + `}}`,
		"itself":   strings.Repeat(`{"_embedded":{},"body":`, 400) + list + strings.Repeat("}", 400),
	} {
		for how, rewrite := range map[string]func() ([]byte, error){
			"Embedded": func() ([]byte, error) { return Embedded([]byte(body), posts, same) },
			"Redact":   func() ([]byte, error) { return Redact([]byte(body), [][]string{{"_embedded", "author", "slug"}}) },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := rewrite(); err != nil {
				t.Errorf("%s, %s: %v", how, name, err)
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > uint64(6*len(body)) { // a copy of body, the result, and garbage of each post; pools keep less under the race detector
				t.Errorf("%s, %s: %d bytes for %d", how, name, n, len(body))
			}
		}
	}
}

// FuzzEmbedded: where nothing is replaced, an answer keeps its meaning.
func FuzzEmbedded(f *testing.F) {
	for _, seed := range []string{`[{"_embedded":{"a":[1,{"b":2}]},"_links":{"a":[{"href":"/x"}]}}]`, `{"_embedded":{"a":[]},"_embedded":{},"body":{"_embedded":{}}}`, `/**/a(1)`, `{"\u005fembedded":{"a":[1]}}`, `[[[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := Embedded(in, posts, same)
		if err != nil || bytes.HasPrefix(in, []byte("/**/")) {
			return
		}
		var before, after any
		if json.Unmarshal(in, &before) == nil && (json.Unmarshal(out, &after) != nil || !reflect.DeepEqual(before, after)) {
			t.Errorf("%q became %q", in, out)
		}
	})
}

var script = regexp.MustCompile(`(?s)^(/\*\*/[\w.]+\()(.*)(\)\s*)$`)

// FuzzUnwrapped: an answer is taken apart as the expression says.
func FuzzUnwrapped(f *testing.F) {
	for _, seed := range []string{"/**/cb({})", "/**/a.b(())\n ", "/**/(1)", "/**/a(", "/**/a)", "/**/a()", "{}", "/**/a(1)x", "/**/a b(1)"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want := [][]byte{nil, nil, in, nil}
		if m := script.FindSubmatch(in); m != nil {
			want = m
		}
		before, inner, behind := unwrapped(in)
		if !bytes.Equal(before, want[1]) || !bytes.Equal(inner, want[2]) || !bytes.Equal(behind, want[3]) {
			t.Errorf("%q: %q %q %q", in, before, inner, behind)
		}
	})
}
