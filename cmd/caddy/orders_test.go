package main

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

func (w *world) newOrder() int {
	w.t.Helper()
	item := fmt.Sprintf(`{"customer_id":3,"line_items":[{"product_id":%d,"quantity":2}]}`, w.info.Products[1])
	return w.bare("POST /cms-json/shop/v3/orders", item, w.as("admin")).want(201).id()
}

// TestConversions_Sites: the same doors under the other names, in a sub-folder,
// and with plain permalinks.
func TestConversions_Sites(t *testing.T) {
	for name, options := range map[string]site.Options{
		"wordpress":  {Release: "10.7", Platform: "wordpress"},
		"sub-folder": {Release: "10.7", Base: "/blog"},
		"plain":      {Release: "10.7", Permalinks: "plain"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options, "")
			sub, order := w.info.Subscriptions[0], w.info.Orders[0]
			before := w.record(sub)
			for _, d := range doors.All() {
				d = d.At(order, sub)
				for _, caller := range []edit{w.as("admin"), withKey(w.info.Keys.ReadWriteKey)} {
					r := w.gate(d.Line(), d.Body, asDoor(d), caller)
					if !reflect.DeepEqual(before, w.record(sub)) {
						t.Fatalf("%s: the subscription changed (%d %.200s)", d, r.status, r.body)
					}
				}
			}
		})
	}
}

// TestConversions_Tool: the shop's tool server (docs/platform III.7).
func TestConversions_Tool(t *testing.T) {
	call := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop-` + name + `","arguments":` + arguments + `}}`
	}
	conversions(t, protocols, "", func(t *testing.T, w *world, own bool) {
		t.Helper()
		sub, order := w.info.Subscriptions[0], w.info.Orders[0]
		before := w.record(sub)
		update := call("orders-update", fmt.Sprintf(`{"id":%d,"customer_note":"x"}`, sub))
		of := func(key string) edit { return header("X-MCP-API-Key", key) }
		rw, read, write := of(w.info.Keys.ReadWriteKey), of(w.info.Keys.ReadKey), of(w.info.Keys.WriteKey)
		w.gate("POST /cms-json/shop/mcp", update, rw).refusedWith(400, invalidID)
		w.gate("POST /?rest_route=/shop/mcp", update, rw).stopped().want(400)
		w.gate("GET /cms-json/shop/mcp?_method=POST", update, rw).stopped().want(400)
		w.gate("POST /cms-json/SHOP/MCP", update, rw).stopped().want(400)
		w.gate("POST /cms-json/shop/mcp", update, read).stopped()
		if r := w.gate("POST /cms-json/shop/mcp", update, write).stopped(); own {
			r.want(400, invalidID)
		} else {
			r.want(401, "read permissions")
		}
		w.gate("POST /cms-json/shop/mcp", "["+update+"]", rw).refusedWith(400, ambiguous)
		for _, id := range []string{`"%d"`, `" %d"`, `%d.5`, `[%d]`, `"%dabc"`} {
			w.gate("POST /cms-json/shop/mcp", call("orders-update", fmt.Sprintf(`{"id":`+id+`}`, sub)), rw).stopped().want(400)
		}
		w.gate("POST /cms-json/shop/mcp", update).want(401).passed()
		w.gate("POST /cms-json/shop/mcp", update, of("ck_no:cs_no")).want(401)
		if !reflect.DeepEqual(before, w.record(sub)) {
			t.Fatal("the subscription changed")
		}
		w.gate("POST /cms-json/shop/mcp", call("orders-update", fmt.Sprintf(`{"id":%d,"customer_note":"x"}`, order)), rw).want(200, `"isError":false`).passed()
		w.gate("POST /cms-json/shop/mcp", call("orders-get", fmt.Sprintf(`{"id":%d}`, sub)), rw).want(200).passed()
		w.gate("POST /cms-json/shop/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, rw).want(200, "orders-update").passed()

		w.bare("POST /cms-json/shop/mcp", update, rw).want(200)
		if w.record(sub).Type != "shop_order" {
			t.Error("the bare tool does not convert, so this test proves nothing")
		}
	})
}

