package routes

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnSegments are segments of patterns, those of routes among them.
var drawnSegments = []string{"a", "1.0", "v1.0.2", ".x", "b.", "*", ":id", "1x0", "1", "0"}

// TestPattern_Bent compares Bent with the expression that the platform would try, and with Match.
func TestPattern_Bent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.SampledFrom(drawnSegments), 1, 4).Draw(t, "pattern")
		rest := rapid.SampledFrom([]string{"", "/**"}).Draw(t, "rest")
		if strings.Trim(segments[0]+segments[len(segments)-1], "0123456789") == "" {
			return
		}
		text := "/" + strings.Join(segments, "/") + rest
		p, err := ParsePattern(text)
		if err != nil {
			return // a literal number
		}
		expression := regexp.MustCompile(`(?i)\A` + strings.NewReplacer("/**", "(/.*)?", "/*", "/[^/]+", "/:id", "/[^/]+").Replace(text) + `\z`)
		route := []byte(rapid.StringMatching(`(/(a|1[./x0-]0|v1[./]0[./]2|[./x]x|b[./y]|1|0|zz)){1,5}`).Draw(t, "route"))
		if at := rapid.IntRange(0, len(route)-1).Draw(t, "at"); rapid.Bool().Draw(t, "bends") {
			route[at] = rapid.SampledFrom([]byte("./xA_")).Draw(t, "byte")
		}
		key := Key(string(route))
		if strings.Contains(string(route), "//") || route[0] != '/' || strings.HasSuffix(string(route), "/") {
			return
		}
		got, want := Bent([]Pattern{p}, key, string(route)), expression.Match(route) && !p.Match(key)
		if got != want {
			t.Fatalf("%s, %s: %v, want %v", text, route, got, want)
		}
		if got && !p.Dotted() {
			t.Fatalf("%s has no dot", text)
		}
	})
}

// TestPattern_BentOnTheCheckout: a route is taken as it is sent, and with the version of its address.
func TestPattern_BentOnTheCheckout(t *testing.T) {
	for _, test := range []struct {
		pattern, route string
		want           bool
	}{
		{"/wc/store/a.b", "/wc/store/a-b", true},
		{"/wc/store/a.b", "/WC/store/v1/A-B", true},
		{"/wc/store/a.b", "/wc/store/a.b", false},
		{"/wc/store.x/v1/b", "/wc/store/x/v1/b", true},
		{"/wc/store.x/v1/b", "/wc/storeyx/v1/b", true},
		{"/a/1.0/**", "/a/1\xe90", true},
		{"/a/1.0/**", "/a/1é0", false}, // two bytes
		{"/a/1.0/**", "/a/1%C30/x", true},
		{"/a/1.0/**", "/a/1%25C30/x", true},
		{"/a/1.20/**", "/a/1%20", true},
		{"/a/1.0/**", "/a/1%C3%A90", false},
		{"/a/1.0/**", "/a/1x00", false},
		{"/a/1.0/**", "/a/1x", false},
		{"/a/1.0/**", "", false},
	} {
		p := MustPattern(test.pattern)
		if got := Bent([]Pattern{p}, Key(test.route), test.route); got != test.want {
			t.Errorf("%s, %s: %v", test.pattern, test.route, got)
		}
	}
}

// TestPattern_BentAllocates nothing, for any route.
func TestPattern_BentAllocates(t *testing.T) {
	p, route := MustPattern("/acme/v1.0/:id/x.y/**"), "/ACME/v1.0/"+strings.Repeat("z", 900)+"/x_y/1"
	key := Key(route)
	if n := testing.AllocsPerRun(100, func() {
		if !Bent([]Pattern{p}, key, route) {
			t.Fatal("it is bent")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
