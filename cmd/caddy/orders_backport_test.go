package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// backported compares the gateway in front of a release without the check of the record
// type with a bare one that has it.
type backported struct {
	old, fresh *world
	ids        []map[string]int // by kind, on both
	own        bool             // order_type has a credential
}

func newBackported(t *testing.T, own bool) *backported {
	t.Helper()
	b := &backported{old: newPlatform(t, site.Options{Release: "10.7"}), fresh: newPlatform(t, site.Options{Release: "10.8"}), own: own}
	if own {
		b.old.start("order_type {\ncredential " + b.old.info.Keys.ReadKey + "\n}")
	} else {
		b.old.start("")
	}
	for _, w := range []*world{b.old, b.fresh} {
		refund := w.bare(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", w.info.Orders[0]), `{"amount":"1.00"}`, w.as("admin")).want(201).id()
		post := w.bare("POST /cms-json/cms/v2/posts", `{"title":"x","status":"publish"}`, w.as("admin")).want(201).id()
		b.ids = append(b.ids, map[string]int{
			"order": w.info.Orders[1], "subscription": w.info.Subscriptions[0], "refund": refund, "product": w.info.Products[0],
			"post": post, "nothing": 999999, "zero": 0, "large": 1 << 53,
		})
	}
	return b
}

// credentialed are the callers of a world, and those whose credentials are wrong.
func (w *world) credentialed() map[string]edit {
	all := w.callers()
	key, _, _ := strings.Cut(w.info.Keys.ReadWriteKey, ":")
	cookie, _ := w.session("admin")
	all["author"] = w.as("author")
	all["wrong password"] = func(r *http.Request) { r.SetBasicAuth("admin", "wrong") }
	all["unknown user"] = func(r *http.Request) { r.SetBasicAuth("nobody", "wrong") }
	all["unknown key"] = withKey("ck_no:cs_no")
	all["wrong secret"] = withKey(key + ":cs_wrong")
	all["cookie, no nonce"] = cookie
	all["cookie, bad nonce"] = func(r *http.Request) { cookie(r); header("X-CMS-Nonce", "0123456789")(r) }
	all["forged OAuth 1"] = oauth1(key + ":cs_wrong")
	return all
}

// orderUpdate is a way to update a record.
type orderUpdate struct {
	line, body string
	edits      []edit
	byQuery    bool // keys do not count there
}

// orderUpdates are the ways to update a record, with an order's id as %[1]d, the record's as %[2]d and the
// namespace as %[3]s.
var orderUpdates = []orderUpdate{
	{line: "PUT /cms-json/%[3]s/orders/%[2]d", body: `{"customer_note":"x"}`},
	{line: "PATCH /cms-json/%[3]s/orders/%[2]d", body: `{}`},
	{line: "POST /cms-json/%[3]s/orders/%[2]d", body: `{"status":"completed"}`},
	{line: "PUT /cms-json/%[3]s/orders/%[2]d"},
	{line: "PUT /cms-json/%[3]s/orders/000%[2]d", body: `{}`},
	{line: "PUT /cms-json/%[3]s/orders/%[1]d", body: `{"id":%[2]d}`},
	{line: "PUT /cms-json/%[3]s/orders/%[1]d", body: `{"id":"%[2]d"}`},
	{line: "PUT /cms-json/%[3]s/orders/%[1]d?id=%[2]d", body: `{}`},
	{line: "POST /cms-json/%[3]s/orders/%[2]d?_method=PUT", body: `{}`},
	{line: "POST /cms-json/%[3]s/orders/%[2]d", body: `{}`, edits: []edit{header("X-HTTP-Method-Override", "PATCH")}},
	{line: "PUT /?rest_route=/%[3]s/orders/%[2]d", body: `{}`, byQuery: true},
}

// answer is what a caller is told.
func (r reply) answer() string {
	if r.status < 400 {
		return strconv.Itoa(r.status)
	}
	return fmt.Sprintf("%d %s %v %v", r.status, r.code(), r.at("message"), r.at("data"))
}

// blind tells whether the gateway cannot ask for this caller as the platform judges: without
// a credential, those who write but do not read; signatures in any case. order_type says so.
func (b *backported) blind(name string, byQuery bool) bool {
	switch name {
	case "OAuth 1", "forged OAuth 1":
		return true
	case "write key", "editor":
		return !b.own
	}
	return byQuery && (strings.HasSuffix(name, "key") || name == "wrong secret")
}

// TestOrders_BackPort: an update of one id gets the answer of release 10.8, whoever calls and
// whatever the id is: status, code, message and data.
func TestOrders_BackPort(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("credential %t", own), func(t *testing.T) {
			b := newBackported(t, own)
			old, fresh := b.old.credentialed(), b.fresh.credentialed()
			for _, name := range slices.Sorted(maps.Keys(old)) {
				for i, u := range orderUpdates {
					namespaces := []string{"shop/v2", "shop/v3", "shop-analytics", "shop/v1", "shop/v9"}
					if i > 0 {
						namespaces = namespaces[i%3 : i%3+1]
					}
					for _, namespace := range namespaces {
						for kind := range b.ids[0] {
							b.compare(u, name, kind, namespace, old[name], fresh[name])
						}
					}
				}
			}
			if b.old.record(b.ids[0]["subscription"]).Type != "shop_subscription" {
				t.Error("the subscription changed")
			}
		})
	}
}

