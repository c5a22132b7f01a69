package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

const guarded = "\trestwarden cms {\n\t\tlogin_only\n\t\tallow users /own/v1/**\n\t\tallow anyone GET /free/v1/x\n\t\tdeny /denied/v1/x\n\t\tsignature hook {\n\t\t\tkey secret\n\t\t}\n\t\tallow signed hook POST /hook/v1/in\n\t}\n"

// everySpelling are forms of a call of "/acme/v1/x" by GET that the platform takes.
var everySpelling = []string{
	"GET /cms-json/acme/v1/x", "GET /?rest_route=/acme/v1/x", "GET /?rest_route=%2Facme%2Fv1%2Fx", "GET /cms-json/acme/v1/X", "GET /index.php?rest_route=/acme/v1/x",
	"HEAD /cms-json/acme/v1/x", "GET /cms-json/acme/v1/x/",
}

// TestOpen: what is opened passes in every spelling and nothing else does; it gives way to what an owner says, ends by itself, and
// shows in status, log, metrics and records.
func TestOpen(t *testing.T) {
	p := newPlatform(t)
	site := guarded + "\tmetrics /metrics\n" + p.proxied()
	g := administered(t, "\tmetrics\n", caddyrun.Site{Body: site})
	at := "sites/*:" + g.port() + "/open"
	arrives := func(want bool) {
		t.Helper()
		for _, line := range everySpelling {
			if r := g.do(line, ""); (r.status == 401) == want {
				t.Errorf("%s: %d %s, want it to pass: %v", line, r.status, r.body, want)
			}
		}
	}
	arrives(false)
	g.admin("POST", at, `{"for":"1h","methods":["GET"],"route":"/acme/v1/x"}`, 200, `"line":"GET /acme/v1/x","on":true`)
	arrives(true)
	g.do("GET /cms-json/free/v1/x", "")
	const passed = `"msg":"call passed"`
	if n := strings.Count(g.logged(), passed); n != len(everySpelling) || strings.Count(g.logged(), `"rule":"open GET /acme/v1/x"`) != n {
		t.Errorf("%d lines of calls that the line has opened", n)
	}
	g.admin("POST", at, `{"for":"1h","methods":["POST"],"route":"/acme/v1/b"}`, 200, `"on":true`)
	if r := g.do("POST /cms-json/batch/v1", `{"requests":[{"path":"/acme/v1/b"},{"path":"/denied/v1/x"}]}`, asJSON, asAdmin); r.status < 400 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := g.do("POST /cms-json/batch/v1", `{"requests":[{"path":"/acme/v1/b"},{"path":"/acme/v1/b"}]}`, asJSON, asAdmin); r.status == 401 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if n := strings.Count(g.logged(), `"rule":"open POST /acme/v1/b","batch":"POST`); n != 2 {
		t.Errorf("%d lines after a batch", n)
	}
	g.admin("POST", at, `{"for":"0s","methods":["POST"],"route":"/acme/v1/b"}`, 200, `"on":false`)
	g.do("POST /cms-json/acme/v1/x", "{}", asJSON).want(t, 401, "")
	g.do("GET /cms-json/acme/v1/y", "").want(t, 401, "")
	g.reload(site + "\n\theader X-Changed yes\n")
	arrives(true)
	st := g.statuses()[g.site()]
	if len(st.Opens) != 1 || st.Opens[0].Line != "GET /acme/v1/x" || st.Opens[0].Until == nil || st.Opens[0].Address != "127.0.0.1" || len(st.Closes) != 0 {
		t.Errorf("%+v", st)
	}
	g.admin("POST", "lockdown", `{"for":"2h"}`, 200, `"all":true`)
	arrives(false)
	g.admin("POST", at, `{"for":"1h","route":"/acme/v1/z"}`, 409, "it cannot pass lockdown until")
	g.admin("POST", at, `{"for":"3h","route":"/acme/v1/z"}`, 200, `"stops":[{"line":"lockdown until`)
	g.admin("POST", "lockdown", `{"for":"0s"}`, 200, `"lockdown":null`)
	arrives(true)
	measures(t, g, fmt.Sprintf("caddy_restwarden_open{site=%q} 2\n", g.site()))
	g.admin("POST", at, `{"for":"0s","methods":["GET"],"route":"/acme/v1/x"}`, 200, `"on":false`)
	arrives(false)
	g.admin("POST", at, `{"for":"400ms","methods":["GET"],"route":"/acme/v1/x"}`, 200, `"on":true`)
	arrives(true)
	eventually(t, "the end", func() bool { return strings.Contains(g.logged(), `"line":"GET /acme/v1/x","by":"time"`) })
	arrives(false)
	measures(t, g, fmt.Sprintf("caddy_restwarden_open{site=%q} 1\n", g.site()))
	for _, want := range []string{
		`"msg":"switched on","switch":"open","site":"` + g.site() + `","line":"GET /acme/v1/x"`, `"msg":"switched off","switch":"open","site":"` + g.site() + `","line":"GET /acme/v1/x","by":"127.0.0.1"`,
	} {
		if !strings.Contains(g.logged(), want) {
			t.Errorf("no %s in the log", want)
		}
	}
}

