//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// dotted are routes with a dot and other spellings that WordPress runs as the same route.
var dotted = []struct{ route, bends string }{
	{"/acme/v1.0/secret", "/acme/v1x0/secret /acme/v1-0/secret /ACME/V1_0/secret /acme/v1/0/secret /acme/v1:0/secret"},
	{"/oembed/1.0/embed", "/oembed/1_0/embed /oembed/1x0/embed /oembed/1/0/embed"},
	{"/activitypub/1.0/oauth/clients", "/activitypub/1-0/oauth/clients /activitypub/1/0/oauth/clients"},
}

// TestDots calls routes with a dot, with another byte in its place: WordPress runs them, and so no
// rule may be walked around by them (docs/platform I.1.3).
func TestDots(t *testing.T) {
	n, err := setUps(t).newStandins()
	if err != nil {
		t.Fatal(err)
	}
	set, err := n.write("dots", []standinRoute{
		{"acme", "acme/v1.0", "/secret", []string{"GET"}, false},
		{"activitypub", "activitypub/1.0", "/oauth/clients", []string{"GET", "POST"}, false},
	})
	if err != nil {
		t.Fatal(err)
	}
	bare := n.add("dots-bare", set)
	guarded := n.add("dots", set, "redact authors", "rate_limit 100/1m /acme/v1.0/secret", "deny plugin activitypub")
	if err := n.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := count(t)
	page := func(g *standinGate) string {
		return "url=" + url.QueryEscape(g.url(fmt.Sprintf("/?p=%d", g.Site.Post)))
	}
	for _, d := range dotted {
		for i, route := range append([]string{d.route}, strings.Fields(d.bends)...) {
			for _, path := range []string{"/wp-json" + route + "?", "/?rest_route=" + route + "&"} {
				c.check("bare "+path, n.answers(t.Context(), bare, request{path: path + page(bare)}, http.StatusOK))
				if i > 0 {
					c.check("guarded "+path, n.answers(t.Context(), guarded, request{path: path + page(guarded)}, http.StatusBadRequest))
				}
			}
		}
	}
	a, err := n.fetch(t.Context(), guarded, request{path: "/wp-json/oembed/1.0/embed?" + page(guarded)})
	if err == nil && (a.status != http.StatusOK || !strings.Contains(string(a.body), `"author_name":"[redacted]"`)) {
		err = fmt.Errorf("%s", a)
	}
	c.check("the honest route", err)
	c.check("a line of the catalogue", n.answers(t.Context(), guarded, request{method: "POST", path: "/wp-json/activitypub/1.0/oauth/clients"}, http.StatusForbidden))
	c.check("a limit", n.answers(t.Context(), guarded, request{path: "/wp-json/acme/v1.0/secret"}, http.StatusOK))
}

// answers sends a request. The error says that the status is another, or the refusal not the
// gateway's.
func (n *standins) answers(ctx context.Context, g *standinGate, r request, status int) error {
	a, err := n.fetch(ctx, g, r)
	if err == nil && (a.status != status || a.refused() != (status != http.StatusOK)) {
		err = fmt.Errorf("%s", a)
	}
	return err
}
