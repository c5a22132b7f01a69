package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// varsHeader shows the vars of a request as a header, in the order of docs/operations.md, "Vars".
const varsHeader = `header >X-Vars "{http.vars.restwarden.kind}|{http.vars.restwarden.outcome}|{http.vars.restwarden.route}|{http.vars.restwarden.method}|{http.vars.restwarden.caller}|{http.vars.restwarden.policy}|{http.vars.restwarden.code}"`

// everything is a directive with all policies on.
func everything(w *world) string {
	return `login_only
		allow anyone POST /consent/v1/consent
		allow anyone /shop/store/v1/**
		allow signed cookie_plugin /cookie/v1/store-auth
		allow role administrator GET /shop-admin/**
		deny /old/** as 404
		signature cookie_plugin {
			key ` + w.info.Keys.CookiePlugin + `
		}
		rate_limit 1/1h POST /consent/v1/consent
		order_type {
			strict
		}
		checkout_total
		refund_totals
		abilities {
			allow core/*
		}
		redact /shop/v3/orders/* billing.email
		redact authors
		strip_query lang /cms/v2/posts
		session_cookies {
			path /elsewhere
		}
		body_limit 64KiB
		no_store`
}

// incident is a request that one policy refuses.
type incident struct {
	name, line, body string
	edits            []edit
	status           int
	policy, code     string
	vars             string // route|method|caller
}

