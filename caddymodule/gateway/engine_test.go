package gateway

import (
	"fmt"
	"net/http"
	"testing"
	"unsafe"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/policies"
)

const equalSites = `{
	admin off
	persist_config off
	auto_https off
	log {
		output discard
	}
}
(guarded) {
	bind 127.0.0.1
	restwarden cms {
		login_only
		allow anyone GET /count/** /open
		rate_limit 2/1h GET /count/**
		{block}
	}
%[2]s
}
http://one.example:%[1]s {
	import guarded
}
http://two.example:%[1]s {
	import guarded
}
http://three.example:%[1]s {
	import guarded {
		allow anyone GET /mine
	}
}
`

// loadedApp is the app of the running configuration.
func loadedApp(t *testing.T) *App {
	t.Helper()
	found, err := caddy.ActiveContext().App("restwarden")
	if err != nil {
		t.Fatal(err)
	}
	return found.(*App)
}

// TestEngine_Shared: directives with equal configurations compile once in each load. Each
// site still has its own limits and its own rules.
func TestEngine_Shared(t *testing.T) {
	address := machine.FreeAddress(t)
	config := caddyrun.Adapt(t, fmt.Sprintf(equalSites, machine.Port(address), newPlatform(t).proxied()))
	caddyrun.StopAfter(t)
	want := func(site, target string, status int) {
		t.Helper()
		req, err := client.Request(t.Context(), "http://"+address, "GET /cms-json"+target, "", client.Lines("Host: "+site))
		if err != nil {
			t.Fatal(err)
		}
		if got := (&gateway{t: t}).roundTrip(req); got.status != status {
			t.Errorf("%s%s: %d, want %d", site, target, got.status, status)
		}
	}
	var before *App
	for load := range 2 {
		if err := caddy.Load(config, true); err != nil {
			t.Fatal(err)
		}
		httpClient.CloseIdleConnections()
		app := loadedApp(t)
		if len(app.gateways) != 3 || len(app.engines) != 2 {
			t.Errorf("%d directives, %d engines, want 3 and 2", len(app.gateways), len(app.engines))
		}
		if before != nil && (before == app || before.engines != nil) {
			t.Error("an engine outlives its configuration")
		}
		for _, e := range app.engines {
			for _, g := range app.gateways {
				if before != nil && g.engine == before.gateways[0].engine || e.chain == nil {
					t.Error("a directive has an engine of the load before")
				}
			}
		}
		before = app
		want("one.example", "/open", http.StatusOK)
		want("two.example", "/open", http.StatusOK)
		want("three.example", "/mine", http.StatusOK)
		want("one.example", "/mine", http.StatusUnauthorized)
		want("one.example", "/cms/v2/posts", http.StatusUnauthorized)
		if load == 0 {
			want("one.example", "/count/x", http.StatusOK)
			want("one.example", "/count/x", http.StatusOK)
		}
		want("one.example", "/count/x", http.StatusTooManyRequests)
		want("two.example", "/count/x", http.StatusOK)
	}
}

// TestEngine_Rewriters: an exchange has a bit for each policy that may rewrite its answer.
func TestEngine_Rewriters(t *testing.T) {
	if bits := 8 * int(unsafe.Sizeof(exchange{}.rewriters)); len(policies.Catalog) > bits {
		t.Errorf("%d policies, and %d bits", len(policies.Catalog), bits)
	}
}

// TestEngine_OddJSON: a directive loads whose JSON has a name twice, or bytes that are no text, as Caddy loads both.
func TestEngine_OddJSON(t *testing.T) {
	for _, odd := range []string{`"at":"a","at":"b"`, "\"at\":\"\xff\""} {
		g := provisioned(t, `{"platform":"cms","policies":{"access":{"login_only":true,`+odd+`}}}`)
		if g.engine == nil {
			t.Errorf("%q: no engine", odd)
		}
	}
}

// TestEngine_Content: everything of a directive decides what it compiles to, but for its
// own place.
func TestEngine_Content(t *testing.T) {
	content := func(g Gateway) string { return g.Content() }
	rules := func(text string) caddy.ModuleMap { return caddy.ModuleMap{"access": []byte(text)} }
	base := Gateway{Platform: "cms", PoliciesRaw: rules(`{"at":"Caddyfile:3","login_only":true}`), At: "Caddyfile:2"}
	same := base
	same.At, same.Lines = "Caddyfile:20", []string{"Caddyfile:21"}
	if content(base) != content(same) {
		t.Error("the place of the directive makes a difference")
	}
	for what, change := range map[string]func(*Gateway){
		"platform":         func(g *Gateway) { g.Platform = "wordpress" },
		"base":             func(g *Gateway) { g.Base = "/blog" },
		"mode":             func(g *Gateway) { g.Mode = "observe" },
		"identity":         func(g *Gateway) { g.Identity = new(Identity) },
		"a limit":          func(g *Gateway) { g.BodyLimit = 1 << 20 },
		"a policy":         func(g *Gateway) { g.PoliciesRaw = rules(`{"at":"Caddyfile:3"}`) },
		"a rule's place":   func(g *Gateway) { g.PoliciesRaw = rules(`{"at":"Caddyfile:4","login_only":true}`) },
		"another policy":   func(g *Gateway) { g.PoliciesRaw = caddy.ModuleMap{"call": []byte(`{}`)} },
		"no policy at all": func(g *Gateway) { g.PoliciesRaw = nil },
	} {
		other := base
		change(&other)
		if content(base) == content(other) {
			t.Errorf("%s makes no difference", what)
		}
	}
}