// measures holds that the metrics of a site with "metrics /metrics" have a line.
func measures(t *testing.T, g *gateway, want string) {
	t.Helper()
	if text := g.do("GET /metrics", "").body; !strings.Contains(text, want) {
		t.Errorf("no %s in the metrics", want)
	}
}

// TestOpen_Stops: the answer names what a line does not pass. One that lets nobody pass is not switched on.
func TestOpen_Stops(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: guarded + p.proxied()})
	at := "sites/*:" + g.port() + "/open"
	g.admin("POST", at, `{"for":"1h","methods":["GET"],"route":"/acme/v1/x"}`, 200, `"on":true`)
	for body, why := range map[string]string{
		`{"for":"1h","route":"/own/v1/x"}`:                                "it cannot pass allow users /own/v1/** at Caddyfile:",
		`{"for":"1h","route":"/denied/v1/x"}`:                             "it cannot pass deny /denied/v1/x at Caddyfile:",
		`{"for":"1h","methods":["POST"],"route":"/hook/v1/in"}`:           "it cannot pass allow signed hook POST /hook/v1/in",
		`{"for":"1h","methods":["GET"],"route":"/cms/v2/users"}`:          "built-in: only users",
		`{"for":"1h","methods":["GET"],"route":"/free/v1/x"}`:             "it would change nothing, and is not switched on: GET /free/v1/x passes without it: allow anyone GET /free/v1/x",
		`{"for":"8d","route":"/acme/v1/x"}`:                               "is not between 0s and 7d",
		`{"for":"1h","route":"/*/v1/x"}`:                                  "opens calls of every plugin: name the namespace",
		`{"for":"1h","route":"/acme/**"}`:                                 "opens whatever is below",
		`{"route":"/acme/v1/x"}`:                                          "say how long",
		`{"for":"1h"}`:                                                    "name a route, or a plugin",
		`{"for":"1h","plugin":"contact-form"}`:                            "contact-form-7",
		`{"for":"1h","methods":["GTE"],"route":"/acme/v1/x"}`:             "did you mean GET",
		`{"for":"0s","methods":["GET","POST"],"route":"/acme/v1/x"}`:      `has no line \"GET,POST /acme/v1/x\" that is switched on; these are: GET /acme/v1/x`,
		`{"for":"1h","methods":["GET"],"route":"/acme/v1/x","until":"x"}`: `unknown field \"until\"`,
	} {
		status := 409
		if strings.Contains(why, "between") || strings.Contains(why, "below") || strings.Contains(why, "every plugin") || strings.Contains(why, "how long") || strings.Contains(why, "name a route") ||
			strings.Contains(why, "contact") || strings.Contains(why, "mean") || strings.Contains(why, "unknown") {
			status = 400
		}
		if strings.Contains(why, "has no line") {
			status = 404
		}
		g.admin("POST", at, body, status, why)
	}
	g.admin("POST", at, `{"for":"1h","route":"/own/*/x"}`, 200, `{"line":"allow users /own/v1/**","at":"Caddyfile:`)
	g.admin("POST", at, `{"for":"0s","route":"/own/*/x"}`, 200, `"on":false`)
	g.admin("POST", at, `{"for":"1h","route":"/free/v1/x"}`, 200, `"on":true`) // by other methods than GET
	g.admin("POST", at, `{"for":"0s","route":"/free/v1/x"}`, 200, `"on":false`)
}

