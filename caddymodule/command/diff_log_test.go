package command_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/compare"
)

// TestDiff_Log: calls of a journal, of records and of an access log are counted by what becomes of them.
func TestDiff_Log(t *testing.T) {
	const site, maria = "shop.example.com", `{"kind":"user","login":"maria"}`
	handled := func(method, uri, header string) string {
		return `{"level":"info","ts":1767225600.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"203.0.113.9","client_ip":"203.0.113.9","method":"` + method +
			`","host":"shop.example.com","uri":"` + uri + `","headers":{` + header + `}},"status":200}` + "\n"
	}
	log := passed(site, erp, "PUT", "/wc/v3/orders/:id", "203.0.113.7", 200, start) + passed(site, erp, "GET", "/wc/v3/orders", "203.0.113.7", 200, start) +
		passed(site, maria, "POST", "/acme/v1/x", "203.0.113.8", 200, start) + passed(site, maria, "POST", "unknown", "203.0.113.8", 200, start) +
		passed("other.example.com", maria, "POST", "/acme/v1/x", "203.0.113.8", 200, start) +
		handled("POST", "/wp-json/acme/v1/x", "") + handled("POST", "/?rest_route=/acme/v1/x", `"Cookie":["REDACTED"]`) + handled("GET", "/about/", "") +
		observed(site, "POST", "/acme/v1/x", "203.0.113.9", start) + "another program\n"
	old := shop("login_only", "allow anyone POST /acme/v1/x", "scope erp {\nkey a1b2c3d\nallow /wc/v3/**\n}")
	now := shop("login_only", "allow role editor POST /acme/v1/x", "scope erp {\nkey a1b2c3d\nallow GET /wc/v3/**\n}")
	file := logFile(t, "calls.log", []byte(log))
	report, status := diffed(t, old, now, "--log", file, "--log", file)
	want := compare.Traffic{Calls: 6, Others: 1, Unread: 1, Closed: 3, MayClose: 2, Clients: 3, Credentials: 2, Twice: true}
	got := *report.Log
	got.Groups = nil
	if status != 0 || !reflect.DeepEqual(got, want) || len(report.Log.Groups) != 4 {
		t.Errorf("%d, %+v, %+v", status, got, report.Log.Groups)
	}
}

// TestDiff_LogSomebody: a request of an access log that carries a credential may be of anybody, wherever the credential stands.
func TestDiff_LogSomebody(t *testing.T) {
	scoped := func(route string) string { return shop("scope erp {\nkey a1b2c3d\nallow GET " + route + "\n}") }
	for name, tt := range map[string]struct{ old, now, query, headers string }{
		"of a scope":       {scoped("/wc/v3/**"), scoped("/wc/v3/orders"), "", `"Authorization":["REDACTED"]`},
		"key in the query": {shop(), shop("login_only"), "?consumer_key=ck_1&consumer_secret=cs_1", ""},
	} {
		file := logFile(t, "calls.log", []byte(`{"ts":1767225600.5,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"203.0.113.9","method":"GET","host":"shop.example.com",`+
			`"uri":"/wp-json/wc/v3/products`+tt.query+`","headers":{`+tt.headers+`}},"status":200}`+"\n"))
		if report, status := diffed(t, tt.old, tt.now, "--log", file); status != 0 || report.Log.MayClose != 1 || report.Log.Closed != 0 {
			t.Errorf("%s: %d, %+v", name, status, report.Log)
		}
	}
}

// TestDiff_Markdown: what clients have sent is no markup in a comment, and calls nobody there.
func TestDiff_Markdown(t *testing.T) {
	log, routes := "", []string{"[a](http:x)", "@octocat"}
	for _, sent := range routes {
		log += `{"ts":1767225600.5,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"203.0.113.9","method":"GET","host":"shop.example.com","uri":"/wp-json/acme/v1/` +
			sent + `","headers":{}},"status":200}` + "\n"
	}
	file := logFile(t, "calls.log", []byte(log))
	names := twoConfigurations(t, shop("allow anyone /acme/**", "login_only"), shop("login_only"))
	out, problems, status := command.Run(nil, append([]string{"diff", "--format", "markdown", "--log", file}, names...)...)
	for _, sent := range routes {
		if status != 0 || strings.Count(out, sent) != 1 || !strings.Contains(out, "\n- `closed: 1 of GET /acme/v1/"+sent+" by ") {
			t.Errorf("%d, %s%s", status, problems, out)
		}
	}
}
