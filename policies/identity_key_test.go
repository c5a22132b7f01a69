package policies

import (
	"testing"

	"github.com/restwarden/restwarden/policies/call"
)

// TestIdentityKey: an answer counts for exactly the question that it answers.
func TestIdentityKey(t *testing.T) {
	type change = func(*Request)
	header := func(name, value string) change { return func(r *Request) { r.HTTP.Header.Set(name, value) } }
	changes := map[string]change{
		"as it is":        func(*Request) {},
		"https":           func(r *Request) { r.Secure = true },
		"host":            func(r *Request) { r.HTTP.Host = "other.example" },
		"base":            func(r *Request) { r.Call.Base = "/two" },
		"form":            func(r *Request) { r.Call.Form = call.Query },
		"nonce":           header("X-Wp-Nonce", "0123456789"),
		"Authorization":   header("Authorization", "Bearer x"),
		"tool key":        header("X-Mcp-Api-Key", "a:b"),
		"login cookie":    header("Cookie", "wordpress_logged_in_a=b"),
		"its value":       header("Cookie", "wordpress_logged_in_a=c"),
		"two of them":     header("Cookie", "wordpress_logged_in_a=b; wordpress_logged_in_a=c"),
		"own header":      header("X-Own", "1"),
		"own cookie":      header("Cookie", "own=1"),
		"own cookie's":    header("Cookie", "own=2"),
		"another session": header("Cookie", "wordpress_sec_a=b"),
	}
	seen := map[string]string{}
	s := newSite(t)
	s.Credentials = Credentials{Headers: []string{"X-Own"}, Cookies: []string{"own"}}
	for name, change := range changes {
		r := request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")
		change(r)
		key := s.Identities.cache.key(r, claimsUser)
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[key] = name
	}
	same := request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "", "Cookie: other=1", "Accept: x")
	if name := seen[s.Identities.cache.key(same, claimsUser)]; name != "as it is" {
		t.Errorf("a cookie that is no credential counts: %q", name)
	}
}

// TestSite_Place: facts belong to one directive, server, host and base.
func TestSite_Place(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*Site, *Request){
		"as it is":  func(*Site, *Request) {},
		"directive": func(s *Site, _ *Request) { s.Directive = "x" },
		"server":    func(s *Site, _ *Request) { s.Server = "x" },
		"host":      func(_ *Site, r *Request) { r.HTTP.Host = "x" },
		"base":      func(_ *Site, r *Request) { r.Call.Base = "/x" },
	} {
		s := newSite(t)
		r := request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")
		change(s, r)
		if other, taken := seen[s.place(r)]; taken {
			t.Errorf("%s and %s are one place", name, other)
		}
		seen[s.place(r)] = name
	}
}
