package caller

import (
	"testing"

	"github.com/restwarden/restwarden/policies/call"
)

// TestIdentityKey: an answer counts for exactly the question that it answers.
func TestIdentityKey(t *testing.T) {
	type change = func(*Whole)
	header := func(name, value string) change { return func(w *Whole) { w.HTTP.Header.Set(name, value) } }
	changes := map[string]change{
		"as it is":        func(*Whole) {},
		"https":           func(w *Whole) { w.Secure = true },
		"host":            func(w *Whole) { w.HTTP.Host = "other.example" },
		"forwarded host":  header("X-Forwarded-Host", "other.example"),
		"base":            func(w *Whole) { w.Call.Base = "/two" },
		"form":            func(w *Whole) { w.Call.Form = call.Query },
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
	seen := map[cacheKey]string{}
	s := newSite(t, Own{Headers: []string{"X-Own"}, Cookies: []string{"own"}})
	for name, change := range changes {
		r := request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "")
		change(r)
		key := keyOf(t, r)
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[key] = name
	}
	same := request(t, s, nil, "GET", "/wp-json/wp/v2/posts", "", "Cookie: other=1", "Accept: x")
	if name := seen[keyOf(t, same)]; name != "as it is" {
		t.Errorf("a cookie that is no credential counts: %q", name)
	}
}

// keyOf is the key of what r carries, taken for a user.
func keyOf(t *testing.T, w *Whole) cacheKey {
	t.Helper()
	c, err := w.Credentials()
	if err != nil {
		t.Fatal(err)
	}
	return w.Site.Identities.cache.key(ClaimUser, c)
}
