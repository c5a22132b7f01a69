package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/refusals"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// adminOf sends a request to an admin endpoint and returns status and body.
func adminOf(t *testing.T, address, method, path, body string, lines ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+adminapi.Path+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	res, err := strangers.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// administered runs Caddy with an admin endpoint.
func administered(t *testing.T, global string, sites ...caddyrun.Site) *gateway {
	t.Helper()
	return startFile(t, &caddyrun.File{Admin: machine.FreeAddress(t), Global: global, Sites: sites})
}

func (g *gateway) admin(method, path, body string, status int, contains string, lines ...string) string {
	g.t.Helper()
	got, text := adminOf(g.t, g.file.Admin, method, path, body, lines...)
	if got != status || !strings.Contains(text, contains) {
		g.t.Errorf("%s %s %s: %d %s, want %d with %s", method, path, body, got, text, status, contains)
	}
	return text
}

// statuses returns the sites by name.
func (g *gateway) statuses() map[string]adminapi.Site {
	g.t.Helper()
	var answer struct{ Sites []adminapi.Site }
	if err := json.Unmarshal([]byte(g.admin("GET", "sites", "", 200, `"v":1`)), &answer); err != nil {
		g.t.Fatal(err)
	}
	all := map[string]adminapi.Site{}
	for _, s := range answer.Sites {
		all[s.Site] = s
	}
	return all
}

const observed = "\trestwarden cms {\n\t\tmode observe\n\t\tallow anyone POST /consent/v1/consent\n\t\tsignature hook {\n\t\t\tkey secret\n\t\t}\n\t\tallow signed hook POST /hook/v1/in\n\t}\n"

// reload loads the configuration, and waits until its server has taken over.
func (g *gateway) reload(site string) {
	g.t.Helper()
	g.load(site)
	httpClient.CloseIdleConnections() // to the old server
	g.retry("GET /page", "")
}

func (g *gateway) site() string { return "*:" + g.port() }

// TestLockdown_OfASite: a lockdown enforces under observe, survives a reload, ends by
// itself, and shows in the log and in the metrics.
func TestLockdown_OfASite(t *testing.T) {
	p := newPlatform(t)
	site := observed + "\tmetrics /metrics\n" + p.proxied()
	g := administered(t, "\tmetrics\n", caddyrun.Site{Body: site})
	closed := func(open bool) {
		t.Helper()
		status := map[bool]int{true: 200, false: 401}[open]
		g.do("GET /cms-json/cms/v2/posts", "").want(t, status, "")
		g.do("GET /?rest_route=/cms/v2/posts", "").want(t, status, "")
		g.do("POST /cms-json/hook/v1/in", "{}", asJSON).want(t, status, "")
		g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "")
		g.do("POST /cms-json/consent/v1/consent", "{}", asJSON).want(t, 200, "")
		g.do("GET /page", "").want(t, 200, "")
	}
	closed(true)
	g.admin("POST", "lockdown", `{"for":"6h","site":"`+g.site()+`"}`, 200, `"gateways":"this one"`)
	closed(false)
	g.do("GET /cms-json/shop/store/v1/cart", "").want(t, 200, "")
	g.do("OPTIONS /cms-json/cms/v2/posts", "", "Origin: http://a.example", "Access-Control-Request-Method: GET").want(t, 200, "")
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 401, `"code":"rest_not_logged_in"`)
	st := g.statuses()[g.site()]
	if st.Lockdown == nil || st.Lockdown.Hard || st.Lockdown.All || time.Until(st.Lockdown.Until) < 5*time.Hour {
		t.Errorf("%+v", st.Lockdown)
	}
	g.do("POST /cms-json/shop/store/v1/batch", `{"requests":[{"path":"/shop/store/v1/cart","method":"POST"},`+
		`{"path":"/x/v1/y","method":"POST"},{"path":"/x/v1/z","method":"PUT"}]}`, asJSON).want(t, 401, "")
	if kept := current.Load().sites()[0].state.last.All(); kept[0].Policy != "lockdown" || kept[1].Policy != "lockdown" ||
		kept[0].RequestID != kept[1].RequestID || kept[1].RequestID == kept[2].RequestID || kept[0].Parts != 3 {
		t.Errorf("%+v", kept[:3])
	}
	gauge := `caddy_restwarden_lockdown{site="` + g.site() + `"} `
	if metrics := g.do("GET /metrics", "").body; !strings.Contains(metrics, gauge+"1\n") ||
		!strings.Contains(metrics, `decisions_total{code="rest_not_logged_in",outcome="refused",policy="lockdown"}`) {
		t.Error("the gauge is not 1, or no decision is counted")
	}
	g.reload(site + "\n\theader X-Changed yes\n")
	closed(false)
	g.admin("POST", "lockdown", `{"for":"6h","site":"`+g.site()+`","hard":true}`, 200, `"hard":true`)
	g.do("GET /cms-json/shop/store/v1/cart", "").want(t, 401, "")
	g.admin("POST", "lockdown", `{"for":"0s","site":"`+g.site()+`"}`, 200, `"lockdown":null`)
	closed(true)
	g.admin("POST", "lockdown", `{"for":"300ms"}`, 200, `"all":true`)
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 401, "")
	eventually(t, "the end", func() bool { return strings.Contains(g.logged(), `"by":"time"`) })
	closed(true)
	if metrics := g.do("GET /metrics", "").body; !strings.Contains(metrics, gauge+"0\n") {
		t.Error("the gauge is not 0")
	}
	for _, want := range []string{
		`"msg":"switched on","switch":"lockdown","site":"` + g.site() + `","hard":false`, `"by":"127.0.0.1"`,
		`"msg":"switched off","switch":"lockdown","site":"` + g.site() + `","by":"127.0.0.1"`,
		`"msg":"switched off","switch":"lockdown","site":"all","by":"time"`,
		`"policy":"lockdown","code":"rest_not_logged_in","outcome":"refused","rule":"lockdown"`,
	} {
		if !strings.Contains(g.logged(), want) {
			t.Errorf("no %s in the log", want)
		}
	}
}