func incidents(w *world) []incident {
	sub, second, third, order := w.info.Subscriptions[0], w.info.Subscriptions[1], w.newSubscription(), w.info.Orders[0]
	session := w.guest(true)
	wrong := func(r *http.Request) { r.SetBasicAuth("admin", "top secret") }
	cookie, _ := w.session("admin")
	stale := time.Now().Add(-time.Hour)
	key, secret, _ := strings.Cut(w.info.Keys.ReadWriteKey, ":")
	return []incident{
		{"two readings", "GET /cms-json/cms/v2/posts?rest_route=/cms/v2/users", "", nil, 400, "call", ambiguous, "*||"},
		{"too large", "POST /", "rest_route=/cms/v2/posts&x=" + strings.Repeat("y", 70_000), nil, 413, "call", "rest_request_too_large", "*||"},
		{"encoded body", "PUT /cms-json/shop/v3/orders/1", "{}", []edit{w.as("admin"), header("Content-Encoding", "gzip")}, 415, "*", "rest_*", "*"},
		{"anonymous", "GET /cms-json/cms/v2/posts?token=hush", "", nil, 401, "access", "rest_not_logged_in", "/cms/v2/posts|GET|anonymous"},
		{"users", "GET /cms-json/cms/v2/users", "", nil, 401, "access", "rest_not_logged_in", "/cms/v2/users|GET|anonymous"},
		{"wrong role", "GET /cms-json/shop-admin/v1/features", "", []edit{w.as("customer")}, 403, "access", "rest_forbidden", "/shop-admin/v1/features|GET|user"},
		{"denied", "POST /cms-json/cookie/v1/upload-logo", "", []edit{w.as("admin")}, 403, "access", "rest_forbidden", "unknown|POST|"},
		{"denied as 404", "GET /cms-json/old/secret-name", "", nil, 404, "access", "rest_no_route", "unknown|GET|"},
		{"wrong password", "GET /cms-json/cms/v2/posts", "", []edit{wrong}, 401, "access", "platform", "/cms/v2/posts|GET|"},
		{"bad nonce", "GET /cms-json/cms/v2/posts", "", []edit{cookie, header("X-CMS-Nonce", "0badnonce0")}, 400, "access", "platform", "/cms/v2/posts|GET|"},
		{"stale signature", "POST /cms-json/cookie/v1/store-auth", "{}", []edit{signed(w.info.Keys.CookiePlugin, stale)}, 401, "signature", "rest_invalid_signature", "/cookie/v1/store-auth|POST|"},
		{"second consent", "POST /cms-json/consent/v1/consent", "{}", nil, 429, "rate_limit", "rest_too_many_requests", "/consent/v1/consent|POST|"},
		{"subscription", fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), `{"status":"processing"}`, []edit{w.as("admin")}, 400, "order_type", invalidID, "/shop/v3/orders/:id|PUT|user"},
		{"subscription by key", fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d?consumer_key=%s&consumer_secret=%s", second, key, secret), `{}`, nil, 400, "order_type", invalidID, "/shop/v3/orders/:id|PUT|key"},
		{"subscription in a batch", "POST /cms-json/shop/v3/orders/batch", fmt.Sprintf(`{"delete":[%d]}`, third), []edit{w.as("admin")}, 400, "order_type", invalidID, "/shop/v3/orders/:id|POST|user"},
		{"total", "POST /cms-json/shop/store/v1/checkout", `{"expected_total":1,"shipping_address":{"country":"US"}}`, session, 409, "checkout_total", mismatch, "/shop/store/v1/checkout|POST|"},
		{"refund", fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", order), `{"compute_totals":true}`, []edit{w.as("admin")}, 400, "refund_totals", "shop_rest_compute_totals_unsupported", "/shop/v3/orders/:order_id/refunds|POST|user"},
		{"ability", "GET /cms-json/cms-abilities/v1/abilities/shop/orders-query/run", "", []edit{w.as("admin")}, 403, "abilities", "rest_forbidden", "/cms-abilities/v1/abilities/:name|GET|user"},
		{"ability's method", "POST /cms-json/cms-abilities/v1/abilities/core/get-site-info/run", "{}", []edit{w.as("admin")}, 400, "abilities", "rest_invalid_param", "/cms-abilities/v1/abilities/:name|POST|user"},
	}
}

// TestSeen: each outcome shows in vars, metrics and log, without a secret.
func TestSeen(t *testing.T) {
	p := newPlatform(t, site.Options{Release: "10.7"})
	p.start(everything(p), varsHeader, behind)
	p.learned()
	p.gate("POST /cms-json/consent/v1/consent", "{}").want(200)
	for _, i := range incidents(p) {
		t.Run(i.name, func(t *testing.T) {
			p.t = t
			before, lines := p.decisions(i.policy, i.code, "refused"), len(p.refusals())
			r := p.gate(i.line, i.body, i.edits...).stopped().want(i.status)
			logged := p.refusals()[lines:]
			vars := strings.Split(r.header.Get("X-Vars"), "|")
			if len(vars) != 7 || len(logged) != 1 {
				t.Fatalf("vars %q, log %v", vars, logged)
			}
			if i.policy == "*" { // any policy may refuse it
				i.policy, i.code = vars[5], vars[6]
			} else if after := p.decisions(i.policy, i.code, "refused"); after != before+1 {
				t.Errorf("counted %v, before %v", after, before)
			}
			if got := strings.Join(vars[2:5], "|"); vars[1] != "refused" || vars[5] != i.policy || vars[6] != i.code || !strings.HasPrefix(i.vars, "*") && got != i.vars {
				t.Errorf("vars %q; want %s and %s %s", vars, i.vars, i.policy, i.code)
			}
			line := logged[0]
			if line["level"] != "info" || line["policy"] != i.policy || line["code"] != i.code || line["outcome"] != "refused" || line["client_ip"] != "127.0.0.1" {
				t.Errorf("log %v", line)
			}
			if i.code == "platform" || i.policy != "access" {
				return
			}
			if rule, _ := line["rule"].(string); rule == "" {
				t.Errorf("no rule: %v", line)
			}
		})
	}
	p.t = t
	text, _ := json.Marshal(p.refusals())
	for _, secret := range []string{
		"hush", "top secret", "0badnonce0", "secret-name", p.info.Keys.CookiePlugin, p.info.Keys.ReadWriteKey[50:], p.info.Users["admin"].ApplicationPassword,
		strings.ReplaceAll(p.info.Users["admin"].ApplicationPassword, " ", ""),
	} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q in the log", secret)
		}
	}
	for line, want := range map[string]string{
		"GET /": "page|pass|||||", "GET /cms-json/cms/v2/posts": "call|pass|/cms/v2/posts|GET|user||", "POST /cms-json/shop/store/v1/cart/add-item": "call|pass|/shop/store/v1/cart/add-item|POST|user||",
	} {
		if r := p.gate(line, "", p.as("admin")); r.header.Get("X-Vars") != want {
			t.Errorf("%s: vars %s, want %s", line, r.header.Get("X-Vars"), want)
		}
	}
	for _, series := range []string{`decision_duration_seconds_count`, `lookups_total{kind="caller",result="ok"}`, `lookup_duration_seconds_count{kind="cart"}`} {
		if p.counter(series) <= 0 {
			t.Errorf("%s: %v", series, p.counter(series))
		}
	}
	if strings.Contains(p.scraped(), "caddy_restwarden_misconfigured{") {
		t.Error("the site is misconfigured")
	}
}

