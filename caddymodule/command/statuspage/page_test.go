package statuspage_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/statuspage"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

const (
	first  = "shop-1.example.com"
	second = "shop-2.example.com"
)

// TestPage_Tokens: nobody sees anything without a token of this key, and the token of a site
// is good for no other.
func TestPage_Tokens(t *testing.T) {
	g := guard(t, 2)
	api, err := adminapi.New(g.admin)
	if err != nil {
		t.Fatal(err)
	}
	all, one, other := g.page.Path(""), g.page.Path(first), g.page.Path(second)
	mixed := one[:strings.Index(one, ".")] + other[strings.Index(other, "."):]
	for _, path := range []string{
		"/", "/x/", "//", "/./", "/%2e/", statuspage.New(api, []byte(strings.Repeat("x", 32))).Path(""), statuspage.New(api, []byte(strings.Repeat("x", 32))).Path(first),
		mixed, one[:len(one)-2] + "/", all[:len(all)-2] + "/", "/." + all[1:], "/" + base64.RawURLEncoding.EncodeToString([]byte(second)) + "." + all[1:],
		strings.ToLower(all), strings.ToUpper(one),
	} {
		for _, what := range []string{"GET ", "GET sites", "GET refusals?site=" + first, "GET events", "POST mode", "POST lockdown"} {
			method, name, _ := strings.Cut(what, " ")
			if status, text := g.askAt(path+name, method, `{"for":"1h"}`); status != http.StatusNotFound && status != http.StatusMethodNotAllowed || strings.Contains(text, "shop-") {
				t.Errorf("%s %s%s: %d %s", method, path, name, status, text)
			}
		}
	}
	for _, path := range []string{all, one} {
		if status, text := g.askAt(path, "GET", ""); status != http.StatusOK || !strings.Contains(text, "<!doctype html>") {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _ := g.ask("", "POST", "sites", ""); status != http.StatusMethodNotAllowed {
		t.Error(status)
	}
	if again := statuspage.New(api, []byte(strings.Repeat("k", 32))); again.Path("") != all || again.Path(first) != one {
		t.Error("the same key makes another address")
	}
}

// TestPage_OneSite: the page of one site shows that site alone, nothing of the machine, and
// switches nothing.
func TestPage_OneSite(t *testing.T) {
	g := guard(t, 2) // the second has a problem
	all, one, two := g.shown(""), g.shown(first), g.shown(second)
	if len(all) != 2 || len(one) != 1 || one[first] == nil || len(two) != 1 || two[second] == nil {
		t.Fatalf("%v\n%v\n%v", all, one, two)
	}
	if page := all[first]["page"]; page != ".."+g.page.Path(first) || one[first]["page"] != nil {
		t.Errorf("%v, %v", page, one[first]["page"])
	}
	whole, own := fmt.Sprint(all[second]["problems"]), fmt.Sprint(two[second]["problems"])
	if !strings.Contains(whole, "Caddyfile:") || !strings.Contains(own, "W10") || strings.Contains(own, "Caddyfile:") {
		t.Errorf("%s, %s", whole, own)
	}
	events, everything := g.follow(first), g.follow("")
	followed(t, events)
	followed(t, everything)
	g.refuse(second)
	g.refuse(first)
	e := until(t, events, "a refusal", func(e told) bool { return len(e.Records) > 0 })
	if len(e.Records) != 1 || e.Records[0]["site"] != first || e.Records[0]["at"] != nil || e.Records[0]["request_id"] == "" || e.Counts[second] != 0 || e.Counts[first] != 1 {
		t.Errorf("%+v", e)
	}
	counts := map[string]int{}
	until(t, everything, "both refusals", func(e told) bool {
		for site, n := range e.Counts {
			counts[site] += n
		}
		return counts[first] == 1 && counts[second] == 1 && strings.HasPrefix(fmt.Sprint(e.Records[0]["at"]), "Caddyfile:")
	})
	for _, path := range []string{"refusals", "refusals?site=" + second} {
		status, text := g.ask(first, "GET", path, "")
		if status != http.StatusOK || strings.Contains(text, second) || strings.Count(text, `"request_id"`) != 1 || strings.Contains(text, "Caddyfile") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	for path, body := range map[string]string{"mode": `{"site":"` + first + `","mode":"observe","for":"1h"}`, "lockdown": `{"for":"1h"}`} {
		if status, text := g.ask(first, "POST", path, body); status != http.StatusForbidden || !strings.Contains(text, "switches nothing") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := g.ask("shop-9.example.com", "GET", "sites", ""); status != http.StatusNotFound || !strings.Contains(text, "is not guarded any more") {
		t.Errorf("%d %s", status, text)
	}
}

// TestPage_Switches: the page of all sites switches as the admin endpoint does, for nobody
// from another page.
func TestPage_Switches(t *testing.T) {
	g := guard(t, 2)
	for _, test := range []struct {
		path, body string
		status     int
		answer     string
		edits      []func(*http.Request)
	}{
		{"mode", `{"site":"` + first + `","mode":"observe","for":"1h"}`, 200, `"mode":"observe","mode_until":"`, nil},
		{"mode", `{"site":"shop-11.example.com","mode":"observe","for":"1h"}`, 404, "did you mean", nil},
		{"mode", `{"site":"` + first + `","mode":"sleep","for":"1h"}`, 400, "neither observe nor enforce", nil},
		{"mode", `{"site":"` + first + `","mode":"","for":"0s"}`, 200, `"mode":"enforce"`, nil},
		{"lockdown", `{"site":"` + first + `","for":"1h","hard":true}`, 200, `"hard":true,"all":false`, nil},
		{"lockdown", `{"for":"1h"}`, 200, `"all":true`, nil},
		{"lockdown", `{"for":"0s"}`, 200, `"sites":1`, nil},
		{"lockdown", `{"for":"soon"}`, 400, "is not a duration", nil},
		{"lockdown", `{"for":"1h","extra":1}`, 400, "unknown field", nil},
		{"lockdown", `{"for":"1h","site":"` + strings.Repeat("x", 8<<10) + `"}`, 400, "too large", nil},
		{"lockdown", `{"for":"1h"}`, 403, "cross-origin", []func(*http.Request){func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }}},
		{"lockdown", `{"for":"1h"}`, 403, "cross-origin", []func(*http.Request){func(r *http.Request) { r.Header.Set("Origin", "http://elsewhere.example") }}},
	} {
		if status, text := g.ask("", "POST", test.path, test.body, test.edits...); status != test.status || !strings.Contains(text, test.answer) {
			t.Errorf("%s %.100s: %d %s, want %d with %s", test.path, test.body, status, text, test.status, test.answer)
		}
	}
	all := g.shown("")
	if all[first]["lockdown"] == nil || all[second]["lockdown"] != nil || all[first]["mode"] != "enforce" {
		t.Errorf("%v", all)
	}
}

// TestPage_Caddy: the page tells when Caddy is gone, and goes on when it is back, with what
// it has refused meanwhile.
func TestPage_Caddy(t *testing.T) {
	g := guard(t, 1)
	g.refuse(first) // before anybody looks
	events, own := g.follow(""), g.follow(first)
	followed(t, events)
	followed(t, own)
	caddyrun.Stop(t)
	gone := func(e told) bool { return e.Problem != nil && *e.Problem != "" }
	until(t, events, "a problem", gone)
	if e := until(t, own, "a problem", gone); *e.Problem != "the gateway does not answer" {
		t.Errorf("the owner of a site is told of the machine: %s", *e.Problem)
	}
	time.Sleep(1100 * time.Millisecond) // until what Caddy has told counts no more
	if status, text := g.ask("", "GET", "sites", ""); status != http.StatusNotFound || !strings.Contains(text, "no configuration with a restwarden directive is running") {
		t.Errorf("%d %s", status, text)
	}
	g.start()
	g.refuse(first)
	followed(t, events)
	g.refuse(first)
	wait.For(t, 10*time.Second, "a page that is opened later and has all three", func() bool {
		late := until(t, g.follow(""), "the recent ones", func(e told) bool { return len(e.Records) > 0 })
		return len(late.Records) == 3 && len(late.Counts) == 0
	})
}

// TestPage_Headers: the page may load nothing, be shown in no frame, and tells nobody its
// address.
func TestPage_Headers(t *testing.T) {
	g := guard(t, 1)
	for _, path := range []string{g.page.Path(""), g.page.Path(first), g.page.Path("") + "sites", "/nothing/"} {
		res, err := client.Get(g.url + path) //nolint:noctx // the client has a limit
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		policy := res.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") ||
			res.Header.Get("Referrer-Policy") != "no-referrer" || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
}

// gone is a browser that went away once the header was written.
type gone struct {
	*httptest.ResponseRecorder
	headers int
}

func (g *gone) WriteHeader(status int) {
	g.headers++
	g.ResponseRecorder.WriteHeader(status)
}

func (g *gone) Write([]byte) (int, error) { return 0, errors.New("the browser is gone") }

// TestPage_Gone: an answer has one header, also where nobody reads it.
func TestPage_Gone(t *testing.T) {
	g := guard(t, 2)
	for _, name := range []string{"sites", "refusals?site=" + first} {
		w := &gone{ResponseRecorder: httptest.NewRecorder()}
		g.page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, g.page.Path("")+name, nil))
		if w.headers != 1 {
			t.Errorf("%s: %d headers", name, w.headers)
		}
	}
}
