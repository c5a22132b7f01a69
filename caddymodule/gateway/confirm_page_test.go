package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/policies/confirm"
)

// TestConfirm_Page: the owner gets a link, sees what is to run, and decides once. No log,
// metric, status or event has arguments or token.
func TestConfirm_Page(t *testing.T) {
	g, p, notices := confirmingGateway(t, "")
	g.run().want(t, 403, "rest_confirmation_required")
	n := told(t, notices)
	page := g.pathOf(n.Link)
	if n.Ability != "shop/delete" || n.Caller != "user 5" || time.Until(n.Expires) <= 0 || n.Site != "shop.example.com" {
		t.Errorf("told %+v", n)
	}
	// The origin of a link changes once the REST root has been read.
	if all := waitingAt(t, g.file.Admin); len(all) != 1 || g.pathOf(all[0].Link) != page || all[0].ID != n.Confirmation || !strings.Contains(string(all[0].Arguments), secretWord) {
		t.Errorf("waiting: %+v", all)
	}
	shown := g.do("GET "+page, "", onShop)
	shown.want(t, 200, "&lt;script&gt;alert(1)&lt;/script&gt;")
	if strings.Contains(shown.body, "<script") || !strings.Contains(shown.body, secretWord) || !strings.Contains(shown.body, n.Confirmation) {
		t.Errorf("the page is %s", shown.body)
	}
	checkPageHeaders(t, shown)
	undecided(t, g, page)
	g.run().want(t, 403, n.Confirmation)
	if ran := p.received(); len(ran) != 0 {
		t.Errorf("ran %q", ran)
	}
	g.do("POST "+page, "decision=give", form, onShop).want(t, 200, "Confirmed")
	g.do("POST "+page, "decision=reject", form, onShop).want(t, 404, "used up")
	g.do("GET "+page, "", onShop).want(t, 404, "used up")
	g.do(runDelete, someInput, asCustomer, asJSON, onShop).want(t, 403, "rest_confirmation_required")
	g.do(runDelete, `{"input":{"note":"another"}}`, asAdmin, asJSON, onShop).want(t, 403, "rest_confirmation_required")
	g.run().want(t, 200, `"ran":true`)
	again := g.run()
	again.want(t, 403, "rest_confirmation_required")
	if ran := p.received(); len(ran) != 1 || strings.Contains(again.body, n.Confirmation) {
		t.Errorf("ran %q, then %s", ran, again.body)
	}
	keptQuiet(t, g, page, g.pathOf(told(t, notices).Link))
}

// undecided sends the page what decides nothing.
func undecided(t *testing.T, g *gateway, page string) {
	t.Helper()
	for _, c := range []struct {
		line, body, header string
		status             int
	}{
		{"HEAD " + page, "", "", 200},
		{"GET " + page + "?decision=give", "", "", 200},
		{"POST " + page + "?decision=give", "", form, 400},
		{"POST " + page, "decision=perhaps", form, 400},
		{"POST " + page, "decision=give&decision=reject", form, 400},
		{"POST " + page, "decision=give", "Content-Type: text/plain", 400},
		{"POST " + page, "decision=give&x=" + strings.Repeat("x", confirming.MaxDecision), form, 400},
		{"PUT " + page, "decision=give", form, 405},
		{"GET " + page + "x", "", "", 404},
		{"POST " + page[:len(page)-1], "decision=give", form, 404},
		{"GET " + confirming.Path, "", "", 404},
	} {
		headers := []string{onShop}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		got := g.do(c.line, c.body, headers...)
		if got.status != c.status {
			t.Errorf("%s %.40q: %d, want %d", c.line, c.body, got.status, c.status)
		}
		checkPageHeaders(t, got)
	}
}

// keptQuiet looks for arguments and the tokens of pages wherever the gateway tells of calls.
func keptQuiet(t *testing.T, g *gateway, pages ...string) {
	t.Helper()
	status := g.admin("GET", "sites", "", 200, "") + g.admin("GET", "sites/shop.example.com/refusals", "", 200, "rest_confirmation_required")
	metrics := g.metrics()
	eventually(t, "the decision and other calls are logged", func() bool {
		return strings.Contains(g.logged(), `"confirmation given"`) && strings.Contains(g.logged(), `/shop/delete/run"`)
	})
	for what, text := range map[string]string{"log": g.logged(), "metrics": metrics, "status": status} {
		for _, secret := range append([]string{secretWord, "h00k"}, pages...) {
			if strings.Contains(text, strings.TrimPrefix(secret, confirming.Path)) {
				t.Errorf("the %s has %s", what, secret)
			}
		}
	}
	if !strings.Contains(metrics, `code="rest_confirmation_required"`) || strings.Contains(g.logged(), confirming.Path) {
		t.Error("no metric of the refusals, or the page is in the access log")
	}
}

