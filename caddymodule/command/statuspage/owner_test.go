package statuspage_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/statuspage"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// configure replaces the configuration of Caddy by one with these sites.
func (g *guarded) configure(sites string) {
	g.t.Helper()
	_, port, _ := strings.Cut(g.sites, ":")
	text := fmt.Sprintf("{\n\tadmin %s\n\tpersist_config off\n\tauto_https off\n\tlog {\n\t\toutput discard\n\t}\n}\n", g.admin) + strings.ReplaceAll(sites, "PORT", port)
	if err := caddy.Load(caddyrun.Adapt(g.t, text), true); err != nil {
		g.t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // until what Caddy has told before counts no more
}

// TestPage_OwnerProblems: what is odd in the configuration names no line, no address and
// no directory to the owner of one.
func TestPage_OwnerProblems(t *testing.T) {
	g := guard(t, 1)
	g.configure(`http://shop-1.example.com:PORT {
	bind 127.0.0.1
	restwarden wordpress {
		spool_dir /dev/shm
		spool_limit 1MB
	}
	restwarden wordpress {
		login_only
	}
	reverse_proxy 127.0.0.1:9876
}
`)
	whole, own := fmt.Sprint(g.shown("")[first]["problems"]), fmt.Sprint(g.shown(first)[first]["problems"])
	for _, told := range []string{"Caddyfile:", "127.0.0.1:", "/dev/shm"} {
		if !strings.Contains(whole, told) || strings.Contains(own, told) {
			t.Errorf("%s\nall: %s\none: %s", told, whole, own)
		}
	}
	for _, code := range []string{"W09", "W13", "W14"} {
		if !strings.Contains(own, code) {
			t.Errorf("no %s: %s", code, own)
		}
	}
}

// TestPage_OwnerLockdown: the owner of a site is told that it is locked down, and not
// whether others are.
func TestPage_OwnerLockdown(t *testing.T) {
	g := guard(t, 2)
	for _, body := range []string{`{"for":"1h"}`, `{"for":"1h","site":"` + first + `"}`} {
		if status, text := g.ask("", "POST", "lockdown", body); status != http.StatusOK {
			t.Fatal(text)
		}
		lockdown, _ := g.shown(first)[first]["lockdown"].(map[string]any)
		if lockdown["until"] == nil || lockdown["hard"] != false || len(lockdown) != 2 {
			t.Errorf("%s: %v", body, lockdown)
		}
		if status, text := g.ask("", "POST", "lockdown", `{"for":"0s"}`); status != http.StatusOK {
			t.Fatal(text)
		}
	}
}

// switchLines opens and closes a call of a site; "0s" takes both back.
func (g *guarded) switchLines(site, lasts string) {
	g.t.Helper()
	api, err := adminapi.New(g.admin)
	if err != nil {
		g.t.Fatal(err)
	}
	closing := adminapi.LineSwitch{Route: "/acme/v1/y"} // until it is taken back
	if lasts == "0s" {
		closing.For = &lasts
	}
	for path, body := range map[string]adminapi.LineSwitch{adminapi.OpenPath: {For: &lasts, Methods: []string{"POST"}, Route: "/acme/v1/x"}, adminapi.ClosePath: closing} {
		var answer adminapi.LineSwitched
		if err := api.With(http.Header{adminapi.OperatorHeader: {"anna"}}).Ask(g.t.Context(), "POST", adminapi.Named(path, site), body, &answer); err != nil {
			g.t.Fatal(err)
		}
	}
}

// TestPage_OwnerLines: the owner of a site is told what is open and closed, and not who did it.
func TestPage_OwnerLines(t *testing.T) {
	g := guard(t, 1)
	g.switchLines(first, "1h")
	time.Sleep(1100 * time.Millisecond) // until what Caddy has told before counts no more
	for member, want := range map[string]string{"opens": "POST /acme/v1/x", "closes": "/acme/v1/y"} {
		for of, told := range map[string][2]any{"": {"127.0.0.1", "anna"}, first: {}} {
			lines, _ := g.shown(of)[first][member].([]any)
			if len(lines) != 1 {
				t.Fatalf("%s: %v", member, lines)
			}
			if line, _ := lines[0].(map[string]any); line["line"] != want || line["by"] != told[0] || line["operator"] != told[1] || line["since"] == nil || (line["until"] == nil) != (member == "closes") {
				t.Errorf("%q: %s: %v", of, member, line)
			}
		}
	}
}

// TestPage_OwnerErrors: an error names no other site and no address to the owner of one.
func TestPage_OwnerErrors(t *testing.T) {
	g := guard(t, 2)
	g.configure("http://shop-2.example.com:PORT {\n\tbind 127.0.0.1\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:9876\n}\n")
	for _, path := range []string{"sites", "refusals"} {
		if status, text := g.ask(first, "GET", path, ""); status != http.StatusNotFound || text != `{"error":"the site shop-1.example.com is not guarded any more"}` {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	api, err := adminapi.New("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	page := statuspage.New(api, []byte(strings.Repeat("k", 32)))
	for site, told := range map[string]string{"": "127.0.0.1:1", first: "the gateway does not answer"} {
		for _, path := range []string{"sites", "refusals"} {
			res := httptest.NewRecorder()
			page.ServeHTTP(res, httptest.NewRequest(http.MethodGet, page.Path(site)+path, http.NoBody))
			if text := res.Body.String(); res.Code != http.StatusBadGateway || !strings.Contains(text, told) || site != "" && strings.Contains(text, "127") {
				t.Errorf("%q %s: %d %s", site, path, res.Code, text)
			}
		}
	}
}

// TestPage_SlowCaddy: pages that wait for the same answer of a Caddy in trouble wait once.
func TestPage_SlowCaddy(t *testing.T) {
	t.Parallel()
	const slow = 300 * time.Millisecond
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(slow)
		http.Error(w, "trouble", http.StatusInternalServerError)
	}))
	t.Cleanup(admin.Close)
	api, err := adminapi.New(strings.TrimPrefix(admin.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	page := statuspage.New(api, []byte(strings.Repeat("k", 32)))
	started := time.Now()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			res := httptest.NewRecorder()
			page.ServeHTTP(res, httptest.NewRequest(http.MethodGet, page.Path("")+"sites", http.NoBody))
			if res.Code != http.StatusInternalServerError {
				t.Errorf("%d %s", res.Code, res.Body)
			}
		})
	}
	group.Wait()
	if took := time.Since(started); took > 5*slow {
		t.Errorf("20 pages waited %v", took)
	}
}

// TestPage_OwnerMisread: the owner of a site is told of misread pages as the operator is.
func TestPage_OwnerMisread(t *testing.T) {
	t.Parallel()
	const misread = `{"action":"refuse","count":2,"last":"2026-03-01T10:04:31Z","unguarded":["Access-Control-Allow-Headers"]}`
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"`+first+`","misread":`+misread+`}]}`)
	}))
	t.Cleanup(admin.Close)
	api, err := adminapi.New(strings.TrimPrefix(admin.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	page := statuspage.New(api, []byte(strings.Repeat("k", 32)))
	for _, site := range []string{"", first} {
		res := httptest.NewRecorder()
		page.ServeHTTP(res, httptest.NewRequest(http.MethodGet, page.Path(site)+"sites", http.NoBody))
		if !strings.Contains(res.Body.String(), `"misread":`+misread) {
			t.Errorf("%q: %s", site, res.Body)
		}
	}
}