// refusals returns the log lines about refusals, enforced or not.
func (w *world) refusals() []map[string]any {
	w.t.Helper()
	var lines []map[string]any
	for text := range strings.Lines(w.logged()) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil && strings.HasPrefix(fmt.Sprint(line["msg"]), "request ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestObserve: for the same traffic nothing is refused or changed, and all is counted.
func TestObserve(t *testing.T) {
	p := newPlatform(t, site.Options{Release: "10.7"})
	p.start("mode observe\n"+everything(p), varsHeader, behind)
	p.gate("POST /cms-json/consent/v1/consent", "{}").want(200)
	for _, i := range incidents(p) {
		t.Run(i.name, func(t *testing.T) {
			p.t = t
			if i.name == "bad nonce" || i.name == "wrong password" { // the platform's own refusals stay as well
				bare := p.bare(i.line, i.body, i.edits...)
				if r := p.gate(i.line, i.body, i.edits...).passed(); r.status != bare.status || r.body != bare.body {
					t.Errorf("%d %s; bare %d %s", r.status, r.body, bare.status, bare.body)
				}
			}
			lines := len(p.refusals())
			r := p.gate(i.line, i.body, i.edits...).passed()
			if vars := strings.Split(r.header.Get("X-Vars"), "|"); len(vars) != 7 || vars[1] != "would_refuse" || i.policy != "*" && (vars[5] != i.policy || vars[6] != i.code) {
				t.Errorf("vars %q", vars)
			}
			if logged := p.refusals()[lines:]; len(logged) != 1 || logged[0]["outcome"] != "would_refuse" {
				t.Errorf("log %v", logged)
			}
			if i.policy != "*" && p.decisions(i.policy, i.code, "would_refuse") == 0 {
				t.Error("not counted")
			}
		})
	}
	p.t = t
	for _, i := range incidents(p) {
		if n := p.decisions(i.policy, i.code, "refused"); n != 0 {
			t.Errorf("%s: %v counted as refused", i.name, n)
		}
	}
	if after, there := p.site.Record(p.info.Subscriptions[0]); there && after.Type == "shop_subscription" {
		t.Error("the subscription is as it was: nothing got through")
	}
	for _, q := range p.tap.asked(0) {
		if q.Method != http.MethodGet && q.Method != http.MethodOptions {
			t.Errorf("asked %s %s", q.Method, q.RequestURI)
		}
	}
	secret := p.secretIn()
	p.gate("GET /cms-json/feed/troubleshooting", "", p.as("admin")).want(200, secret)
	p.gate(fmt.Sprintf("GET /cms-json/shop/v3/orders/%d", p.info.Orders[0]), "", p.as("admin")).want(200, "@example.test")
	login := p.gate("POST /cms-login.php", "log=admin&pwd="+p.info.Users["admin"].Password).want(302)
	if strings.Contains(strings.Join(login.header.Values("Set-Cookie"), ""), "/elsewhere") {
		t.Error("a cookie was changed")
	}
}

// TestObserve_OnePolicy: one policy can observe alone.
func TestObserve_OnePolicy(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "login_only\norder_type {\nmode observe\n}")
	sub := w.newSubscription()
	line := fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub)
	w.gate(line, "{}").refusedWith(401, "rest_not_logged_in")
	w.gate(line, "{}", w.as("admin")).want(200).passed()
	if w.decisions("order_type", invalidID, "would_refuse") != 1 {
		t.Error("not counted")
	}
}

// TestPolicies_CanBeSwitchedOff: each refusal comes from one policy, and is gone without
// it. So the tests above can fail.
func TestPolicies_CanBeSwitchedOff(t *testing.T) {
	for _, policy := range []string{"access", "signature", "rate_limit", "order_type", "checkout_total", "refund_totals", "abilities"} {
		t.Run(policy, func(t *testing.T) {
			p := newPlatform(t, site.Options{Release: "10.7"})
			var kept []string
			depth, dropping := 0, false
			words := map[string][]string{"access": {"login_only", "allow", "deny"}, "signature": {"signature", "allow signed"}}[policy]
			for line := range strings.Lines(everything(p)) {
				line = strings.TrimSpace(line)
				if depth == 0 {
					dropping = slices.ContainsFunc(append(words, policy), func(word string) bool { return line == word || strings.HasPrefix(line, word+" ") })
				}
				depth += strings.Count(line, "{") - strings.Count(line, "}")
				if !dropping {
					kept = append(kept, line)
				}
			}
			p.start(strings.Join(append(kept, policy+" off"), "\n"), varsHeader)
			p.gate("POST /cms-json/consent/v1/consent", "{}")
			for _, i := range incidents(p) {
				if i.policy != policy {
					continue
				}
				r := p.gate(i.line, i.body, i.edits...)
				if vars := strings.Split(r.header.Get("X-Vars"), "|"); vars[5] == policy {
					t.Errorf("%s: still refused by %s: %d %s", i.name, policy, r.status, r.body)
				}
			}
		})
	}
}