// compare sends an update to both.
func (b *backported) compare(u orderUpdate, name, kind, namespace string, old, fresh edit) {
	line, body := u.at(b.fresh.info.Orders[1], b.ids[1][kind], namespace)
	want := b.fresh.bare(line, body, append(slices.Clone(u.edits), fresh)...)
	line, body = u.at(b.old.info.Orders[1], b.ids[0][kind], namespace)
	got := b.old.gate(line, body, append(slices.Clone(u.edits), old)...)
	guarded := namespace != "shop/v1" && namespace != "shop/v9"
	switch {
	case guarded && b.blind(name, u.byQuery):
		if got.status < 400 && want.status >= 400 {
			b.old.t.Errorf("%s, %s: %s %s: %s; bare 10.8: %s", name, kind, line, body, got.answer(), want.answer())
		}
	case name == "cookie, no nonce" && guarded && got.status == want.status: // the gateway says what it says to nobody
	case got.answer() != want.answer():
		b.old.t.Errorf("%s, %s: %s %s: %s; bare 10.8: %s", name, kind, line, body, got.answer(), want.answer())
	case (name == "anonymous" || name == "cookie, no nonce") && got.asked > 0:
		b.old.t.Errorf("%s, %s: %s: %d questions", name, kind, line, got.asked)
	}
}

// at returns line and body of an update of id.
func (u orderUpdate) at(order, id int, namespace string) (line, body string) {
	fill := strings.NewReplacer("%[1]d", strconv.Itoa(order), "%[2]d", strconv.Itoa(id), "%[3]s", namespace)
	return fill.Replace(u.line), fill.Replace(u.body)
}

// TestOrders_BackPortEnds: what updates no single order is the platform's own: deletes,
// refunds, batches, tools, and routes that do not exist.
func TestOrders_BackPortEnds(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7", ToolServer: true}, "order_type {\nstrict\n}")
	key := header("X-MCP-API-Key", w.info.Keys.ReadWriteKey)
	for _, call := range []struct {
		line, body string
		as         edit
	}{
		{"DELETE /cms-json/shop/v3/orders/999999", "", w.as("admin")},
		{"POST /cms-json/shop/v3/orders/999999/refunds", `{"amount":"1.00"}`, w.as("admin")},
		{"POST /cms-json/shop/v3/orders/batch", `{"update":[{"id":999999}]}`, w.as("admin")},
		{"POST /cms-json/shop/v3/orders/batch", `{"update":[{"id":999999},{"id":999998},{"id":999997}]}`, w.as("admin")},
		{"POST /cms-json/shop/mcp", `{"method":"tools/call","params":{"name":"shop-orders-update","arguments":{"id":999999}}}`, key},
		{"PUT /cms-json/shop/v9/orders/999999", `{}`, w.as("admin")},
		{"PUT /cms-json/shop/v3/subscriptions/999999", `{}`, w.as("admin")},
	} {
		bare := w.bare(call.line, call.body, call.as)
		if r := w.gate(call.line, call.body, call.as).passed(); r.answer() != bare.answer() {
			t.Errorf("%s: %s; bare: %s", call.line, r.answer(), bare.answer())
		}
	}
	w = newWorld(t, site.Options{Release: "10.7"}, "mode observe")
	w.gate("PUT /cms-json/shop/v3/orders/999999", `{}`, w.as("admin")).want(400, `"Invalid ID."`).passed()
}
