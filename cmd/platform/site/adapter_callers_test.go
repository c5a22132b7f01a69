package site_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestAdapter_Addresses: what reaches a server, beside its body.
func TestAdapter_Addresses(t *testing.T) {
	c := newClient(t, site.Options{})
	a := c.agent("admin")
	route := "/cms-json" + c.info.Routes.ShopTools
	session := with("Mcp-Session-Id", a.session)
	for _, row := range []struct {
		method, target, kind string
		status               int
		runs                 bool
	}{
		{"POST", route, "application/json", 200, true},
		{"POST", route, "APPLICATION/JSON; charset=x", 200, true},
		{"POST", route, "application/vnd.api+json", 200, true},
		{"POST", route, "application/json, text/plain", 200, true},
		{"POST", route, " application/json", 200, true},
		{"POST", route, "application/json-rpc", 400, false},
		{"POST", route, "text/json", 400, false},
		{"POST", route, "application/x-www-form-urlencoded", 400, false},
		{"POST", route, "", 400, false},
		{"GET", route + "?_method=POST", "application/json", 200, true},
		{"PUT", route + "?_method=POST", "application/json", 200, true},
		{"DELETE", route + "?_method=POST", "application/json", 200, true},
		{"POST", route + "/", "application/json", 200, true},
		{"POST", strings.ToUpper(route[len("/cms-json"):]), "application/json", 404, false}, // no REST call
		{"POST", "/cms-json" + strings.ToUpper(route[len("/cms-json"):]), "application/json", 200, true},
		{"POST", "/?rest_route=" + c.info.Routes.ShopTools, "application/json", 200, true},
		{"POST", "/index.php" + route, "application/json", 200, true},
		{"POST", route + "?method=ping&params[name]=x", "application/json", 200, true},
		{"POST", route + "?_envelope", "application/json", 200, true},
		{"PUT", route, "application/json", 404, false},
		{"PATCH", route, "application/json", 404, false},
		{"GET", route, "application/json", 405, false},
		{"HEAD", route, "application/json", 405, false},
		{"POST", route + "?_method=GET", "application/json", 405, false},
		{"OPTIONS", route, "application/json", 200, false},
	} {
		before := len(c.site.Ran())
		got := c.send(row.method, row.target, hours, a.as("admin"), session, with("Content-Type", row.kind))
		if runs := len(c.site.Ran()) > before; got.StatusCode != row.status || runs != row.runs {
			t.Errorf("%s %s %q: %d %.200s, ran %t", row.method, row.target, row.kind, got.StatusCode, got.body, runs)
		}
	}
	before := len(c.site.Ran())
	got := c.rest("POST", "/batch/v1", `{"requests":[{"path":"`+c.info.Routes.ShopTools+`","body":`+hours+`}]}`, a.as("admin"), session).want(207)
	if got.get("responses", "0", "body", "code") != "rest_batch_not_allowed" || len(c.site.Ran()) > before {
		t.Errorf("in a batch: %s", got.body)
	}
}

// TestAdapter_Index: the REST root shows a server as the real adapter is shown.
func TestAdapter_Index(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		routes := c.rest("GET", "/", "").want(200)
		for _, route := range []string{c.info.Routes.Tools, c.info.Routes.ShopTools} {
			want := "map[args:[] methods:[POST GET DELETE]]"
			if got := fmt.Sprint(routes.get("routes", route, "endpoints")); got != "["+want+"]" {
				t.Errorf("%s: %s", route, got)
			}
		}
	})
	if old := newClient(t, site.Options{Core: "6.8"}); old.info.Routes.Tools != "" {
		t.Errorf("a site without abilities names %q", old.info.Routes.Tools)
	}
	newClient(t, site.Options{Core: "6.8"}).rest("POST", "/mcp/mcp-adapter-default-server", hours).want(404, "rest_no_route")
	newClient(t, site.Options{Core: "6.8", Abilities: true}).agent("admin")
}

