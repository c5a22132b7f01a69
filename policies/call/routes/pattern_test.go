package routes

import (
	"strings"
	"testing"
)

func TestPattern_Edges(t *testing.T) {
	for text, literal := range map[string]bool{"/a/b": true, "/a/*": false, "/a/:id": false, "/a/**": false, "/": true} {
		if p := MustPattern(text); p.Literal() != literal {
			t.Errorf("%s: literal %v", text, p.Literal())
		}
	}
	p := MustPattern("/WP/v2/Users/:parentId/:ID/")
	if !p.Match("/wp/v2/users/1/2") || p.Group("/wp/v2/users/1/2", "parentId") != "1" || p.Group("/wp/v2/users/1/2", "ID") != "2" {
		t.Errorf("%s: %v", p, p.Names())
	}
}

// TestPattern_Spelling: patterns that name the same segments are spelled alike, and read back as themselves.
func TestPattern_Spelling(t *testing.T) {
	for text, want := range map[string]string{
		"/": "/", "/**": "/**", "/Acme/V1/:userId/": "/acme/v1/:userId", "/acme/**": "/acme/**", "/wc/store/cart": "/wc/store/v1/cart", "/a/*": "/a/*",
	} {
		p := MustPattern(text)
		if got := p.Spelling(); got != want || MustPattern(got).Spelling() != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestPattern_Match: a pattern fits the routes with its segments, and with more where it ends with **.
func TestPattern_Match(t *testing.T) {
	t.Parallel()
	for pattern, keys := range map[string]map[string]bool{
		"/":             {"/": true, "": true, "/a": false},
		"/a/v1/b":       {"/a/v1/b": true, "/a/v1": false, "/a/v1/b/c": false, "/a/v1/bc": false, "/a/v1/b/": true},
		"/a/v1/*":       {"/a/v1/b": true, "/a/v1": false, "/a/v1/b/c": false, "/a/v2/b": false, "/a/v1//": false},
		"/a/*/b":        {"/a/v1/b": true, "/a/v1/c": false, "/a//b": false},
		"/a/v1/:id":     {"/a/v1/5": true, "/a/v1": false, "/a/v1/5/6": false},
		"/a/v1/**":      {"/a/v1": true, "/a/v1/b": true, "/a/v1/b/c": true, "/a": false, "/a/v2/b": false},
		"/*/v1/b":       {"/a/v1/b": true, "/v1/b": false},
		"/**":           {"/": true, "/a": true, "/a/v1/b": true},
		"/A/V1/B":       {"/a/v1/b": true},
		"/a/v1/:id/:no": {"/a/v1/5/6": true, "/a/v1/5": false},
	} {
		p := MustPattern(pattern)
		for key, fits := range keys {
			if p.Match(key) != fits {
				t.Errorf("%s fits %q: %v", pattern, key, !fits)
			}
		}
	}
}

// TestPattern_Covers: a pattern covers another where it fits all of its routes.
func TestPattern_Covers(t *testing.T) {
	t.Parallel()
	all := []string{"/a/v1/b", "/a/v1/*", "/a/v1/:id", "/a/*/b", "/a/v1/**", "/a/v1/b/c", "/**", "/*/**", "/*/*/*", "/x/v1/b", "/a/v1/b/**"}
	covers := map[string]string{
		"/a/v1/b":    "/a/v1/b",
		"/a/v1/*":    "/a/v1/b /a/v1/* /a/v1/:id",
		"/a/v1/:id":  "/a/v1/b /a/v1/* /a/v1/:id",
		"/a/*/b":     "/a/v1/b /a/*/b",
		"/a/v1/**":   "/a/v1/b /a/v1/* /a/v1/:id /a/v1/** /a/v1/b/c /a/v1/b/**",
		"/a/v1/b/**": "/a/v1/b /a/v1/b/c /a/v1/b/**",
		"/a/v1/b/c":  "/a/v1/b/c",
		"/**":        strings.Join(all, " "),
		"/*/**":      "/a/v1/b /a/v1/* /a/v1/:id /a/*/b /a/v1/** /a/v1/b/c /*/** /*/*/* /x/v1/b /a/v1/b/**",
		"/*/*/*":     "/a/v1/b /a/v1/* /a/v1/:id /a/*/b /*/*/* /x/v1/b",
		"/x/v1/b":    "/x/v1/b",
	}
	for _, p := range all {
		var got []string
		for _, other := range all {
			if MustPattern(p).Covers(MustPattern(other)) {
				got = append(got, other)
			}
		}
		if strings.Join(got, " ") != covers[p] {
			t.Errorf("%s covers %s, want %s", p, strings.Join(got, " "), covers[p])
		}
	}
}

// TestPattern_Parts: what a pattern says of its segments.
func TestPattern_Parts(t *testing.T) {
	t.Parallel()
	for pattern, tt := range map[string]struct {
		names, key, name, group string
		literal, ofAll          bool
	}{
		"/a/v1/b":       {"", "/a/v1/b", "b", "", true, false},
		"/a/v1/:id":     {"id", "/a/v1/5", "id", "5", false, false},
		"/a/:ID/:no":    {"ID no", "/a/5/6", "no", "6", false, false},
		"/a/:id/x":      {"id", "/a/5/x", "no", "", false, false},
		"/a/xid/:id/**": {"id", "/a/xid/7/8", "id", "7", false, false},
		"/**":           {"", "/a", "a", "", false, true},
		"/*/:id/**":     {"id", "/a/5/x", "id", "5", false, true},
		"/*/*":          {"", "/a/b", "b", "", false, false},
		"/*/x/**":       {"", "/a/x", "x", "", false, false},
	} {
		p := MustPattern(pattern)
		if strings.Join(p.Names(), " ") != tt.names || p.Group(tt.key, tt.name) != tt.group || p.Literal() != tt.literal || p.OfAll() != tt.ofAll {
			t.Errorf("%s: names %q, %s is %q, literal %v, of all %v", pattern, p.Names(), tt.name, p.Group(tt.key, tt.name), p.Literal(), p.OfAll())
		}
	}
	if _, err := ParsePattern("/a//b"); err == nil {
		t.Error("a segment without text")
	}
	if _, err := ParsePattern("/wp-json"); err == nil {
		t.Error("the prefix alone is a route")
	}
	if _, err := ParsePattern("/cms-json/a"); err == nil {
		t.Error("the prefix of the last platform is a route")
	}
}
