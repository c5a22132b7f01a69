package gateway

import (
	"fmt"
	"net/http"
	"testing"

	referencesite "github.com/restwarden/restwarden/cmd/platform/site"
)

// TestJournal_Proven: without a rule that asks, the platform's answer verifies a credential, and only one that it has accepted. A
// stranger who names somebody's credential stays one who claims it, wherever the answer is for everybody.
func TestJournal_Proven(t *testing.T) {
	r := startReference(t, referencesite.Options{Release: "11.1"}, "\trestwarden cms {\n\tjournal all\n\t}")
	journal := func() []map[string]any { return lines(t, r.log, `"logger":"http.handlers.restwarden.journal"`) }
	key, password := basicAuth(r.info.Keys.ReadWriteKey), r.as("admin")
	strange, wrong := basicAuth("ck_0123456789abcdef:cs_1"), basicAuth("admin:wrong")
	cookie, nonce := r.site.Nonce("admin")
	session := []string{"Cookie: " + cookie.Name + "=" + cookie.Value, "X-CMS-Nonce: " + nonce}
	orders, order := "/cms-json/shop/v3/orders", fmt.Sprint("/cms-json/shop/v3/orders/", r.info.Orders[0])
	for name, test := range map[string]struct {
		line, body string
		headers    []string
		status     int
		verified   bool
	}{
		"a key":                       {"GET " + orders, "", []string{key}, 200, true},
		"a key that writes":           {"PUT " + order, `{"customer_note":"x"}`, []string{key, asJSON}, 200, true},
		"a password":                  {"GET /cms-json/cms/v2/users/me", "", []string{password}, 200, true},
		"a password that writes":      {"POST /cms-json/cms/v2/posts", `{"title":"x"}`, []string{password, asJSON}, 201, true},
		"a session":                   {"POST /cms-json/cms/v2/posts", `{"title":"x"}`, append(session, asJSON), 201, true},
		"its OPTIONS":                 {"OPTIONS " + orders, "", []string{key}, 200, false},
		"its public read":             {"GET /cms-json/cms/v2/posts", "", []string{password}, 200, false},
		"another key":                 {"GET " + orders, "", []string{strange}, 401, false},
		"another key, in an envelope": {"GET " + orders + "?_envelope=1", "", []string{strange}, 200, false},
		"another key's OPTIONS":       {"OPTIONS " + orders, "", []string{strange}, 200, false},
		"another key's namespace":     {"GET /cms-json/shop/v3", "", []string{strange}, 200, false},
		"another key's checkout":      {"GET /cms-json/shop/store/v1/products", "", []string{strange}, 200, false},
		"another key's consent":       {"POST /cms-json" + r.info.Routes.Consent, `{"consent":true}`, []string{strange, asJSON}, 0, false},
		"another key beside a login":  {"GET /cms-json/cms/v2/users/me?consumer_key=ck_0123456789abcdef", "", []string{password}, 200, false},
		"another key in a form":       {"POST /cms-json/cms/v2/posts", "title=x&consumer_key=ck_0123456789abcdef", append(session, form), 201, false},
		"a wrong password":            {"GET /cms-json/cms/v2/users/me", "", []string{wrong}, 401, false},
		"a session without a nonce":   {"GET /cms-json/cms/v2/users/me", "", session[:1], 401, false},
		"a part of a batch":           {"POST " + orders + "/batch", fmt.Sprintf(`{"update":[{"id":%d}]}`, r.info.Orders[0]), []string{key, asJSON}, 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(journal())
			got := r.do(test.line, test.body, test.headers...)
			eventually(t, "the line", func() bool { return len(journal()) > before })
			line := journal()[before]
			credential, _ := line["credential"].(map[string]any)
			if test.status != 0 && got.status != test.status || len(credential) == 0 || (credential["claimed"] == nil) != test.verified {
				t.Errorf("%d, %v: %s", got.status, line, got.body)
			}
		})
	}
}

// TestJournal_ProvenByPage: a page in place of an answer, as a firewall's, verifies nothing.
func TestJournal_ProvenByPage(t *testing.T) {
	p := newPlatform(t)
	p.answerCalls(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<html>")) // a test
	})
	g, journal := startJournal(t, p, "journal all")
	g.do("GET /cms-json/shop/v3/orders", "", asKey)
	eventually(t, "the line", func() bool { return len(journal()) == 1 })
	holds(t, journal()[0], map[string]any{"credential": map[string]any{"kind": "key", "key": "789abcd", "claimed": true}})
}