func checkPageHeaders(t *testing.T, got reply) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
		"X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin", "Content-Type": "text/html; charset=utf-8",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q", name, got.header.Get(name))
		}
	}
	csp := got.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("no %s in %s", want, csp)
		}
	}
	if _, style, ok := strings.Cut(got.body, "<style>"); ok {
		style, _, _ = strings.Cut(style, "</style>")
		sum := sha256.Sum256([]byte(style))
		if !strings.Contains(csp, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the style is not that of %s", csp)
		}
	}
}

// metrics returns what Caddy exports.
func (g *gateway) metrics() string {
	g.t.Helper()
	req, err := client.Request(g.t.Context(), "http://"+g.file.Admin, "GET /metrics", "", client.Lines())
	if err != nil {
		g.t.Fatal(err)
	}
	got, err := client.Do(strangers, req)
	if err != nil {
		g.t.Fatal(err)
	}
	return got.Body
}

// TestConfirm_WrongTokens: an address may try a few, and then not even the right one.
func TestConfirm_WrongTokens(t *testing.T) {
	g, _, notices := confirmingGateway(t, "")
	g.run().want(t, 403, "rest_confirmation_required")
	page := g.pathOf(told(t, notices).Link)
	for range 2 * confirming.WrongTokens.Count { // a right one costs nothing
		g.do("GET "+page, "", onShop).want(t, 200, "Reject")
	}
	for range confirming.WrongTokens.Count {
		g.do("GET "+confirming.Path+strings.Repeat("A", confirm.TokenLen), "", onShop).want(t, 404, "Not found")
	}
	got := g.do("GET "+page, "", onShop)
	got.want(t, 429, "Too many requests")
	checkPageHeaders(t, got)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

// TestConfirm_BrokenSite: a site that cannot judge serves the page all the same: an error
// would be logged with the address.
func TestConfirm_BrokenSite(t *testing.T) {
	g, _, notices := confirmingGateway(t, "")
	g.run().want(t, 403, "rest_confirmation_required")
	page := g.pathOf(told(t, notices).Link)
	for _, s := range current.Load().confirming() {
		s.broken = errors.New("this site is broken")
	}
	g.do("GET "+page, "", onShop).want(t, 200, "Reject")
	g.run().want(t, 503, "")
	eventually(t, "the log of the call", func() bool { return strings.Contains(g.logged(), "this site is broken") })
	if strings.Contains(g.logged(), confirming.Path) {
		t.Error("the page is in the log")
	}
}

// TestOrigin: a link has scheme and port of the site's home address, and https before that is
// known, or where it is of another host.
func TestOrigin(t *testing.T) {
	for name, c := range map[string]struct{ listens, asked, home, want string }{
		"not read":       {"tcp/:443", "", "", "https://shop.example.com"},
		"a port":         {"tcp/:8443", "", "", "https://shop.example.com:8443"},
		"plain http":     {"tcp/:80", "shop.example.com", "http://shop.example.com/blog", "http://shop.example.com"},
		"with its port":  {"tcp/:8080", "shop.example.com:8080", "http://shop.example.com:8080", "http://shop.example.com:8080"},
		"TLS in front":   {"tcp/:8080", "shop.example.com", "https://Shop.example.com", "https://Shop.example.com"},
		"another host":   {"tcp/:80", "shop.example.com", "http://www.shop.example.com", "https://shop.example.com"},
		"TLS here":       {"tcp/:443", "shop.example.com", "http://shop.example.com", "https://shop.example.com"},
		"another scheme": {"tcp/:80", "shop.example.com", "javascript://shop.example.com", "https://shop.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			g := provisioned(t, `{"platform":"wordpress"}`)
			s := g.sites[0]
			g.server, s.way.Hosts = c.listens, []string{"*.example.com", "Shop.Example.com"}
			if s.way.Server = new(caddyhttp.Server); strings.HasSuffix(c.listens, "443") {
				s.way.Server.TLSConnPolicies = caddytls.ConnectionPolicies{new(caddytls.ConnectionPolicy)}
			}
			if c.asked != "" {
				h := new(hostRoot)
				h.home.Store(&c.home)
				s.discovery.hosts.Put(c.asked, h)
			}
			if got := s.origin(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
