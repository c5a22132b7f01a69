package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// byPage is what a browser sends with a call that a page of the site makes.
func byPage(client string) []edit {
	return []edit{header("Sec-Fetch-Site", "same-origin"), header("X-Forwarded-For", client)}
}

// honest are calls that must pass: of visitors' pages, of users and of keys.
func honest(w *world) map[string][]edit {
	calls := map[string][]edit{
		"GET /cms-json/cms/v2/posts":                                     {w.as("editor")},
		"GET /cms-json/cms/v2/users/me":                                  {w.as("customer")},
		fmt.Sprintf("GET /cms-json/shop/v3/orders/%d", w.info.Orders[0]): {withKey(w.info.Keys.ReadWriteKey)},
	}
	return calls
}

// visits are calls of a page in a visitor's browser.
var visits = []struct{ line, body string }{
	{"GET /cms-json/shop/store/v1/cart", ""},
	{"GET /?rest_route=/shop/store/v1/cart", ""},
	{"POST /cms-json/shop/store/v1/cart/add-item", `{"id":1}`},
	{"GET /cms-json/shop/store/v1/products", ""},
	{"POST /cms-json/consent/v1/consent", `{"consent":"all"}`},
}

// attack is a recorded request with an attacker's address.
type attack struct {
	id  string
	raw []byte
}

// attacks are recorded requests without credentials, of a few attackers and of many.
func attacks(t *testing.T) (list []attack) {
	t.Helper()
	for i, r := range recordings.Requests(t) {
		line, rest, whole := bytes.Cut(r.Raw, []byte("\r\n"))
		if r.Site != "root" || i%2 > 0 || !whole {
			continue
		}
		client := fmt.Sprintf("198.51.100.%d", len(list)%4)
		if i%4 == 0 {
			client = fmt.Sprintf("192.0.2.%d", len(list)%250)
		}
		list = append(list, attack{r.ID, bytes.Join([][]byte{line, []byte("X-Forwarded-For: " + client), rest}, []byte("\r\n"))})
	}
	if len(list) < 500 {
		t.Fatalf("%d attacks", len(list))
	}
	return list
}

// decided is what the gateway decided on a request, "" for none, and on which route.
type decided struct{ outcome, route string }

// outcomes sends attacks and returns what the gateway decided on each.
func outcomes(t *testing.T, w *world, list []attack) []decided {
	t.Helper()
	all, host := make([]decided, len(list)), strings.TrimPrefix(w.gateway, "http://")
	for i, a := range list {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		x, err := rawhttp.HTTP1(ctx, host, bytes.Replace(a.raw, []byte("Host: 127.0.0.1:8080"), []byte("Host: "+host), 1))
		cancel()
		if err != nil || x.Status == 0 {
			continue
		}
		if vars := strings.Split(x.Header.Get("X-Vars"), "|"); len(vars) == 7 {
			all[i] = decided{vars[1], vars[2]}
		}
	}
	return all
}

// TestSuggest: honest calls and recorded attacks go through observe mode. What "suggest" makes
// of the log lets every honest call pass, and none of the attacks that login_only alone
// refuses.
func TestSuggest(t *testing.T) {
	p, list := newPlatform(t, site.Options{Release: "11.1", Platform: "wordpress"}), attacks(t)
	p.start("login_only", varsHeader)
	p.learned()
	before := outcomes(t, p, list)

	p.start("mode observe\nlogin_only", varsHeader)
	p.learned()
	p.eventually("the records name routes", func() bool {
		p.gate("GET /cms-json/cms/v2/posts", "")
		text, err := os.ReadFile(p.log)
		return err == nil && strings.Contains(string(text), `"route":"/wp/v2/posts"`)
	})
	for client := range 4 {
		for _, v := range visits {
			p.gate(v.line, v.body, byPage(fmt.Sprintf("203.0.113.%d", client))...)
		}
		p.gate("POST /cms-json/pay/v1/notify", "{}", header("X-Forwarded-For", "203.0.113.99"))
	}
	for line, edits := range honest(p) {
		p.gate(line, "", edits...).passed()
	}
	watched := outcomes(t, p, list)
	lines, _ := caddyrun.Command(t, "suggest", p.log)
	if again, _ := caddyrun.Command(t, "suggest", p.log); again != lines || string(caddyfile.Format([]byte(lines))) != lines {
		t.Errorf("not formatted, or not the same again:\n%s", lines)
	}
	checkSilent(t, lines)

	p.start("login_only\n"+lines, varsHeader)
	p.learned()
	for _, v := range visits {
		if r := p.gate(v.line, v.body, byPage("203.0.113.77")...); r.reached != 1 {
			t.Errorf("%s: %d %s", v.line, r.status, r.body)
		}
	}
	for line, edits := range honest(p) {
		p.gate(line, "", edits...).passed()
	}
	refused := 0
	for i, after := range outcomes(t, p, list) {
		route := watched[i].route // visitors call these; the site has no route for orders of visitors, so that it has no name
		same := strings.HasPrefix(route, "/wc/store") || strings.HasPrefix(route, "/consent") || bytes.Contains(list[i].raw, []byte("/wc/store/v1/order/"))
		if before[i].outcome != "refused" || same {
			continue
		}
		refused++
		if watched[i].outcome != "would_refuse" || after.outcome != "refused" {
			t.Errorf("%s: %v, then %v with\n%s", list[i].id, watched[i], after, lines)
		}
	}
	if _, left, _ := strings.Cut(lines, "# Left out: no page of the site made them"); !strings.Contains(left, "\n# - POST /pay/v1/notify, 4 calls by 1 client,") {
		t.Errorf("the provider's call is not left out:\n%s", lines)
	}
	if refused < 400 || !strings.Contains(lines, "\nallow plugin woocommerce for visitors\n") || !strings.Contains(lines, "\nallow anyone POST /consent/v1/consent\n") {
		t.Errorf("%d attacks were refused; the lines are\n%s", refused, lines)
	}
	t.Logf("%d of %d attacks are refused, before and after\n%s", refused, len(list), lines)
}

// checkSilent holds that lines in a directive with login_only load, and that "check" finds
// nothing odd.
func checkSilent(t *testing.T, lines string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "Caddyfile")
	text := "shop.example.com {\n\trestwarden wordpress {\n\t\tspool_dir " + t.TempDir() + "\n\t\tlogin_only\n" + lines + "\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := caddyrun.Command(t, "check", "--config", file, "--format", "json"); !strings.Contains(out, `"findings": []`) && !onlySpool(out) {
		t.Errorf("%s\n%s", out, text)
	}
}

// onlySpool tells whether the only finding is about the directory of the test's machine.
func onlySpool(found string) bool {
	return strings.Count(found, `"code": "W`) == strings.Count(found, `"code": "W14"`)
}
