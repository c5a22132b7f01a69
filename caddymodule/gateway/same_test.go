package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// lineEach is a Caddyfile of sites with one snippet, whose directive has eight lines and one of the
// site's own.
func lineEach(sites int, guarded bool) string {
	var b strings.Builder
	b.WriteString("(site) {\n")
	if guarded {
		b.WriteString("\trestwarden wordpress {\n\t\tlogin_only\n\t\tdeny /wp/v2/comments as 404\n\t\trate_limit 60/1m POST /contact-form-7/**\n")
		for i := range 5 {
			fmt.Fprintf(&b, "\t\tallow anyone GET /wp/v2/kind%d\n", i)
		}
		b.WriteString("\t\t{block}\n\t}\n")
	}
	b.WriteString("\treverse_proxy 127.0.0.1:1\n}\n")
	for i := range sites {
		fmt.Fprintf(&b, "http://shop%d.example.com {\n\timport site {\n\t\tallow plugin %s\n\t}\n}\n", i, []string{"contact-form-7", "wordpress-seo"}[i%2])
	}
	return b.String()
}

// TestSame_Adapt: a directive that says the same as one before it refers to it, and has places of
// its own only. So the JSON of many sites is at most twice as long as without the directive.
func TestSame_Adapt(t *testing.T) {
	t.Parallel()
	all := directives(t, lineEach(4, true))
	byPlace := map[string]*Gateway{}
	for _, g := range all {
		byPlace[strings.Join(g.Lines, " ")] = g
	}
	for i, place := range []string{"Caddyfile:17", "Caddyfile:22", "Caddyfile:27", "Caddyfile:32"} {
		g := byPlace[place]
		if g == nil {
			t.Fatalf("no directive has the line at %s", place)
		}
		if refers := g.SameAs != ""; refers != (i >= 2) || refers != (g.PoliciesRaw == nil) || refers != (g.Platform == "") {
			t.Errorf("the directive of the site %d: %+v", i, g)
		}
		if g.SameAs != "" && g.SameAs != all[slices.IndexFunc(all, func(first *Gateway) bool { return first.Content() == g.SameAs })].Content() {
			t.Errorf("site %d refers to nothing", i)
		}
	}
	guarded, bare := len(caddyrun.Adapt(t, lineEach(300, true))), len(caddyrun.Adapt(t, lineEach(300, false)))
	if guarded > 2*bare {
		t.Errorf("%d bytes of JSON, %d without the directive", guarded, bare)
	}
}

// sameSites are sites on two servers. The directives of the last two are equal to the first ones.
const sameSites = `{
	admin off
	persist_config off
	auto_https off
	log {
		output file %[3]s
		format json
	}
}
(guarded) {
	bind 127.0.0.1
	restwarden cms {
		login_only
		deny /shut/**
		{block}
	}
%[4]s
}
http://one.example:%[1]s {
	import guarded {
		deny /own/**
		allow anyone GET /open
		allow anyone GET /shut/x
	}
}
http://plain.example:%[1]s {
	import guarded
}
http://two.example:%[2]s {
	import guarded {
		deny /own/**

		allow anyone GET /open
		allow anyone GET /shut/x
	}
}
http://three.example:%[2]s {
	import guarded
}
`

