package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestConfirm_GivenBack: a confirmation is used up by a call that ran, or may have run, and by
// no other.
func TestConfirm_GivenBack(t *testing.T) {
	rpc := func(code, message string) string {
		return `{"jsonrpc":"2.0","id":7,"error":{"code":` + code + `,"message":"` + message + `"}}`
	}
	wordpress := func(code, message string) string {
		return `{"code":"` + code + `","message":"` + message + `","data":{}}`
	}
	for name, test := range map[string]struct {
		byREST bool
		status int
		body   string // "" breaks off
		back   bool
	}{
		"no session":                      {false, 404, rpc("-32005", "Session not found"), true},
		"no session, to 0.4.1":            {false, 200, rpc("-32602", "Invalid params: Invalid or expired session"), true},
		"no session header":               {false, 400, rpc("-32600", "Invalid Request: Missing Mcp-Session-Id header"), true},
		"broken JSON":                     {false, 400, wordpress("rest_invalid_json", "no"), true},
		"nobody is logged in":             {false, 401, wordpress("rest_forbidden", "no"), true},
		"unknown tool":                    {false, 404, rpc("-32003", "no"), true},
		"nonce":                           {false, 403, wordpress("rest_cookie_invalid_nonce", "no"), true},
		"REST, an error that it hands on": {true, 401, wordpress("rest_forbidden", "no"), false},
		"it ran":                          {false, 200, `{"jsonrpc":"2.0","id":7,"result":{"isError":false}}`, false},
		"the tool failed":                 {false, 200, `{"jsonrpc":"2.0","id":7,"result":{"isError":true}}`, false},
		"an error within 200":             {false, 200, rpc("-32603", "no"), false},
		"bad arguments":                   {false, 200, rpc("-32602", "Missing required parameter"), false},
		"the server failed":               {false, 500, rpc("-32603", "no"), false},
		"the proxy behind has no answer":  {false, 502, "Bad Gateway", false},
		"400 that says nothing":           {false, 400, "Bad Request", false},
		"it broke off":                    {false, 404, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g, p, notices := confirmingGateway(t, "")
			call := func() reply { return g.do("POST "+agentsDoor, someTool, asAdmin, asJSON, onShop) }
			if test.byREST {
				call = g.run
			}
			call().want(t, 403, "rest_confirmation_required")
			g.do("POST "+g.pathOf(told(t, notices).Link), "decision=give", form, onShop).want(t, 200, "Confirmed")
			plain := p.answering()
			p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
				if isQuestion(r) && r.Method == http.MethodGet {
					return plain(w, r)
				}
				w.Header().Set("Content-Type", "application/json; charset=UTF-8")
				if test.body == "" {
					w.Header().Set("Content-Length", "999")
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
				if test.body == "" {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
				return true
			})
			if test.body != "" {
				if got := call(); got.status != test.status || got.body != test.body {
					t.Fatalf("got %d %s", got.status, got.body)
				}
			} else if res, err := (&http.Client{Timeout: 20 * time.Second}).Do(brokenRequest(t, g)); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			p.setAnswer(plain)
			p.received()
			if again := call(); (again.status == 200) != test.back {
				t.Errorf("the same call again: %d %s", again.status, again.body)
			}
			if ran := p.received(); (len(ran) == 1) != test.back {
				t.Errorf("ran %q", ran)
			}
		})
	}
}

func brokenRequest(t *testing.T, g *gateway) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url+agentsDoor, strings.NewReader(someTool))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "shop.example.com"
	for _, line := range []string{asAdmin, asJSON} {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	return r
}

// TestConfirm_NoBackend: a call that no backend took is given back.
func TestConfirm_NoBackend(t *testing.T) {
	p := newDeletingShop(t)
	dead := machine.FreeAddress(t)
	site := strings.Replace(confirmingSite(p, "", "shop.example.com"), p.proxied(), "\t@post method POST\n\t\treverse_proxy @post "+dead+"\n\t"+p.proxied(), 1)
	g := administered(t, "", caddyrun.Site{Body: site})
	g.run().want(t, 403, "rest_confirmation_required")
	id := waitingAt(t, g.file.Admin)[0].ID
	g.admin("POST", "confirmations/"+id, `{"give":true}`, 200, "given")
	for range 2 {
		g.run().want(t, 502, "")
		if all := waitingAt(t, g.file.Admin); len(all) != 1 || all[0].ID != id || all[0].State != "given" {
			t.Errorf("after 502: %+v", all)
		}
	}
}

// TestConfirm_SecondBackend: a backend that cannot be reached proves nothing where another one has
// answered the call before.
func TestConfirm_SecondBackend(t *testing.T) {
	p := newDeletingShop(t)
	dead := machine.FreeAddress(t)
	site := strings.Replace(confirmingSite(p, "", "shop.example.com"), p.proxied(), "\t@post method POST\n\t\treverse_proxy @post "+strings.TrimPrefix(p.URL, "http://")+
		" {\n\t\t\thandle_response {\n\t\t\t\treverse_proxy "+dead+"\n\t\t\t}\n\t\t}\n\t"+p.proxied(), 1)
	g := administered(t, "", caddyrun.Site{Body: site})
	g.run().want(t, 403, "rest_confirmation_required")
	id := waitingAt(t, g.file.Admin)[0].ID
	g.admin("POST", "confirmations/"+id, `{"give":true}`, 200, "given")
	p.received()
	g.run().want(t, 502, "")
	g.run().want(t, 403, "rest_confirmation_required")
	if ran := p.received(); len(ran) != 1 {
		t.Errorf("ran %q", ran)
	}
}

// TestSite_Apart: gateways that listen on different addresses are one for confirmations; two
// servers of one configuration are not.
func TestSite_Apart(t *testing.T) {
	of := func(server, way string) *Gateway {
		s := &site{}
		s.Name, s.Server = "shop.example.com", server+way
		return &Gateway{server: server, sites: []*site{s}}
	}
	for _, test := range []struct {
		gateways []*Gateway
		want     []string
	}{
		{[]*Gateway{of("10.0.0.1:443", "")}, []string{""}},
		{[]*Gateway{of("10.0.0.2:8443", "")}, []string{""}},
		{[]*Gateway{of("10.0.0.1:443", "a"), of("10.0.0.1:443", "b")}, []string{"a", "b"}},
		{[]*Gateway{of("10.0.0.1:443", ""), of("10.0.0.1:80", "")}, []string{"tcp/443-443", "tcp/80-80"}},
		{[]*Gateway{of("10.0.0.1:443", ""), of("10.0.0.2:443", "")}, []string{"10.0.0.1:443", "10.0.0.2:443"}},
	} {
		a := &App{gateways: test.gateways}
		a.tellApart()
		for i, g := range test.gateways {
			if got := g.sites[0].Apart; got != test.want[i] {
				t.Errorf("%s is %q, want %q", g.server, got, test.want[i])
			}
		}
	}
}
