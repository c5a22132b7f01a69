package dryrun

import (
	"bytes"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// TestWithCredentials: a request gets a credential of its caller where the table of credentials
// finds none in it, and stays as it is where it finds one.
func TestWithCredentials(t *testing.T) {
	for _, p := range platforms.All() {
		own := caller.Own{Headers: []string{"X-Own"}, Cookies: []string{"own"}}
		g := &guard{site: &policy.Site{Site: caller.NewSite(p, own)}}
		lines := []string{
			"Cookie: own=a", "Cookie: " + p.LoginCookie() + "1=a", "Cookie: " + p.AuthCookie + "test_cookie=a", "Cookie: owner=a", "Authorization:", "X-Other: a",
		}
		for _, name := range caller.Headers(&p, own) {
			lines = append(lines, name+": a", strings.ToLower(name)+":a")
		}
		for _, query := range []string{"", "?consumer_key=a&consumer_secret=b", "?consumer_key=a", "?signature=a", "?" + p.NonceParam + "=a"} {
			for _, line := range lines {
				r, err := Build("", "https://shop.example.com/"+query, []string{line}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, as := range []As{{}, {Kind: Anonymous}, {Kind: User}, {Kind: Key}} {
					r.As = as
					says := as.Kind == "" || as.Kind == Anonymous || g.site.SaysWho(headOf(r.Raw))
					got := r.withCredentials(g, caller.Credential{})
					if same := bytes.Equal(got, r.Raw); same != says {
						t.Errorf("%s as %q: %s %s: nothing is added: %t", p.Name, as.Kind, query, line, same)
					}
					if !says && !g.site.SaysWho(headOf(got)) {
						t.Errorf("%s as %q: %s %s: what is added says nothing: %q", p.Name, as.Kind, query, line, got)
					}
				}
			}
		}
	}
}
