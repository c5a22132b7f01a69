package policies

import "testing"

// TestSite_Shop: facts belong to one directive, server, host and base.
func TestSite_Shop(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*Site, *Request){
		"as it is": func(*Site, *Request) {},
		"name":     func(s *Site, _ *Request) { s.Name = "x" },
		"server":   func(s *Site, _ *Request) { s.Server = "x" },
		"host":     func(_ *Site, r *Request) { r.HTTP.Host = "x" },
		"base":     func(_ *Site, r *Request) { r.Whole.Call.Base = "/x" },
	} {
		s := newSite(t)
		r := request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")
		change(s, r)
		if other, taken := seen[s.shop(r)]; taken {
			t.Errorf("%s and %s are one shop", name, other)
		}
		seen[s.shop(r)] = name
	}
}