// legitimate are calls of the guarded kinds that must pass. <order> and <sub> are new for
// each call.
var legitimate = []struct {
	line, body string
	edits      []edit
	// guarded calls cause a question. Without a credential of order_type, callers who may
	// write but not read are refused.
	guarded bool
}{
	{line: "GET /cms-json/shop/v3/orders"},
	{line: "GET /cms-json/shop/v3/orders/<order>"},
	{line: "GET /cms-json/shop/v3/orders/<sub>"},
	{line: "HEAD /cms-json/shop/v3/orders/<order>"},
	{line: "OPTIONS /cms-json/shop/v3/orders/<order>"},
	{line: "POST /cms-json/shop/v3/orders", body: `{"status":"pending"}`},
	{line: "POST /cms-json/shop/v2/orders", body: `{"line_items":[{"product_id":<product>,"quantity":1}]}`},
	{line: "PUT /cms-json/shop/v1/orders/<order>", body: `{"customer_note":"x"}`},
	{line: "PUT /cms-json/shop/v2/orders/<order>", body: `{"customer_note":"x"}`, guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"customer_note":"x"}`, guarded: true},
	{line: "PATCH /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, guarded: true},
	{line: "POST /cms-json/shop/v3/orders/<order>", body: `{}`, guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/<order>", guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"id":<order>,"status":"completed"}`, guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/<order>", body: `{"id":"<order>","status":"completed"}`, guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/<order>?lang=de", body: `{"meta_data":[{"key":"id","value":"7"}]}`, guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/<order>", body: `status=completed&customer_note=x`, guarded: true},
	{line: "POST /cms-json/shop/v3/orders/<order>?_method=PUT", body: `{"status":"completed"}`, guarded: true},
	{line: "POST /cms-json/shop/v3/orders/<order>", body: `{"status":"completed"}`, edits: []edit{header("X-HTTP-Method-Override", "PATCH")}, guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/<order>/", body: `{"customer_note":"x"}`, guarded: true},
	{line: "PUT /?rest_route=/shop/v3/orders/<order>", body: `{"customer_note":"x"}`, guarded: true},
	{line: "PUT /cms-json/shop-analytics/orders/<order>", body: `{"customer_note":"x"}`, guarded: true},
	{line: "PUT /cms-json/shop/v3/orders/999999", body: `{"customer_note":"x"}`, guarded: true},
	{line: "POST /cms-json/shop/v3/orders/batch", body: `{"create":[{"status":"pending"}],"update":[{"id":<order>,"status":"completed"}]}`, guarded: true},
	{line: "POST /cms-json/shop/v3/orders/batch", body: `{"delete":[<order>]}`},
	{line: "PUT /cms-json/shop/v2/orders/batch", body: `update[0][id]=<order>&update[0][status]=completed`, guarded: true},
	{line: "DELETE /cms-json/shop/v3/orders/<order>"},
	{line: "DELETE /cms-json/shop/v3/orders/<order>?force=true"},
	{line: "POST /cms-json/shop/v3/orders/<order>/notes", body: `{"note":"x"}`},
	{line: "GET /cms-json/shop/v3/orders/<order>/notes"},
	{line: "POST /cms-json/shop/v3/orders/<order>/refunds", body: `{"amount":"5.00"}`},
	{line: "POST /cms-json/shop/v3/orders/<order>/refunds", body: `{"amount":"5.00","compute_totals":false}`},
	{line: "GET /cms-json/shop/v3/orders/<order>/refunds"},
	{line: "GET /cms-json/shop/v3/subscriptions"},
	{line: "GET /cms-json/shop/v3/subscriptions/<sub>"},
	{line: "POST /cms-json/shop/v3/subscriptions", body: `{"billing_period":"month"}`},
	{line: "PUT /cms-json/shop/v3/subscriptions/<sub>", body: `{"status":"on-hold","billing_period":"year"}`},
	{line: "PATCH /cms-json/shop/v3/subscriptions/<sub>", body: `{"next_payment_date":"2027-05-01"}`},
	{line: "PUT /cms-json/shop/v3/subscriptions/<order>", body: `{"status":"on-hold"}`},
	{line: "GET /cms-json/shop/v3/products"},
	{line: "PUT /cms-json/shop/v3/products/<product>", body: `{"stock_quantity":5}`},
	{line: "GET /cms-json/shop-analytics/products/count-low-in-stock"},
	{line: "GET /cms-json/shop/store/v1/cart"},
	{line: "GET /cms-json/shop/store/v1/products"},
	{line: "GET /cms-json/cms/v2/posts"},
}

// TestOrders_Legitimate: calls that work on the bare platform work through the gateway.
func TestOrders_Legitimate(t *testing.T) {
	conversions(t, []string{http1, http3}, "", func(t *testing.T, w *world, own bool) {
		t.Helper()
		callers := w.callers()
		for _, name := range slices.Sorted(maps.Keys(callers)) {
			for _, l := range legitimate {
				fresh := func() func(string) string {
					return strings.NewReplacer("<order>", strconv.Itoa(w.newOrder()), "<sub>", strconv.Itoa(w.newSubscription()),
						"<product>", strconv.Itoa(w.info.Products[1])).Replace
				}
				edits, with := append(slices.Clone(l.edits), callers[name]), fresh()
				bare := w.bare(with(l.line), with(l.body), edits...)
				with = fresh()
				through := w.gate(with(l.line), with(l.body), edits...)
				blind := !own && l.guarded && (name == "write key" || name == "editor" || name == "OAuth 1")
				switch {
				case blind:
					if through.reached > 0 {
						t.Errorf("%s: %s %s passed unproven", name, l.line, l.body)
					}
				case through.status != bare.status:
					t.Errorf("%s: %s %s: %d %.200s; bare %d", name, l.line, l.body, through.status, through.body, bare.status)
				case bare.status < 400 && through.reached != 1:
					t.Errorf("%s: %s %s: did not reach the platform", name, l.line, l.body)
				}
			}
		}
	})
}

// TestOrders_WordsDoNotTell: the refusal to a caller without rights does not show what an
// id is.
func TestOrders_WordsDoNotTell(t *testing.T) {
	conversions(t, []string{http1}, "strict", func(t *testing.T, w *world, own bool) {
		t.Helper()
		refund := w.bare(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", w.info.Orders[0]), `{"amount":"1.00"}`, w.as("admin")).want(201).id()
		w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", w.info.Orders[1]), "{}", w.as("admin")).want(200) // remembered as an order
		ids := []int{w.info.Orders[0], w.info.Subscriptions[0], refund, w.info.Products[0], 999999}
		callers := []string{"customer", "anonymous"}
		if !own { // with a credential these may write
			callers = append(callers, "write key", "editor")
		}
		callers = append(callers, "read key") // last, since its own question proves an order
		edits := w.callers()
		for _, name := range callers {
			for _, line := range []string{"PUT /cms-json/shop/v3/orders/%d", "DELETE /cms-json/shop/v3/orders/%d", "POST /cms-json/shop/v3/orders/%d/refunds"} {
				first := w.gate(fmt.Sprintf(line, ids[0]), "{}", edits[name])
				for _, id := range ids[1:] {
					r := w.gate(fmt.Sprintf(line, id), "{}", edits[name])
					if r.status != first.status || r.body != first.body || r.status != 401 && r.status != 403 {
						t.Errorf("%s: %s: %d %s for an order, %d %s for %d", name, line, first.status, first.body, r.status, r.body, id)
					}
				}
			}
		}
		// The same if the id is remembered as an order.
		known := w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", w.info.Orders[1]), "{}", w.as("customer"))
		other := w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", w.info.Subscriptions[0]), "{}", w.as("customer"))
		if known.status != other.status || known.body != other.body {
			t.Errorf("%d %s for a remembered order, %d %s for a subscription", known.status, known.body, other.status, other.body)
		}
	})
}

// TestOrders_PluginRoute: a plugin that registers the route of newer shops does not
// switch off the guards of an old one.
func TestOrders_PluginRoute(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool {
		if strings.Trim(r.URL.Path, "/") != "cms-json" {
			return false
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"home":"http://%s","url":"http://%s","namespaces":["cms/v2"],"routes":{"/shop/v3/orders/(?P<order_id>[\\d]+)/refunds/preview":{}}}`, r.Host, r.Host)
		return true
	})
	w.learned()
	sub, order := w.info.Subscriptions[0], w.info.Orders[0]
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), `{"status":"processing"}`, w.as("manager")).refusedWith(400, "shop_rest_shop_order_invalid_id")
	w.gate(fmt.Sprintf("POST /cms-json/shop/v3/orders/%d/refunds", order), `{"compute_totals":true}`, w.as("manager")).refusedWith(400, "shop_rest_compute_totals_unsupported")
	w.gate(checkout, `{"expected_total":1}`, w.guest(true)...).refusedWith(409, mismatch)
	w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", order), `{"status":"processing"}`, w.as("manager")).want(200).passed()
}
