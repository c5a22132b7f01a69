package routes

import "testing"

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
