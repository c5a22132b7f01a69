package gateway

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestGateway_VarsLogAndMetrics(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, strings.Replace(loginOnly, "login_only", "login_only\n\t\tallow role administrator /shop/v3/**", 1)+
		"\tmetrics /metrics\n\theader >X-Vars \"{http.vars.restwarden.kind} {http.vars.restwarden.outcome} {http.vars.restwarden.route} {http.vars.restwarden.method} {http.vars.restwarden.caller} {http.vars.restwarden.policy} {http.vars.restwarden.code}\"\n"+p.proxied())
	vars := func(r reply, want string) {
		t.Helper()
		if got := strings.Join(strings.Fields(r.header.Get("X-Vars")), " "); got != want {
			t.Errorf("vars %q, want %q", got, want)
		}
	}
	vars(g.do("GET /", ""), "page pass")
	vars(g.do("GET /cms-json/cms/v2/posts/x?secret=hush", ""), "call refused cms/v2 GET anonymous access rest_not_logged_in")
	vars(g.do("GET /cms-json/unknown/x", "", asAdmin), "call pass unknown GET user")
	g.do("GET /cms-json/unknown/x", "", asAdmin) // the caller is remembered by now
	vars(g.do("POST /cms-json/complianz/v1/track", ""), "call pass complianz/v1 POST")
	vars(g.do("GET /cms-json/shop/v3/orders", "", asCustomer), "call refused shop/v3 GET user access rest_forbidden")
	vars(g.do("GET /cms-json/cms/v2/posts", "", asWrong), "call refused cms/v2 GET access platform")
	vars(g.do("GET /cms-json/cms/v2/posts?rest_route=/cms/v2/users", ""), "refused refused unknown call rest_ambiguous_request") //nolint:dupword // a kind and an outcome

	log := g.logged()
	for _, want := range []string{
		`"policy":"access","code":"rest_forbidden","outcome":"refused","rule":"allow role administrator /shop/v3/**","at":"Caddyfile:`,
		`"client_ip":"127.0.0.1"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
	for _, secret := range []string{"hush", strings.TrimPrefix(asAdmin, "Authorization: Basic "), "admin:pw", "t0ken"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s in the log", secret)
		}
	}
	metrics := g.do("GET /metrics", "").body
	for _, want := range []string{
		`caddy_restwarden_decisions_total{code="rest_not_logged_in",outcome="refused",policy="access"} 1`,
		`caddy_restwarden_decisions_total{code="rest_forbidden",outcome="refused",policy="access"} 1`,
		`caddy_restwarden_decisions_total{code="platform",outcome="refused",policy="access"} 1`,
		`caddy_restwarden_decisions_total{code="rest_ambiguous_request",outcome="refused",policy="call"} 1`,
		`caddy_restwarden_decisions_total{code="shop_rest_shop_order_invalid_id",outcome="would_refuse",policy="order_type"} 0`,
		`caddy_restwarden_decisions_total{code="none",outcome="pass",policy="none"} 3`,
		`caddy_restwarden_decision_duration_seconds_count 7`,
		`caddy_restwarden_lookups_total{kind="caller",result="ok"} 3`,
		`caddy_restwarden_lookups_total{kind="caller",result="cached"} 1`,
		`caddy_restwarden_lookup_duration_seconds_count{kind="caller"} 3`,
		`caddy_restwarden_lookup_duration_seconds_bucket{kind="caller",le="30"} 3`, // the default timeout
		`caddy_restwarden_store_operations_total{op="take",result="ok"} 0`,
		`caddy_restwarden_spooled_bytes 0`,
		`caddy_restwarden_buffered_bytes 0`,
		`caddy_restwarden_site_info{mode="enforce",platform="cms",release="auto",site="*:` + g.port() + `"} 1`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	vars(g.do("POST /cms-json/batch/v1", `{"requests":[{"path":"bad"}]}`, asAdmin, "Content-Type: application/json"), "refused refused unknown user call rest_ambiguous_request") //nolint:dupword // a var each
}

// series returns the value of the counter or gauge with these values of its labels, in the order
// of their names.
func series(t *testing.T, registry *prometheus.Registry, name string, values ...string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var got []string
			for _, label := range m.GetLabel() {
				got = append(got, label.GetValue())
			}
			if f.GetName() == name && slices.Equal(got, values) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no %s %q", name, values)
	return 0
}
