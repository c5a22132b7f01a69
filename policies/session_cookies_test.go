package policies

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policytest"
)

// jarAt is a browser's cookies at one site.
type jarAt struct {
	*cookiejar.Jar
	t *testing.T
}

func newJar(t *testing.T) jarAt {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return jarAt{jar, t}
}

// get puts the cookies of an answer to a request for path into the jar.
func (j jarAt) get(path string, lines []string) {
	r := &http.Response{Header: http.Header{"Set-Cookie": lines}}
	j.SetCookies(&url.URL{Scheme: "https", Host: "shop.example", Path: path}, r.Cookies())
}

// sent is what the browser sends for path.
func (j jarAt) sent(path string) string {
	var pairs []string
	for _, c := range j.Cookies(&url.URL{Scheme: "https", Host: "shop.example", Path: path}) {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	slices.Sort(pairs)
	return strings.Join(pairs, " ")
}

// What the platform sends at login and logout, in an install below /blog/core: the cookies of
// the admin screens are set for two paths, and ended at four.
func loginLines(session string) []string {
	return []string{
		"wordpress_abc=" + session + "; path=/blog/core/wp-content/plugins; HttpOnly",
		"wordpress_abc=" + session + "; path=/blog/core/wp-admin; HttpOnly",
		"wordpress_logged_in_abc=" + session + "; path=/blog/core/; HttpOnly",
		"wordpress_logged_in_abc=" + session + "; path=/blog/; HttpOnly",
	}
}

func logoutLines() (lines []string) {
	for _, cookie := range []string{"wordpress_abc", "wordpress_sec_abc", "wordpress_logged_in_abc"} {
		for _, path := range []string{"/blog/core/wp-content/plugins", "/blog/core/wp-admin", "/blog/core/", "/blog/"} {
			lines = append(lines, cookie+"=%20; expires=Sun, 23 Nov 2025 16:00:00 GMT; Max-Age=0; path="+path)
		}
	}
	return lines
}

// TestSessionCookies_Browser: a browser has one cookie of each name wherever it asks, that of
// the last login, whatever it held before; after the logout it has none.
func TestSessionCookies_Browser(t *testing.T) {
	for name, p := range map[string]*SessionCookies{
		"path": {Path: "/"}, "path and domain": {Path: "/", Domain: "shop.example"}, "the sub-folder": {Path: "/blog/"},
	} {
		t.Run(name, func(t *testing.T) {
			policytest.Provision(t, policytest.NewSite(t), p)
			rewritten := func(lines []string) []string {
				a := &ask.Answer{Header: http.Header{"Set-Cookie": lines}}
				if err := p.Rewrite(nil, a); err != nil {
					t.Fatal(err)
				}
				return a.Header["Set-Cookie"]
			}
			jar := newJar(t)
			jar.get("/blog/core/wp-login.php", loginLines("before")) // from before the policy
			for _, session := range []string{"one", "two"} {
				jar.get("/blog/core/wp-login.php", rewritten(loginLines(session)))
				for _, path := range []string{"/blog/wp-json/", "/blog/core/wp-admin/", "/blog/core/wp-content/plugins/x"} {
					if got, want := jar.sent(path), "wordpress_abc="+session+" wordpress_logged_in_abc="+session; got != want {
						t.Errorf("%s: sent %q, want %q", path, got, want)
					}
				}
			}
			jar.get("/blog/core/wp-login.php", rewritten(logoutLines()))
			if left := jar.sent("/blog/core/wp-admin/") + jar.sent("/blog/wp-json/"); left != "" {
				t.Errorf("after the logout: %q", left)
			}
			jar.get("/blog/core/wp-login.php", loginLines("before"))
			jar.get("/blog/core/wp-login.php", rewritten(logoutLines()))
			if left := jar.sent("/blog/core/wp-admin/") + jar.sent("/blog/wp-json/"); left != "" {
				t.Errorf("cookies at the old paths after the logout: %q", left)
			}
		})
	}
}

// FuzzSessionCookies: whatever the platform sends, all that a browser reads of a login cookie
// but path and domain stays, every other cookie stays byte for byte, and no line comes twice.
func FuzzSessionCookies(f *testing.F) {
	for _, line := range append(append(loginLines("x"), logoutLines()...),
		"wordpress_a", "wordpress_a=b;", "wordpress_a=b;;Path", "wordpress_a=b; path=/x; PATH=/", "wordpress_a=b; Domain=.shop.example;Path=/",
		"wordpress_test_cookie=1; path=/blog", "other=1; path=/blog", "wordpress_a=b; SameSite=None; Partitioned; Secure; Path=/x", "wordpress_=\"a b\"; max-age=-1", "") {
		f.Add(line, "a=b")
	}
	p := &SessionCookies{Path: "/", Domain: "shop.example"}
	if err := policytest.ProvisionError(policytest.NewSite(f), p); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line, other string) {
		in := []string{line, other, line}
		a := &ask.Answer{Header: http.Header{"Set-Cookie": slices.Clone(in)}}
		if err := p.Rewrite(nil, a); err != nil {
			t.Fatal(err)
		}
		out := a.Header["Set-Cookie"]
		var rest, login []string
		for _, l := range out {
			if p.platform.LogsIn(l) {
				login = append(login, l)
			} else {
				rest = append(rest, l)
			}
		}
		if want := slices.DeleteFunc(in, p.platform.LogsIn); !slices.Equal(rest, want) {
			t.Errorf("other cookies: %q, want %q", rest, want)
		}
		if !p.platform.LogsIn(line) {
			return
		}
		for i, l := range login {
			if slices.Contains(login[:i], l) {
				t.Errorf("twice: %q", l)
			}
		}
		before, err := http.ParseSetCookie(line)
		if err != nil {
			return // no browser keeps it
		}
		i := slices.IndexFunc(login, func(l string) bool { c, err := http.ParseSetCookie(l); return err == nil && same(before, c) })
		if i < 0 {
			t.Fatalf("%q became %q", line, login)
		}
		for _, l := range login {
			c, err := http.ParseSetCookie(l)
			if err != nil || c.Name == before.Name && c.MaxAge >= 0 && (c.Path != "/" || strings.TrimPrefix(strings.ToLower(c.Domain), ".") != "shop.example") {
				t.Errorf("%q became %q, %v", line, l, err)
			}
		}
	})
}

// same compares two cookies but for path and domain.
func same(a, b *http.Cookie) bool {
	return a.Name == b.Name && a.Value == b.Value && a.RawExpires == b.RawExpires && a.MaxAge == b.MaxAge &&
		a.Secure == b.Secure && a.HttpOnly == b.HttpOnly && a.SameSite == b.SameSite && a.Partitioned == b.Partitioned &&
		b.Path == "/" && strings.EqualFold(strings.TrimPrefix(b.Domain, "."), "shop.example")
}