// TestSame_Served: a directive that refers to another one decides as that does, and names its own
// lines in records and in what is odd, also where the other is on a server that loads later.
func TestSame_Served(t *testing.T) {
	addresses := machine.FreeAddresses(t, 2)
	logs := filepath.Join(t.TempDir(), "log")
	config := caddyrun.Adapt(t, fmt.Sprintf(sameSites, machine.Port(addresses[0]), machine.Port(addresses[1]), logs, newPlatform(t).proxied()))
	if n := strings.Count(string(config), `"same_as"`); n != 2 {
		t.Fatalf("%d references, want 2: %s", n, config)
	}
	caddyrun.StopAfter(t)
	for range 3 { // servers load in no order
		if err := caddy.Load(config, true); err != nil {
			t.Fatal(err)
		}
	}
	if app := loadedApp(t); len(app.engines) != 2 || len(app.gateways) != 4 {
		t.Errorf("%d engines of %d directives", len(app.engines), len(app.gateways))
	}
	for i, site := range []string{"one.example", "two.example", "plain.example", "three.example"} {
		for target, status := range map[string]int{"/own/1": []int{403, 403, 401, 401}[i], "/shut/1": 403, "/open": []int{200, 200, 401, 401}[i], "/else": 401} {
			req, err := client.Request(t.Context(), "http://"+addresses[i%2], "GET /cms-json"+target, "", client.Lines("Host: "+site))
			if err != nil {
				t.Fatal(err)
			}
			if got := (&gateway{t: t}).roundTrip(req); got.status != status {
				t.Errorf("%s%s: %d, want %d", site, target, got.status, status)
			}
		}
	}
	text, err := os.ReadFile(logs)
	if err != nil {
		t.Fatal(err)
	}
	placesIn(t, text, map[string]bool{
		"W04 Caddyfile:23 ": true, "W04 Caddyfile:34 ": true,
		"W13 Caddyfile:12 Caddyfile:27": true, "W13 Caddyfile:12 Caddyfile:38": true, // no proxy is trusted
		"one.example deny /own/** Caddyfile:21 ":                true,
		"one.example deny /shut/** Caddyfile:14 Caddyfile:24":   true,
		"one.example login_only Caddyfile:13 Caddyfile:24":      true,
		"two.example deny /own/** Caddyfile:31 ":                true,
		"two.example deny /shut/** Caddyfile:14 Caddyfile:35":   true,
		"two.example login_only Caddyfile:13 Caddyfile:35":      true,
		"plain.example deny /shut/** Caddyfile:14 Caddyfile:27": true,
		"plain.example login_only Caddyfile:13 Caddyfile:27":    true,
		"three.example deny /shut/** Caddyfile:14 Caddyfile:38": true,
		"three.example login_only Caddyfile:13 Caddyfile:38":    true,
	})
}

// placesIn tells whether the records and warnings of a log name places as wanted.
func placesIn(t *testing.T, log []byte, want map[string]bool) {
	t.Helper()
	got := map[string]bool{}
	for line := range strings.Lines(string(log)) {
		var rec struct{ Code, Site, Rule, At, Imported string }
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "{block}") {
			t.Errorf("a mark in the log: %s", line)
		}
		switch {
		case rec.Site != "":
			got[rec.Site+" "+rec.Rule+" "+rec.At+" "+rec.Imported] = true
		case rec.Code != "":
			got[rec.Code+" "+rec.At+" "+rec.Imported] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// TestSame_Wrong: a reference to nothing, or with rules of its own, does not load.
func TestSame_Wrong(t *testing.T) {
	const first = `{"handler": "restwarden", "platform": "cms", "at": "Caddyfile:2", "policies": {"access": {"login_only": true}}}`
	content := (&Gateway{Platform: "cms", PoliciesRaw: caddy.ModuleMap{"access": []byte(`{"login_only":true}`)}}).Content()
	for second, want := range map[string]string{
		`{"handler": "restwarden", "at": "Caddyfile:9", "same_as": "` + content + `"}`:                    "",
		`{"handler": "restwarden", "at": "Caddyfile:9", "same_as": "0123"}`:                               "restwarden: same_as: there is no directive 0123; the one that it meant has been changed or removed, at Caddyfile:9",
		`{"handler": "restwarden", "at": "Caddyfile:9", "mode": "observe", "same_as": "` + content + `"}`: "restwarden: same_as: says all that the directive does; remove it, or what else the directive says, at Caddyfile:9",
		`{"handler": "restwarden", "at": "Caddyfile:9", "tag": ["shops"], "same_as": "` + content + `"}`:  "",
		`{"handler": "restwarden", "at": "Caddyfile:9", "tag": ["*"], "same_as": "` + content + `"}`:      `restwarden: tag: "*" is no name: letters, digits, dots, hyphens and underscores, 64 at most, a letter or digit first, at Caddyfile:9`,
	} {
		site := func(host, directive string) string {
			return `{"match": [{"host": ["` + host + `"]}], "handle": [` + directive + `, {"handler": "reverse_proxy", "upstreams": [{"dial": "127.0.0.1:1"}]}]}`
		}
		var cfg caddy.Config
		if err := json.Unmarshal([]byte(`{"apps": {"http": {"servers": {"s": {"listen": ["127.0.0.1:0"], "routes": [`+site("a.example", first)+`, `+site("b.example", second)+`]}}}}}`), &cfg); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := caddy.Validate(&cfg); err != nil {
			_, got, _ = strings.Cut(err.Error(), "provision http.handlers.restwarden: ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", second, got, want)
		}
	}
}
