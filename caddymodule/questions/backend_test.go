package questions

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/ask"
)

// prepared is a request for a call as Caddy hands it to its handlers, with its variables.
func prepared(headers ...string) (r *http.Request, vars map[string]any) {
	r = httptest.NewRequest(http.MethodGet, "/wp-json/wp/v2/posts", nil)
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
	return r, r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
}

// TestBackend_Detach: a question that outlives its request shares nothing that others
// still change.
func TestBackend_Detach(t *testing.T) {
	r, vars := prepared("User-Agent", "before")
	vars["root"] = "before"
	detached := new(Site).Backend(r, vars, nil, r.Host, nil).Detach().(*Backend)
	r.Header.Set("User-Agent", "after")
	vars["root"] = "after"
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
	r, vars := prepared("X-Shop", "before")
	replacer(r).Map(func(name string) (any, bool) { return r.Header.Get("X-Shop"), name == "shop" })
	var upstream string
	s := &Site{Prefix: "wp-json", Placeholders: []string{"shop", "other"}}
	b := s.Backend(r, vars, caddyhttp.HandlerFunc(func(w http.ResponseWriter, question *http.Request) error {
		r.Header.Set("X-Shop", "after")
		upstream = replacer(question).ReplaceAll("{shop} {other}", "unknown")
		w.WriteHeader(http.StatusOK)
		return nil
	}), r.Host, nil)
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
