package gateway

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestForward_Vars: nothing is written to the variables that the handlers behind have had once
// they have answered. A connection that reverse_proxy still dials reads them, and Go ends the
// program where a map is read and written at once.
func TestForward_Vars(t *testing.T) {
	for name, c := range map[string]struct {
		config, target string
		answer         func(w http.ResponseWriter)
		status         int
	}{
		"no JSON to redact": {`{"platform":"cms","policies":{"redact":{"fields":[{"route":"/feed/options","fields":["x"]}]}}}`, "/cms-json/feed/options", func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, "{")
		}, http.StatusServiceUnavailable},
		"misread, counted": {`{"platform":"cms"}`, "/page", marked, http.StatusOK},
		"misread, refused": {`{"platform":"cms","misread":"refuse"}`, "/page", marked, http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			g := provisioned(t, c.config)
			g.sites[0].plain.hosts.Put("example.com", plainPage{asked: true, due: g.sites[0].Now().Add(plainEvery)})
			var theirs, answered map[string]any
			next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
				caddyhttp.SetVar(r.Context(), "behind", "set")
				w.Header().Set("Content-Type", "application/json")
				c.answer(w)
				theirs = varsOf(r)
				answered = maps.Clone(theirs)
				return nil
			})
			w := httptest.NewRecorder()
			r := prepared(w, c.target)
			if err := g.ServeHTTP(w, r, next); err != nil || w.Code != c.status {
				t.Fatal(err, w.Code, w.Body)
			}
			if !maps.Equal(theirs, answered) {
				t.Errorf("after the answer: %v\nbefore: %v", theirs, answered)
			}
			vars := varsOf(r)
			if refused := c.status != http.StatusOK; vars["behind"] != "set" || (vars[varOutcome] == "refused") != refused {
				t.Errorf("the server sees %v", vars)
			}
			repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
			if id, _ := repl.GetString("http.request.uuid"); w.Header().Get("X-Request-Id") != "" && w.Header().Get("X-Request-Id") != id {
				t.Errorf("the refusal has the id %s, the access log %s", w.Header().Get("X-Request-Id"), id)
			}
		})
	}
}

func marked(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Expose-Headers", "X-CMS-Total")
	_, _ = io.WriteString(w, "{}")
}