// TestModeSwitch: while a site is switched to observe, it refuses and changes nothing.
func TestModeSwitch(t *testing.T) {
	p := newPlatform(t)
	site := strings.Replace(loginOnly, "login_only", "login_only\n\t\tstrip_query secret /x/v1/**", 1) + p.proxied()
	g := administered(t, "", caddyrun.Site{Body: site})
	path := "sites/" + url.PathEscape(g.site()) + "/mode"
	refused := func(status int) {
		t.Helper()
		g.do("GET /cms-json/cms/v2/posts", "").want(t, status, "")
		g.do("GET /cms-json/cms/v2/posts?rest_route=/a&rest_route=/b", "").want(t, map[int]int{401: 400, 200: 200}[status], "")
	}
	stripped := func(want bool) {
		t.Helper()
		p.received()
		g.do("POST /cms-json/x/v1/y?secret=7", "", asAdmin).want(t, 200, "")
		if got := !strings.Contains(strings.Join(p.received(), ""), "secret=7"); got != want {
			t.Errorf("stripped: %t", got)
		}
	}
	refused(401)
	stripped(true)
	g.admin("POST", path, `{"mode":"observe","for":"2h"}`, 200, `"mode":"observe"`)
	refused(200)
	stripped(false)
	if st := g.statuses()[g.site()]; st.Mode != "observe" || st.Configured != "enforce" || st.ModeUntil == nil {
		t.Errorf("%+v", st)
	}
	g.reload(site + "\n\theader X-Changed yes\n")
	refused(200)
	g.admin("POST", path, `{"for":"0s"}`, 200, `"mode":"enforce"`)
	refused(401)
	stripped(true)
	g.reload(strings.Replace(site, "login_only\n", "login_only\n\t\tmode observe\n", 1))
	refused(200)
	g.admin("POST", path, `{"mode":"enforce","for":"3s"}`, 200, `"mode":"enforce"`)
	refused(401)
	eventually(t, "the end", func() bool { return g.do("GET /cms-json/cms/v2/posts", "").status == 200 })
	var answer struct{ Refusals []adminapi.Refusal }
	text := g.admin("GET", "sites/"+url.PathEscape(g.site())+"/refusals", "", 200, "")
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Refusals) < 8 {
		t.Fatal(err, text)
	}
	if r := answer.Refusals[0]; r.Site != g.site() || r.Outcome != "would_refuse" || r.Policy != "access" {
		t.Errorf("%+v", r)
	}
}