// TestOpen_Directives: what opens calls is judged by all directives of a site, and says what closes them for a shorter time.
func TestOpen_Directives(t *testing.T) {
	p := newPlatform(t)
	part := func(handle, lines string) string {
		return "\thandle " + handle + "{\n\t\trestwarden cms {\n\t\t\tlogin_only\n\t\t\t" + lines + "\n\t\t}\n" + p.proxied() + "\n\t}\n"
	}
	site := "\t@a header X-A yes\n" + part("@a ", "allow users /acme/**") + part("", "deny /other/**")
	g := administered(t, "", caddyrun.Site{Body: site})
	name := "*:" + g.port()
	open := func(body string, status int, contains string) {
		t.Helper()
		g.admin("POST", "sites/"+name+"/open", body, status, contains)
	}
	open(`{"for":"1h","route":"/acme/v1/x"}`, 200, `"stops":[{"line":"allow users /acme/**"`)
	g.do("GET /cms-json/acme/v1/x", "").want(t, 200, "")
	open(`{"for":"1h","route":"/other/v1/x"}`, 200, `"stops":[{"line":"deny /other/**"`)
	g.do("GET /cms-json/other/v1/x", "", "X-A: yes").want(t, 200, "")

	g.admin("POST", "sites/"+name+"/close", `{"for":"30m","route":"/Third/v1/X/"}`, 200, `"line":"/third/v1/x"`)
	open(`{"for":"1h","route":"/third/v1/x"}`, 200, `"stops":[{"line":"close /third/v1/x"`)
	g.admin("POST", "sites/"+name+"/close", `{"for":"0s","route":"/third/v1/x"}`, 200, `"on":false`)
	g.admin("POST", "sites/"+name+"/close", `{"route":"/acme/v1/`+strings.Repeat("x", 600)+`"}`, 400, "500 bytes")
}

// TestOpen_Observed: where login_only is there and only observes, nothing says that it is not.
func TestOpen_Observed(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: "\trestwarden cms {\n\t\tmode observe\n\t\tlogin_only\n\t}\n" + p.proxied()})
	g.admin("POST", "sites/*:"+g.port()+"/open", `{"for":"1h","route":"/acme/v1/x"}`, 409, "passes without it: no line that is enforced asks for a login")
}

// TestOpen_Enforced: where an observing site enforces for a while, a line lets somebody pass. A lockdown that is not hard leaves the
// checkout open.
func TestOpen_Enforced(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: "\trestwarden wordpress {\n\t\tmode observe\n\t\tlogin_only\n\t}\n" + p.proxied()})
	site := "sites/*:" + g.port()
	const cart = `{"for":"1h","route":"/wc/store/v1/cart"}`
	g.admin("POST", site+"/mode", `{"mode":"enforce","for":"2h"}`, 200, "enforce")
	g.do("GET /wp-json/wc/store/v1/cart", "").want(t, 401, "")
	for _, hard := range []bool{false, true} {
		g.admin("POST", "lockdown", fmt.Sprintf(`{"for":"2h","hard":%t}`, hard), 200, "")
		status, text := adminOf(t, g.file.Admin, "POST", site+"/open", cart)
		if want := map[bool]int{false: 200, true: 409}[hard]; status != want || strings.Contains(text, "lockdown until") != hard {
			t.Errorf("hard %t: %d %s", hard, status, text)
		}
		if r := g.do("GET /wp-json/wc/store/v1/cart", ""); (r.status == 401) != hard {
			t.Errorf("hard %t: %d", hard, r.status)
		}
	}
	g.admin("POST", "lockdown", `{"for":"0s"}`, 200, "")
	g.admin("POST", site+"/open", `{"for":"1h","route":"/acme/v1/x"}`, 200, `"on":true`)
}

// TestOpen_EveryPlugin: each entry of the catalogue that opens calls can be switched on, and nothing but the name of one.
func TestOpen_EveryPlugin(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: "\trestwarden wordpress {\n\t\tlogin_only\n\t}\n" + p.proxied()})
	at, on := "sites/*:"+g.port()+"/open", 0
	for _, plugin := range plugins.All() {
		body := fmt.Sprintf(`{"for":"1h","plugin":%q}`, plugin.Slug)
		switch status, text := adminOf(t, g.file.Admin, "POST", at, body); {
		case status == 200:
			on++
			g.admin("POST", at, strings.Replace(body, "1h", "0s", 1), 200, `"on":false`)
		case !strings.Contains(text, "knows no call") && !strings.Contains(text, "would let nobody pass"):
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if on < 50 {
		t.Errorf("only %d", on)
	}
	for _, odd := range []string{"contact-form-7 key x", "contact-form-7 for users", "contact-form-7\n", " contact-form-7", "contact-form-7 {", "*"} {
		body, _ := json.Marshal(map[string]string{"for": "1h", "plugin": odd})
		g.admin("POST", at, string(body), 400, "")
	}
	g.admin("POST", at, `{"for":"1h","plugin":"Contact-Form-7"}`, 200, `"line":"plugin contact-form-7"`)
}

// TestOpen_Unlisted: what may be misspelt is said, once a REST root has been read.
func TestOpen_Unlisted(t *testing.T) {
	p := newPlatform(t)
	p.answersRoot("/cms-json/", `{"namespaces":["acme/v1"],"routes":{"/acme/v1/export":{},"/acme/v1/orders/(?P<id>[\\d]+)":{}}}`)
	g := administered(t, "", caddyrun.Site{Body: guarded + p.proxied()})
	at := "sites/*:" + g.port() + "/close"
	eventually(t, "a root", func() bool {
		g.do("GET /cms-json/acme/v1/export", "")
		_, text := adminOf(t, g.file.Admin, "POST", at, `{"route":"/acme/v1/exprot"}`)
		return strings.Contains(text, "lists /acme/v1/exprot: did you mean /acme/v1/export?")
	})
	for _, route := range []string{"/acme/v1/export", "/acme/v1/orders/:id", "/acme/v1/:any", "/other/**"} {
		if text := g.admin("POST", at, `{"route":"`+route+`"}`, 200, `"on":true`); strings.Contains(text, "note") {
			t.Error(text)
		}
	}
}

// TestOpen_Plugin: a plugin opens what its visitors need.
func TestOpen_Plugin(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: "\trestwarden wordpress {\n\t\tlogin_only\n\t}\n" + p.proxied()})
	const call = "POST /wp-json/contact-form-7/v1/contact-forms/7/feedback"
	g.do(call, "{}", asJSON).want(t, 401, "")
	at := "sites/*:" + g.port() + "/open"
	g.admin("POST", at, `{"for":"1h","plugin":"contact-form-7"}`, 200, `"line":"plugin contact-form-7"`)
	if r := g.do(call, "{}", asJSON); r.status == 401 {
		t.Errorf("%d %s", r.status, r.body)
	}
	g.do("POST /wp-json/acme/v1/x", "{}", asJSON).want(t, 401, "")
	g.admin("POST", at, `{"for":"0s","plugin":"contact-form-7"}`, 200, `"on":false`)
	g.do(call, "{}", asJSON).want(t, 401, "")
}

