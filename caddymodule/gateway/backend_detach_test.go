package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/ask"
)

// TestBackend_Detach: a question that outlives its request shares nothing that others
// still change.
func TestBackend_Detach(t *testing.T) {
	g := provisioned(t, `{"platform":"wordpress"}`)
	r := prepared(httptest.NewRecorder(), "/wp-json/wp/v2/posts", "User-Agent", "before")
	caddyhttp.SetVar(r.Context(), "root", "before")
	own := newBackend(g.sites[0], r, nil)
	detached := own.Detach().(*backend)
	r.Header.Set("User-Agent", "after")
	caddyhttp.SetVar(r.Context(), "root", "after")
	req, err := detached.request(t.Context(), &ask.Question{Route: "/x"}, "/x")
	if err != nil {
		t.Fatal(err)
	}
	if agent := req.Header.Get("User-Agent"); agent != "before" || detached.vars["root"] != "before" {
		t.Errorf("the request is still seen: %q, %q", agent, detached.vars["root"])
	}
}

// TestBackend_Placeholders: what the site has defined for a request by its variables is found
// out before a question runs by itself, while handlers behind the gateway write to them.
func TestBackend_Placeholders(t *testing.T) {
	g := provisioned(t, `{"platform":"wordpress"}`)
	g.app.placeholders = []string{"shop", "other"}
	r := prepared(httptest.NewRecorder(), "/wp-json/wp/v2/posts", "X-Shop", "before")
	replacer(r).Map(func(name string) (any, bool) { return r.Header.Get("X-Shop"), name == "shop" })
	var upstream string
	b := newBackend(g.sites[0], r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, question *http.Request) error {
		r.Header.Set("X-Shop", "after")
		upstream = replacer(question).ReplaceAll("{shop} {other}", "unknown")
		w.WriteHeader(http.StatusOK)
		return nil
	}))
	if _, err := b.Ask(t.Context(), ask.Question{Kind: ask.KindIndex, Route: "/"}); err != nil {
		t.Fatal(err)
	}
	if upstream != "before unknown" {
		t.Errorf("the question goes to %q", upstream)
	}
}

func replacer(r *http.Request) *caddy.Replacer {
	return r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
}
