package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const smallRoot = `{"name":"A shop","home":"https://shop.example","url":"https://shop.example/wp","namespaces":["oembed/1.0","wp/v2"],
"routes":{"/":{"methods":["GET"],"_links":{"self":[{"href":"https://shop.example/wp-json/"}]}},
"/wp/v2/posts":{"methods":["GET","POST"],"endpoints":[{"methods":["GET"]},{"methods":["POST"]}]},
"/wp/v2/posts/(?P<id>[\\d]+)":{"endpoints":[{"methods":["POST","PUT","PATCH"]},{"methods":["GET"]}]},
"/odd":"text","/odd/2":{"methods":"GET"}}}`

// TestParseRoot: routes keep their order, and what a filter has made odd is left out.
func TestParseRoot(t *testing.T) {
	r, err := ParseRoot([]byte("\ufeff" + smallRoot))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Patterns(), " "); got != `/ /wp/v2/posts /wp/v2/posts/(?P<id>[\d]+) /odd /odd/2` {
		t.Errorf("routes %s", got)
	}
	if r.Name != "A shop" || r.Home != "https://shop.example" || r.URL != "https://shop.example/wp" || len(r.Namespaces) != 2 {
		t.Errorf("%+v", r)
	}
	for pattern, want := range map[string]string{"/wp/v2/posts": "GET POST", `/wp/v2/posts/(?P<id>[\d]+)`: "GET PATCH POST PUT", "/odd": "", "/odd/2": ""} {
		if got := strings.Join(r.Route(pattern).Methods(), " "); got != want {
			t.Errorf("%s: %s", pattern, got)
		}
	}
	if r.Route("/").Self() != "https://shop.example/wp-json/" || r.Route("/odd").Self() != "" || r.Route("/none") != nil {
		t.Error("the addresses of routes are wrong")
	}
}

// TestParseRoot_Bad: what is no root is an error or has no routes.
func TestParseRoot_Bad(t *testing.T) {
	for _, text := range []string{"", "<html>", "[]", `"x"`, `{"routes":{"/":`, `{"namespaces":"x"}`} {
		if r, err := ParseRoot([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
	for _, text := range []string{"{}", `{"routes":[]}`, `{"name":7,"routes":null}`} {
		if r, err := ParseRoot([]byte(text)); err != nil || len(r.Routes) != 0 {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
}

// FuzzParseRoot: a root has every route once, and none that its text does not name.
func FuzzParseRoot(f *testing.F) {
	for _, seed := range []string{smallRoot, `{"routes":{"/a":{},"/a":{"methods":["GET"]}}}`, `{"routes":[]}`, `{"name":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRoot(text)
		if err != nil {
			return
		}
		patterns := r.Patterns()
		slices.Sort(patterns)
		if len(slices.Compact(patterns)) != len(r.Routes) {
			t.Errorf("%q has a route twice", text)
		}
		for i := range r.Routes {
			r.Routes[i].Methods()
			r.Routes[i].Self()
		}
	})
}

// TestListed_Dispatched: only what the platform dispatches counts, and a route of which the
// root tells none of it may take all.
func TestListed_Dispatched(t *testing.T) {
	root, err := ParseRoot([]byte(`{"routes":{"/a":{"methods":["POST","OPTIONS","GET"]},"/b":{},"/c":{"methods":["OPTIONS"],"endpoints":[]},"/d":{"endpoints":[{"methods":"GET"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"GET,POST true", "DELETE,GET,PATCH,POST,PUT false", "DELETE,GET,PATCH,POST,PUT false", "DELETE,GET,PATCH,POST,PUT false"} {
		methods, told := root.Routes[i].Dispatched()
		if got := fmt.Sprint(strings.Join(methods, ","), " ", told); got != want {
			t.Errorf("%s: %s", root.Routes[i].Pattern, got)
		}
	}
}
