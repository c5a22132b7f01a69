package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestLearned_Reload: what the REST root has shown outlives a reload, unless a byte of what leads to the
// site has changed. What did not fit is counted in both.
func TestLearned_Reload(t *testing.T) {
	p := newPlatform(t)
	p.answersRoot("/cms-json/", `{"home":"https://elsewhere.test","url":"http://elsewhere.test","namespaces":["wp/v2"],"routes":{}}`)
	guarded := "\tmetrics /metrics\n" + loginOnlyWith("deny /shut")
	g := startGateway(t, guarded+p.proxied())
	read := 0
	loads := func(what, site string, again bool) {
		t.Helper()
		if again {
			read++
		}
		g.load(site)
		g.do("GET /cms-json/open", "", asAdmin).want(t, 200, "/open")
		eventually(t, fmt.Sprintf("%s: %d readings", what, read), func() bool { return p.roots("/cms-json/") == read })
		eventually(t, what+": the gauge", func() bool {
			return strings.Contains(g.do("GET /metrics", "").body, `caddy_restwarden_misconfigured{problem="platform",site="*:`+g.port()+`"} 1`)
		})
	}
	loads("the first load", guarded+p.proxied(), true)
	loads("the same", guarded+p.proxied(), false)
	loads("another rule", strings.Replace(guarded, "deny /shut", "deny /closed", 1)+p.proxied(), true)
	loads("another base", strings.Replace(guarded, "deny /shut", "deny /closed\n\t\trelease 10.7", 1)+p.proxied(), true)
	loads("another upstream", guarded+"\treverse_proxy {\n\t\tto "+strings.TrimPrefix(p.URL, "http://")+"\n\t\theader_up X-Own 1\n\t}\n", true)
	loads("another handler", guarded+"\theader X-Own 1\n"+p.proxied(), true)
	loads("the same as at first", guarded+p.proxied(), true) // nobody has kept it
}

// TestLearned_Sites: a change of one site leaves what is known of the others, but a change of what may
// lead to all does not.
func TestLearned_Sites(t *testing.T) {
	one, two := newPlatform(t), newPlatform(t)
	address := machine.FreeAddress(t)
	caddyrun.StopAfter(t)
	load := func(more, siteOfTwo string) {
		t.Helper()
		site := func(host, body string) string {
			return "http://" + host + ":" + machine.Port(address) + " {\n\tbind 127.0.0.1\n" + body + "\n}\n"
		}
		config := "{\n\tadmin off\n\tpersist_config off\n\tauto_https off\n\tlog {\n\t\toutput discard\n\t}\n}\n" +
			site("one.example", loginOnly+one.proxied()) + site("two.example", siteOfTwo) + more
		if err := caddy.Load(caddyrun.Adapt(t, config), true); err != nil {
			t.Fatal(err)
		}
		httpClient.CloseIdleConnections()
		for _, host := range []string{"one.example", "two.example"} {
			req, err := client.Request(t.Context(), "http://"+address, "GET /cms-json/open", "", client.Lines("Host: "+host, asAdmin))
			if err != nil {
				t.Fatal(err)
			}
			(&gateway{t: t}).roundTrip(req).want(t, 200, "/open")
		}
	}
	reads := func(what string, ofOne, ofTwo int) {
		t.Helper()
		eventually(t, what, func() bool { return one.roots("/cms-json/") == ofOne && two.roots("/cms-json/") == ofTwo })
	}
	load("", loginOnly+two.proxied())
	reads("the first load", 1, 1)
	load("", strings.Replace(loginOnly, "login_only", "login_only\n\t\tdeny /shut", 1)+two.proxied())
	reads("a rule of the second site", 1, 2)
	load("http://new.example:"+machine.Port(address)+" {\n\tbind 127.0.0.1\n\trespond 204\n}\n", strings.Replace(loginOnly, "login_only", "login_only\n\t\tdeny /shut", 1)+two.proxied())
	reads("a third site", 1, 2)
	load("http://*.example:"+machine.Port(address)+" {\n\tbind 127.0.0.1\n\trespond 204\n}\n", strings.Replace(loginOnly, "login_only", "login_only\n\t\tdeny /shut", 1)+two.proxied())
	reads("a site for all hosts", 2, 3)
}
