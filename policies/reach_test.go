package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// TestReacher: what the rules of a site leave of its routes, for three callers.
func TestReacher(t *testing.T) {
	c := chainOf(t, "login_only", "allow anyone GET /wp/v2/posts/*", "allow anyone POST /cf/v1/forms/:id/feedback", "deny /acme/v1/secret", "allow role editor /acme/v1/**")
	site := index.New([]string{
		`/wp/v2/posts/(?P<id>[\d]+)`, `/wp/v2/users/(?P<id>[\d]+)`, `/cf/v1/forms/(?P<id>\d+)/feedback`, `/acme/v1/(?P<what>[a-z]+)`, `/acme/v1/x`,
	}, []string{"wp/v2", "cf/v1", "acme/v1"})
	callers := []caller.Caller{{}, {Kind: caller.User, ID: 7, Roles: []string{"subscriber"}}, {Kind: caller.User, ID: 8, Roles: []string{"editor"}}}
	want := map[string]string{ // for each caller: a for all, n for none, s for some
		"/wp/v2/posts/:id":          "GET a,a,a POST n,a,a",
		"/wp/v2/users/:id":          "GET n,a,a POST n,a,a",
		"/cf/v1/forms/:id/feedback": "GET n,a,a POST a,a,a",
		"/acme/v1/:what":            "GET n,n,s POST n,n,s",
		"/acme/v1/x":                "GET n,n,a POST n,n,a",
	}
	r, err := review.NewReacher(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range site.Routes() {
		methods := []string{"GET", "POST"}
		found, err := r.Of(route, methods, callers)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, method := range methods {
			var letters []string
			for j := range callers {
				letters = append(letters, reachText(found[i][j])[:1])
			}
			got = append(got, method+" "+strings.Join(letters, ","))
		}
		if text := strings.Join(got, " "); text != want[route.Name()] {
			t.Errorf("%s: %s", route.Name(), text)
		}
	}
}

// TestReacher_Refused: of each kind of routes that are refused there is one.
func TestReacher_Refused(t *testing.T) {
	c := chainOf(t, "login_only", "deny /acme/v1/secret", "allow anyone GET /acme/v1/**")
	r, err := review.NewReacher(c)
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		`/acme/v1/(?P<what>[a-z]+)`: "/acme/v1/secret /acme/v1/troubleshooting", `/acme/v1/x`: "", `/acme/v2/x`: "/acme/v2/x",
	} {
		refused, err := r.Refused(index.New([]string{pattern}, nil).Routes()[0], "GET", caller.Caller{})
		slices.Sort(refused)
		if got := strings.Join(refused, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", pattern, got, err, want)
		}
	}
}

// TestReacher_Examples: of a pattern there is a route for each word that a rule names, built-in ones too, and one for all
// others.
func TestReacher_Examples(t *testing.T) {
	r, err := review.NewReacher(chainOf(t, "login_only", "deny /acme/v1/secret", "allow anyone GET /acme/*/open"))
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"/acme/v1/*":       "/acme/v1/1 /acme/v1/open /acme/v1/secret /acme/v1/store-auth /acme/v1/troubleshooting /acme/v1/upload-logo",
		"/acme/v1/x":       "/acme/v1/x",
		"/wp/v2/users/:id": "/wp/v2/users/1 /wp/v2/users/me",
	} {
		examples, err := r.Examples(routes.MustPattern(pattern))
		slices.Sort(examples)
		if got := strings.Join(examples, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", pattern, got, err, want)
		}
	}
}

func reachText(r review.Reached) string {
	switch {
	case r.Unknown:
		return "unknown"
	case r.All():
		return "all"
	case r.None():
		return "none"
	}
	return "some"
}

// TestReacher_ToolServers: servers whose tools run REST inside are closed by any rule of
// abilities, and what passes at others depends on the message.
func TestReacher_ToolServers(t *testing.T) {
	c, err := NewChain(policytest.NewSite(t), "", configured("abilities", &abilities.Abilities{Rules: []abilities.Rule{{Pattern: "a/b", Deny: true}}}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := review.NewReacher(c)
	if err != nil {
		t.Fatal(err)
	}
	x := index.New([]string{"/wp/v2/wpmcp", "/mcp/mcp-adapter-default-server", "/wp/v2/posts"}, []string{"wp/v2", "mcp"})
	want := map[string]string{
		"/wp/v2/wpmcp":                    "closed abilities: a server whose tools run REST calls inside",
		"/mcp/mcp-adapter-default-server": "in part abilities: by message",
		"/wp/v2/posts":                    "open",
	}
	for _, route := range x.Routes() {
		found, err := r.Of(route, []string{"POST"}, []caller.Caller{{Kind: caller.User}})
		if err != nil {
			t.Fatal(err)
		}
		reach, got := &found[0][0], "in part"
		switch {
		case reach.All():
			got = "open"
		case reach.None():
			got = "closed"
		}
		if reach.RefusedBy != nil {
			got += " " + reach.RefusedBy.String()
		}
		if got != want[route.Name()] {
			t.Errorf("%s: got %q, want %q", route.Name(), got, want[route.Name()])
		}
	}
}
