package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies"
)

const everyPolicy = `login_only
allow anyone /consent/v1/consent /shop/store/v1/** /shop/store/v1/checkout
allow role editor GET /cms/v2/pages
allow role editor,author GET /cms/v2/taxonomies
allow capability manage_options GET /cms/v2/widgets
allow anyone POST /batch/v1
deny /shop/v3/products as 404
allow signed cookie_plugin POST /cookie/v1/store-auth
signature cookie_plugin {
	scheme request
	key secret-of-the-plugin
	once
}
scope erp {
	key zzzzzzz
}
rate_limit 1/1h POST /consent/v1/consent
alias ^api/(.+) /$1
body_limit 2KiB
misread refuse
abilities {
	allow core/* shop/orders-query shop/order-update-status shop/product-delete
	confirm shop/product-delete
}`

// told is what "explain --log" answers in JSON.
type told struct {
	Answer  string `json:"answer"`
	Same    bool   `json:"same"`
	Missing string `json:"missing"`
	Records []struct {
		Policy string   `json:"policy"`
		Code   string   `json:"code"`
		Roles  []string `json:"roles"`
		Scheme string   `json:"scheme"`
	} `json:"records"`
}

// explained runs "explain --log" on the record of a refusal, under the gateway's own Caddyfile.
func explained(t *testing.T, w *world, id string) (said told) {
	t.Helper()
	if err := os.WriteFile("Caddyfile", []byte(w.file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := caddycmd.Commands()["restwarden"]
	cmd := &cobra.Command{Use: c.Name, SilenceUsage: true, SilenceErrors: true}
	c.CobraFunc(cmd)
	var out, problems bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&problems)
	cmd.SetArgs([]string{"explain", "--config", "Caddyfile", "--format", "json", "--log", w.log, id})
	_ = cmd.Execute() // the exit status is the answer's
	if err := json.Unmarshal(out.Bytes(), &said); err != nil || len(said.Records) == 0 {
		t.Fatalf("%v: %s%s", err, out.String(), problems.String())
	}
	return said
}

// loggedRefusal is a call that a policy refuses.
type loggedRefusal struct {
	policy, code string
	line, body   string
	edits        []edit
	want         string // of "explain --log": the, or words of the fact that decides
}

// the is the answer that the request would be refused the same way now.
const the = "same"

// otherwise is the answer that it would be refused in another way now: a dry run without --running knows no switches.
const otherwise = ""

// loggedRefusals are calls that the policies of everyPolicy refuse.
func (w *world) loggedRefusals() []loggedRefusal {
	shopper := w.guest(true)
	order, sub := w.info.Orders[0], w.info.Subscriptions[0]
	admin, customer := w.as("admin"), w.as("customer")
	return []loggedRefusal{
		{"access", "rest_not_logged_in", "GET /cms-json/cms/v2/posts", "", nil, the},
		{"access", "rest_not_logged_in", "GET /?rest_route=/cms/v2/posts", "", nil, the},
		{"access", "rest_not_logged_in", "POST /", "rest_route=/cms/v2/posts", []edit{contentType(asForm)}, the},
		{"access", "rest_not_logged_in", "GET /api/cms/v2/posts/1", "", nil, the},
		{"access", "rest_not_logged_in", "GET /cms-json/cms/v2/users", "", nil, the},
		{"access", "rest_not_logged_in", "GET /cms-json/cms/v2/nothing/here", "", nil, "the route"},
		{"access", "rest_not_logged_in", "POST /cms-json/batch/v1", `{"requests":[{"method":"POST","path":"/cms/v2/posts"},{"method":"DELETE","path":"/cms/v2/posts/1"}]}`, nil, the},
		{"access", "rest_forbidden", "GET /cms-json/cms/v2/pages", "", []edit{customer}, the},
		{"access", "rest_forbidden", "GET /cms-json/cms/v2/taxonomies", "", []edit{customer}, the},
		{"access", "rest_forbidden", "GET /cms-json/cms/v2/widgets", "", []edit{customer}, the},
		{"access", "rest_no_route", "GET /cms-json/shop/v3/products", "", []edit{admin}, the},
		{"access", "platform", "GET /cms-json/cms/v2/posts", "", []edit{func(r *http.Request) { r.SetBasicAuth("admin", "wrong") }}, "the credentials"},
		{"signature", "rest_invalid_signature", "POST /cms-json/cookie/v1/store-auth", "{}", nil, "the signature"},
		{"scope", "rest_credential_scope", "GET /cms-json/shop/store/v1/products?consumer_key=ck_zzzzzzz", "", nil, "which credential"},
		{"rate_limit", "rest_too_many_requests", "POST /cms-json/consent/v1/consent", "{}", nil, "how many calls"},
		{"order_type", "shop_rest_shop_order_invalid_id", fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), "{}", []edit{admin}, the},
		{"order_type", "shop_rest_shop_order_invalid_id", fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), "{}", []edit{withKey(w.info.Keys.ReadWriteKey)}, the},
		{"order_type", "shop_rest_shop_order_invalid_id", "POST /cms-json/shop/v3/orders/batch", fmt.Sprintf(`{"update":[{"id":%d}]}`, sub), []edit{admin}, the},
		{"checkout_total", "shop_rest_checkout_total_mismatch", checkout, `{"expected_total":1}`, shopper, "the shopper's cart"},
		{"checkout_total", "rest_invalid_param", checkout, `{"expected_total":"x"}`, shopper, "the shopper's cart"},
		{"refund_totals", "shop_rest_compute_totals_unsupported", fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", order), `{"compute_totals":true}`, []edit{admin}, "the fields of the body"},
		{"abilities", "rest_forbidden", "POST /cms-json/cms-abilities/v1/abilities/shop/orders-no/run", "", []edit{customer}, "the ability"},
		{"abilities", "rest_invalid_param", "POST /cms-json/cms-abilities/v1/abilities/core/get-site-info/run", "{}", []edit{admin}, "the ability"},
		{"call", "rest_ambiguous_request", "GET /cms-json/cms/v2/posts?rest_route=/cms/v2/users", "", nil, the},
		{"call", "rest_ambiguous_request", "GET /cms-json/cms/v2/posts", "", []edit{header("Upgrade", "websocket"), header("Connection", "Upgrade")}, the},
		{"abilities", "rest_request_too_large", "POST /cms-json/cms/v2/posts", `{"a":"` + strings.Repeat("x", 4000) + `"}`, []edit{admin}, "the size of the body"},
		{"checkout_total", "rest_unsupported_media_type", checkout, `{"expected_total":1}`, append(slices.Clone(shopper), header("Content-Encoding", "gzip")), "the request as it was sent"},
		{"order_type", "platform", fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), "{}", []edit{customer}, "the credentials"},
		{"abilities", "rest_confirmation_required", fmt.Sprintf("DELETE /cms-json/cms-abilities/v1/abilities/shop/product-delete/run?input[id]=%d", w.info.Products[0]), "", []edit{admin}, "whether a person has confirmed"},
	}
}