// TestStatus: what a site has asked and found, and how much of it is kept.
func TestStatus(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: loginOnly + p.proxied()})
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "")
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "")
	for range refusals.Kept + 5 {
		g.do("GET /cms-json/cms/v2/posts", "").want(t, 401, "")
	}
	eventually(t, "the root", func() bool { return g.statuses()[g.site()].Questions["index"].Asked == 1 })
	st := g.statuses()[g.site()]
	if k := st.Questions["caller"]; k.Asked != 1 || k.Known != 1 || k.Failed != 0 || k.Seconds <= 0 || time.Since(k.Last) > time.Minute {
		t.Errorf("%+v", k)
	}
	if st.Platform != "cms" || st.Refusals != refusals.Kept || st.Spool.Bytes != 0 || st.Spool.Limit == 0 || st.Lockdown != nil || st.ReleaseSource != "rest root" {
		t.Errorf("%+v", st)
	}
}

// TestAdmin_Errors: what the admin endpoint says to what it does not understand.
func TestAdmin_Errors(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "", caddyrun.Site{Body: loginOnly + p.proxied()})
	mode := "sites/" + url.PathEscape(g.site()) + "/mode"
	for _, test := range []struct {
		method, path, body string
		status             int
		contains           string
	}{
		{"GET", "nothing", "", 404, `{"error":"there is no /restwarden/nothing"}`},
		{"GET", "sites/a/b/c", "", 404, `there is no`},
		{"GET", "sites/" + g.site() + "/colour", "", 404, `there is no`},
		{"POST", "sites", "", 405, `method POST is not allowed here, only GET`},
		{"GET", "lockdown", "", 405, `only POST`},
		{"GET", mode, "", 405, `only POST`},
		{"GET", "sites/" + g.site() + "1/refusals", "", 404, `did you mean ` + g.site() + `?`},
		{"GET", "sites/shop.example%2Fblog/refusals", "", 404, `no site \"shop.example/blog\" is guarded`},
		{"POST", "lockdown", `{"for":"1h","site":"` + g.site() + `1"}`, 404, `did you mean ` + g.site() + `?`},
		{"POST", "lockdown", `{"for":"1h","sites":"a"}`, 400, `unknown field \"sites\"`},
		{"POST", "lockdown", `{"For":"1h"}`, 400, `unknown field \"For\"`},
		{"POST", "lockdown", `{"for":"1h","for":"2h"}`, 400, `for`},
		{"POST", "lockdown", `{}`, 400, `for: say how long`},
		{"POST", "lockdown", ``, 400, `not the JSON object`},
		{"POST", "lockdown", `{"for":"1h"} x`, 400, `not the JSON object`},
		{"POST", "lockdown", `{"for":7}`, 400, `for`},
		{"POST", "lockdown", `{"for":"soon"}`, 400, `for: \"soon\" is not a duration`},
		{"POST", "lockdown", `{"for":"-1h"}`, 400, `for: -1h is not between 0s and 30d`},
		{"POST", "lockdown", `{"for":"31d"}`, 400, `for: 31d is not between 0s and 30d`},
		{"POST", "lockdown", `{"for":"1h","hard":"yes"}`, 400, `hard`},
		{"POST", "lockdown", `{"for":"1h","site":""}`, 400, `site: leave it out`},
		{"POST", mode, `{"mode":"off","for":"1h"}`, 400, `mode: \"off\" is neither observe nor enforce`},
		{"POST", mode, `{"for":"1h"}`, 400, `mode: `},
		{"POST", mode, `{"mode":"observe"}`, 400, `for: `},
		{"POST", mode, `"` + strings.Repeat("x", adminapi.MaxBody) + `"`, 400, `too large`},
	} {
		g.admin(test.method, test.path, test.body, test.status, test.contains)
	}
	if strings.Contains(g.logged(), "switched") {
		t.Error("something was switched")
	}
}

// TestAdmin_NoSites: a configuration with the global option and no site runs, and has
// nothing to show.
func TestAdmin_NoSites(t *testing.T) {
	g := administered(t, "\trestwarden {\n\t\tstore memory\n\t}\n", caddyrun.Site{Body: "\trespond hello"})
	g.admin("GET", "sites", "", 404, "no configuration with a restwarden directive is running")
}
