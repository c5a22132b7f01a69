package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

type broken struct{}

func (broken) Check(context.Context, *policy.Request) (policy.Verdict, error) { panic("broken") }

// TestGateway_PanicForwardsNothing: a policy that panics ends the request, whatever on_error says, and the site gets nothing of it.
// Go's server takes the panic. The next request is judged as ever.
func TestGateway_PanicForwardsNothing(t *testing.T) {
	g := provisioned(t, `{"platform":"cms","policies":{"access":{"login_only":true}}}`)
	forwarded := false
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { forwarded = true; return nil })
	request := func() (w *httptest.ResponseRecorder, panicked any) {
		w = httptest.NewRecorder()
		defer func() { panicked = recover() }()
		if err := g.ServeHTTP(w, prepared(w, "/cms-json/cms/v2/posts"), next); err != nil {
			t.Error(err)
		}
		return w, nil
	}
	s := g.sites[0]
	judges := s.chain
	s.chain = policy.Link(nil, "", policytest.Linked("broken", broken{}, policy.Settings{OnError: policy.PassOnError}))
	if _, panicked := request(); panicked != "broken" || forwarded {
		t.Errorf("panicked with %v, forwarded %v", panicked, forwarded)
	}
	s.chain = judges
	if w, panicked := request(); w.Code != http.StatusUnauthorized || panicked != nil || forwarded {
		t.Errorf("%d, panicked with %v, forwarded %v", w.Code, panicked, forwarded)
	}
}