// TestClose: what is closed is so in every spelling, under observe and without access too, for all whom the platform has not
// verified, and stays.
func TestClose(t *testing.T) {
	p := newPlatform(t)
	for name, block := range map[string]string{
		"open": "\trestwarden cms\n", "observe": "\trestwarden cms {\n\t\tmode observe\n\t}\n", "off": "\trestwarden cms {\n\t\taccess off\n\t}\n",
		"allowed": "\trestwarden cms {\n\t\tlogin_only\n\t\tallow anyone /acme/v1/x\n\t}\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := administered(t, "", caddyrun.Site{Body: block + p.proxied()})
			at := "sites/*:" + g.port() + "/close"
			closed := func(want bool) {
				t.Helper()
				for _, line := range everySpelling {
					if r := g.do(line, ""); (r.status == 401) != want {
						t.Errorf("%s: %d %s, want it closed: %v", line, r.status, r.body, want)
					}
				}
			}
			closed(false)
			g.admin("POST", at, `{"methods":["GET"],"route":"/acme/v1/x"}`, 200, `"line":"GET /acme/v1/x","on":true,"gateways"`)
			closed(true)
			if r := g.do("GET /cms-json/acme/v1/x?_embed=1", ""); r.status != 401 {
				t.Errorf("%d %s %+v", r.status, r.body, current.Load().sites()[0].state.last.All()[0])
			}
			if r := g.do("POST /cms-json/batch/v1", `{"requests":[{"path":"/acme/v1/x","method":"GET"}]}`, asJSON); r.status < 400 {
				t.Errorf("in a batch: %d %s", r.status, r.body)
			}
			if r := g.do("GET /cms-json/acme/v1/x", "", asAdmin); r.status == 401 {
				t.Errorf("an administrator: %d %s", r.status, r.body)
			}
			g.do("GET /cms-json/acme/v1/x", "", basicAuth("admin:wrong")).want(t, 401, "")
			if r := g.do("POST /cms-json/acme/v1/x", "{}", asJSON); r.status == 401 {
				t.Errorf("another method: %d %s", r.status, r.body)
			}
			if rec := g.statuses()[g.site()]; len(rec.Closes) != 1 || rec.Closes[0].Until != nil {
				t.Errorf("%+v", rec)
			}
			if kept := current.Load().sites()[0].state.last.All(); kept[len(kept)-1].Rule != "close GET /acme/v1/x" || kept[len(kept)-1].Origin != policy.OriginSwitch {
				t.Errorf("%+v", kept[len(kept)-1])
			}
			g.admin("POST", at, `{"for":"0s","methods":["GET"],"route":"/acme/v1/x"}`, 200, `"on":false`)
			closed(false)
			g.admin("POST", at, `{"route":"/acme/**"}`, 200, `"line":"/acme/**"`)
			closed(true)
			p.received()
			g.do("OPTIONS /cms-json/acme/v1/x?secret=1", "", "Origin: http://a.example", "Access-Control-Request-Method: GET")
			if ran := p.received(); len(ran) != 1 || strings.Contains(ran[0], "secret") {
				t.Errorf("a preflight: %q", ran)
			}
		})
	}
}