// TestExplainLog_EveryRefusal: of refusals by each policy, "explain --log"
// says that it would be the same now, or which fact decides that no record holds.
func TestExplainLog_EveryRefusal(t *testing.T) {
	t.Chdir(t.TempDir())
	w := newPlatform(t, site.Options{Release: "10.7", Platform: "wordpress", Core: "6.9"})
	w.start(everyPolicy)
	w.learned()
	w.knowsRoutes()
	w.gate("POST /cms-json/consent/v1/consent", "{}")
	broken := func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	answered, seen := 0, []string{}
	check := func(name, policy, code, want string, r reply) {
		t.Helper()
		id := r.header.Get("X-Request-Id")
		if id == "" {
			t.Fatalf("%s: %d %s", name, r.status, r.body)
		}
		said := explained(t, w, id)
		if got := said.Records[0]; got.Policy != policy || got.Code != w.branded(code) || got.Scheme != "http" {
			t.Errorf("%.100s: refused by %s with %s: %d %s", name, got.Policy, got.Code, r.status, r.body)
		}
		seen = append(seen, policy)
		if said.Same {
			answered++
		}
		if said.Same != (want == the) || want != the && !strings.Contains(said.Missing, want) {
			t.Errorf("%.100s: the same: %v, missing %q; want %s", name, said.Same, said.Missing, want)
		}
	}
	for _, c := range w.loggedRefusals() {
		check(c.line+" "+c.body, c.policy, c.code, c.want, w.gate(c.line, c.body, c.edits...))
	}

	w.tap.answerWith(broken)
	check("an outage", "access", "rest_policy_unavailable", "whether the gateway finds out", w.gate("GET /cms-json/cms/v2/posts", "", w.as("author")))
	w.tap.answerWith(func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Header().Set("Access-Control-Expose-Headers", "X-WP-Total")
		return true
	})
	check("a misread page", "call", "rest_misread", "what the site answers to this path", w.gate("GET /a/page", ""))
	w.tap.answerWith(nil)

	w.file.Admin = machine.FreeAddresses(t, 1)[0]
	w.load(w.file)
	w.learned()
	w.knowsRoutes()
	w.lock(t)
	check("a lockdown", "lockdown", "rest_not_logged_in", otherwise, w.gate("GET /cms-json/cms/v2/posts", ""))
	t.Logf("%d refusals, %d answered by a run or by the request's form, %d by the fact that decides", len(seen), answered, len(seen)-answered)

	for _, e := range policies.Catalog {
		if len(e.Codes) > 0 && !slices.ContainsFunc(seen, func(policy string) bool { return policy == e.Name }) {
			t.Errorf("no refusal by %s", e.Name)
		}
	}
}

// knowsRoutes waits until records have routes.
func (w *world) knowsRoutes() {
	w.t.Helper()
	w.eventually("records have routes", func() bool {
		r := w.gate("GET /cms-json/cms/v2/posts", "")
		return explained(w.t, w, r.header.Get("X-Request-Id")).Same
	})
}

// lock closes the site by a lockdown, which is the process's: it ends with the test.
func (w *world) lock(t *testing.T) {
	t.Helper()
	w.lockdown(t, "1h")
	t.Cleanup(func() { w.lockdown(t, "0s") })
}

// lockdown sets how long all sites are closed.
func (w *world) lockdown(t *testing.T, lasts string) {
	t.Helper()
	url, body := "http://"+w.file.Admin+adminapi.Path+adminapi.LockdownPath, strings.NewReader(`{"for":"`+lasts+`"}`)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := httpClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
}