// TestAdapter_Callers: who may do what (docs/platform IV.4, 1).
func TestAdapter_Callers(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		for _, route := range []string{c.info.Routes.Tools, c.info.Routes.ShopTools} {
			c.rest("POST", route, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`).want(401, "rest_forbidden")
			c.rest("GET", route, "").want(401, "rest_forbidden")
			c.rest("DELETE", route, "").want(401, "rest_forbidden")
		}
		a := c.agent("customer")
		for _, got := range []*answer{
			a.call(c.info.Routes.ShopTools, c.shop()+"-products-query", "{}"),
			a.call(c.info.Routes.Tools, "mcp-adapter-execute-ability", `{"ability_name":"`+c.shop()+`/products-query","parameters":{}}`),
		} {
			if got.want(200).get("result", "isError") != true {
				t.Errorf("a customer got %s", got.body)
			}
		}
		a.message(c.info.Routes.ShopTools, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"shop://products"}}`).wantCode(403, -32008)
		if ran := c.ranSince(0); len(ran) > 0 {
			t.Errorf("a customer ran %q", ran)
		}
		if got := a.call(c.info.Routes.ShopTools, "store_hours", "{}").want(200); got.get("result", "isError") != false {
			t.Errorf("a tool for every user: %s", got.body)
		}
		if run := c.site.Ran()[0]; run.User != "customer" || run.Route != c.info.Routes.ShopTools {
			t.Errorf("noted as %+v", run)
		}
	})
}

// TestAdapter_Sessions: docs/platform IV.4, 2.
func TestAdapter_Sessions(t *testing.T) {
	now := time.Now()
	c := newClient(t, site.Options{Now: func() time.Time { return now }})
	servers := []string{c.info.Routes.Tools, c.info.Routes.ShopTools}
	asked := func(login, session string) *answer {
		t.Helper()
		return (&agent{c, login, session}).message(servers[1], "{"+ping+"}")
	}
	a, other := c.agent("admin"), c.agent("customer")
	for _, server := range servers { // of the first server, and good for both
		a.message(server, "{"+ping+"}").want(200)
	}
	asked("admin", "").wantCode(400, -32600)
	asked("admin", "made-up").wantCode(404, -32005)
	asked("customer", a.session).wantCode(404, -32005)

	// A list is no way around it: the session that it starts is not the call's.
	got := (&agent{client: c, login: "admin"}).message(servers[1], `[{"jsonrpc":"2.0","id":1,"method":"initialize"},`+hours+"]").want(200)
	if got.get("1", "error", "code") != float64(-32600) || got.Header.Get("Mcp-Session-Id") == "" {
		t.Errorf("initialize and a call: %s", got.body)
	}
	(&agent{client: c, login: "admin"}).message(servers[1], `{"jsonrpc":"2.0","method":"initialize"}`).want(202)

	end := func(login string, edits ...edit) *answer {
		return c.rest("DELETE", servers[0], hours, append(edits, c.as(login), with("Content-Type", "application/json"))...)
	}
	end("admin").wantCode(400, -32600)
	end("customer", with("Mcp-Session-Id", a.session)).want(200)
	asked("admin", a.session).want(200)
	end("admin", with("Mcp-Session-Id", a.session)).want(200)
	asked("admin", a.session).wantCode(404, -32005)
	if ran := c.ranSince(0); len(ran) > 0 {
		t.Errorf("%q ran", ran)
	}

	first := c.agent("manager")
	for range 31 {
		c.agent("manager")
	}
	asked("manager", first.session).want(200)
	c.agent("manager")
	asked("manager", first.session).wantCode(404, -32005)
	asked("customer", other.session).want(200)
	now = now.Add(23 * time.Hour)
	asked("customer", other.session).want(200)
	now = now.Add(23 * time.Hour)
	asked("customer", other.session).want(200)
	now = now.Add(24 * time.Hour)
	asked("customer", other.session).wantCode(404, -32005)
}

// TestAdapter_Versions: docs/platform IV.8, 1, and the header (IV.2, 13).
func TestAdapter_Versions(t *testing.T) {
	c := newClient(t, site.Options{})
	for asked, want := range map[string]string{
		`{"protocolVersion":"2025-11-25"}`: "2025-11-25", `{"protocolVersion":"2025-06-18"}`: "2025-06-18", `{"protocolVersion":"2024-11-05"}`: "2024-11-05",
		`{"protocolVersion":"1999-01-01"}`: "2025-11-25", `{"protocolVersion":5}`: "2025-11-25", `{}`: "2025-11-25", `null`: "2025-11-25",
	} {
		a := &agent{client: c, login: "admin"}
		got := a.message(c.info.Routes.Tools, `{"jsonrpc":"2.0","id":"a","method":"initialize","params":`+asked+`}`).want(200)
		if got.get("result", "protocolVersion") != want || got.get("id") != "a" {
			t.Errorf("%s: %s", asked, got.body)
		}
	}
	a := c.agent("admin")
	a.message(c.info.Routes.Tools, "{"+ping+"}", with("Mcp-Protocol-Version", "2025-06-18")).want(200)
	a.message(c.info.Routes.Tools, "{"+ping+"}", with("Mcp-Protocol-Version", "1.0")).wantCode(400, -32600)
}
