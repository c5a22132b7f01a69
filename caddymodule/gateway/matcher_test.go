package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/pool"
)

func TestMatcher(t *testing.T) {
	p := newPlatform(t)
	before := "\t@users rest_call GET,POST /cms/v2/users /wp/v2/users\n\t@big rest_call /cms/v2/media\n"
	for name, site := range map[string]string{
		"alone":              before + "\thandle @users {\n\t\trespond matched\n\t}\n\thandle @big {\n\t\trespond big\n\t}\n" + p.proxied(),
		"behind the gateway": before + "\trestwarden cms {\n\t\trecommended off\n\t}\n\thandle @users {\n\t\trespond matched\n\t}\n\thandle @big {\n\t\trespond big\n\t}\n" + p.proxied(),
		"before the gateway": before + "\trequest_header @users X-Seen 1\n\trestwarden cms {\n\t\trecommended off\n\t}\n\thandle @users {\n\t\trespond matched\n\t}\n\thandle @big {\n\t\trespond big\n\t}\n" + p.proxied(),
	} {
		t.Run(name, func(t *testing.T) {
			g := startGateway(t, site)
			g.do("GET /cms-json/cms/v2/users", "").want(t, 200, "matched")
			g.do("POST /x", "rest.route=/CMS/v2/users", form).want(t, 200, "matched")
			g.do("PUT /cms-json/cms/v2/users", "").want(t, 200, `"route"`)
			g.do("GET /cms-json/cms/v2/media", "").want(t, 200, "big")
			g.do("GET /a-page", "").want(t, 200, "a-page")
			long := "x=" + strings.Repeat("y", 100_000)
			g.do("POST /a-page", long, form).want(t, 200, long)
			if r := g.do("GET /cms-json/a?rest_route=/b", ""); r.status != 400 {
				t.Errorf("%d", r.status)
			}
			if name == "alone" {
				g.do("GET /wp-json/wp/v2/users", "").want(t, 200, "matched")
			}
			eventually(t, "spooled bodies are gone", func() bool { return pool.SpooledBytes() == 0 })
		})
	}
}

// TestMatcher_Dot: a call that the platform runs as one with a dot is an error, by a matcher that
// names the one with the dot.
func TestMatcher_Dot(t *testing.T) {
	p := newPlatform(t)
	for _, gateway := range []string{"", "\trestwarden wordpress\n"} {
		g := startGateway(t, "\t@secret rest_call /acme/v1.0/secret\n"+gateway+"\thandle @secret {\n\t\trespond matched\n\t}\n"+p.proxied())
		g.do("GET /wp-json/acme/v1.0/secret", "").want(t, 200, "matched")
		for _, target := range []string{"/wp-json/acme/v1x0/secret", "/wp-json/acme/v1/0/secret", "/?rest_route=/acme/v1-0/secret"} {
			if r := g.do("GET "+target, ""); r.status != 400 {
				t.Errorf("%s: %d %s", target, r.status, r.body)
			}
		}
		g.do("GET /wp-json/acme/v10/secret", "").want(t, 200, `"route"`)
	}
}

// TestMatcher_QueryForm: a query form does not show which platform answers, so that a
// batch is taken apart by the names of both.
func TestMatcher_QueryForm(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\t@updates rest_call PUT /wc/v3/orders/* /shop/v3/orders/*\n\trespond @updates matched\n"+p.proxied())
	for _, ns := range []string{"wc", "shop"} {
		g.do("POST /?rest_route=/"+ns+"/v3/orders/batch", `{"update":[{"id":5}]}`, "Content-Type: application/json").want(t, 200, "matched")
		g.do("POST /?rest_route=/"+ns+"/v3/orders/batch", `{"delete":[5]}`, "Content-Type: application/json").want(t, 200, `"route"`)
	}
}

// TestMatcher_BehindAnObservingGateway: a call without a certain reading, which is
// forwarded unchanged, matches nothing.
func TestMatcher_BehindAnObservingGateway(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\t@any rest_call /**\n\trestwarden cms {\n\t\tmode observe\n\t\tbody_limit 10B\n\t}\n\thandle @any {\n\t\trespond matched\n\t}\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 200, "matched")
	if r := g.do("GET /cms-json/cms/v2/posts?rest_route=/cms/v2/users", ""); r.status != 200 || r.body == "matched" {
		t.Errorf("got %d %s", r.status, r.body)
	}
	long := "x=" + strings.Repeat("y", 100)
	g.do("POST /contact", long, form).want(t, 200, long)
}

// TestMatcher_HomePath: a path that may be a call below an unknown home path is an error,
// although the first of the two platforms takes it for a page.
func TestMatcher_HomePath(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, "\t@any rest_call /**\n\trespond @any matched\n"+p.proxied())
	for _, path := range []string{"/blogwp-json/wp/v2/users", "/BLOGwp-json/wp/v2/users", "/blogcms-json/cms/v2/users"} {
		if r := g.do("GET "+path, ""); r.status != 400 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	g.do("GET /about-wp-json/", "").want(t, 200, "about-wp-json")
}

// TestMatcher_ClientGone: a request whose client has gone is read whole all the same, and nothing of it
// stays.
func TestMatcher_ClientGone(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	m := &MatchRESTCall{Routes: []string{"/batch/v1"}}
	if err := m.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Cleanup() })
	gone, leave := context.WithCancel(t.Context())
	leave()
	batch := `{"requests":[` + strings.TrimSuffix(strings.Repeat(`{"path":"/wp/v2/posts/5","method":"POST"},`, 20), ",") + `]}`
	for range 100 {
		r := httptest.NewRequestWithContext(gone, http.MethodPost, "/wp-json/batch/v1", strings.NewReader(batch))
		r.Header.Set("Content-Type", "application/json")
		if matched, err := m.MatchWithError(r); !matched || err != nil {
			t.Fatal(matched, err)
		}
	}
	eventually(t, "nothing is held", func() bool { return pool.BufferedBytes() == 0 && pool.SpooledBytes() == 0 })
}
