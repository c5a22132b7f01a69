package site_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// releases runs a test on every release under both sets of names.
func releases(t *testing.T, test func(t *testing.T, c *client, release string), set ...func(*site.Options)) {
	for _, release := range []string{"10.7", "10.8", "11.1"} {
		t.Run(release, func(t *testing.T) {
			options := site.Options{Release: release}
			for _, s := range set {
				s(&options)
			}
			both(t, options, func(t *testing.T, c *client) { test(t, c, release) })
		})
	}
}

// record is a stored record that must exist.
func (c *client) record(id int) site.Record {
	c.t.Helper()
	r, ok := c.site.Record(id)
	if !ok {
		c.t.Fatalf("record %d is gone", id)
	}
	return r
}

// TestOrderUpdateOfSubscription is the table of docs/project/interface 3,
// through every door of docs/platform III.4, III.5 and III.7.
func TestOrderUpdateOfSubscription(t *testing.T) {
	doors := []struct{ name, method, route, body string }{
		{"PUT", "PUT", "%s/orders/{sub}", `{"customer_note":"x"}`},
		{"PATCH", "PATCH", "%s/orders/{sub}", `{}`},
		{"POST", "POST", "%s/orders/{sub}", `{"status":"processing"}`},
		{"upper case", "PUT", "%s/ORDERS/{sub}", `{}`},
		{"override", "GET", "%s/orders/{sub}?_method=PUT", ""},
		{"query id", "PUT", "%s/orders/{order}?id={sub}", ""},
		{"JSON id", "PUT", "%s/orders/{order}", `{"id":"{sub}"}`},
		{"form id", "PUT", "%s/orders/{order}", "id={sub}"},
		{"batch", "POST", "%s/orders/batch", `{"update":[{"id":"{sub}x","status":"processing"}]}`},
		{"batch object", "PUT", "%s/orders/batch", `{"update":{"a":{"id":{sub}}}}`},
		{"batch form", "POST", "%s/orders/batch", "update[0][id]={sub}"},
		{"batch query", "POST", "%s/orders/batch?update[0][id]={sub}", `{"x":1}`},
	}
	for _, namespace := range []string{"/shop/v1", "/shop/v2", "/shop/v3", "/shop-analytics"} {
		for _, door := range doors {
			t.Run(strings.TrimPrefix(namespace, "/")+"/"+door.name, func(t *testing.T) {
				releases(t, func(t *testing.T, c *client, release string) {
					sub := c.info.Subscriptions[0]
					before := c.record(sub)
					ids := strings.NewReplacer("{sub}", id(sub), "{order}", id(c.info.Orders[0]))
					a := c.rest(door.method, ids.Replace(fmt.Sprintf(door.route, namespace)), ids.Replace(door.body), c.as("manager"))
					after := c.record(sub)
					converts := release == "10.7" && namespace != "/shop/v1"
					batch := strings.Contains(door.name, "batch")
					switch {
					case converts:
						a.want(200)
						if after.Type != "shop_order" || after.BillingPeriod != "" || after.Schedule != nil || after.ParentID != 0 {
							t.Fatalf("not converted: %+v", after)
						}
						c.rest("GET", "/shop/v3/subscriptions/"+id(sub), "", c.as("manager")).want(404, c.branded("shop_rest_shop_subscription_invalid_id"))
					case batch:
						a.want(200)
						if got := a.get("update", "0", "error", "code"); got != c.branded("shop_rest_shop_order_invalid_id") {
							t.Fatalf("item error %v", got)
						}
					default:
						a.want(400, c.branded("shop_rest_shop_order_invalid_id"))
						if a.get("message") != "ID is invalid." {
							t.Fatalf("message %v", a.get("message"))
						}
					}
					if !converts && fmt.Sprint(after) != fmt.Sprint(before) {
						t.Fatalf("changed: %+v", after)
					}
				})
			})
		}
	}
}

func TestOrderPermissions(t *testing.T) {
	releases(t, func(_ *testing.T, c *client, release string) {
		sub, order := "/shop/v3/orders/"+id(c.info.Subscriptions[0]), "/shop/v3/orders/"+id(c.info.Orders[0])
		rows := []struct{ method, route, body, code string }{
			{"GET", "/shop/v3/orders", "", "cannot_view"},
			{"GET", order, "", "cannot_view"},
			{"PUT", order, "{}", "cannot_edit"},
			{"PUT", sub, "{}", "cannot_edit"},
			{"PUT", "/shop/v3/orders/0", "{}", "cannot_edit"},
			{"POST", "/shop/v3/orders", "{}", "cannot_create"},
			{"DELETE", order, "", "cannot_delete"},
			{"POST", "/shop/v3/orders/batch", "{}", "cannot_batch"},
			{"GET", order + "/notes/0", "", "cannot_view"},
			{"POST", order + "/refunds", "{}", "cannot_create"},
			{"GET", "/shop/v3/subscriptions", "", "cannot_view"},
		}
		for _, row := range rows {
			code := c.branded("shop_rest_" + row.code)
			c.rest(row.method, row.route, row.body).want(401, code)
			c.rest(row.method, row.route, row.body, c.as("customer")).want(403, code)
		}
		// Up to 10.x an editor of texts may write orders, though not read them.
		c.rest("GET", order, "", c.as("editor")).want(403)
		if release == "11.1" {
			c.rest("PUT", order, "{}", c.as("editor")).want(403)
		} else {
			c.rest("PUT", order, "{}", c.as("editor")).want(200)
		}
	})
}

func TestOrderIDs(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		invalid := c.branded("shop_rest_shop_order_invalid_id")
		message := map[bool]string{true: "Invalid ID.", false: "ID is invalid."}[release == "10.7"]
		for _, n := range []int{0, 99999, c.info.Products[0], c.refund()} {
			a := c.rest("PUT", "/shop/v3/orders/"+id(n), `{}`, c.as("manager")).want(400, invalid)
			if a.get("message") != message {
				t.Fatalf("message %v", a.get("message"))
			}
			c.rest("GET", "/shop/v3/orders/"+id(n), "", c.as("manager")).want(404, invalid)
			c.rest("GET", "/shop/v1/orders/"+id(n), "", c.as("manager")).want(404, c.branded("shop_rest_invalid_shop_order_id"))
		}
		sub := id(c.info.Subscriptions[0])
		c.rest("GET", "/shop/v3/orders/"+sub, "", c.as("manager")).want(200)
		c.rest("GET", "/shop/v1/orders/"+sub, "", c.as("manager")).want(404, c.branded("shop_rest_invalid_shop_order_id"))
		c.rest("PUT", "/shop/v1/orders/"+id(c.info.Orders[0]), "{}", c.as("manager")).want(200)
		c.rest("DELETE", "/shop/v1/orders/"+sub, "", c.as("manager")).want(404, invalid)
	})
}

// refund is the id of the seeded refund.
func (c *client) refund() int {
	return c.info.Orders[2] + 1
}

func TestNotes(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		for _, version := range []string{"v1", "v2", "v3"} {
			route := "/shop/" + version + "/orders/%d/notes"
			notes := func(n int, rest string) string { return fmt.Sprintf(route, n) + rest }
			for _, order := range c.info.Orders {
				c.rest("GET", notes(order, "/0"), "", c.as("manager")).want(404, c.branded("shop_rest_invalid_id"))
				c.rest("GET", notes(order, ""), "", withKey(c.info.Keys.ReadKey)).want(200)
			}
			for _, n := range []int{c.info.Subscriptions[0], c.info.Products[0], c.refund(), 0, 99999} {
				c.rest("GET", notes(n, "/0"), "", c.as("manager")).want(404, c.branded("shop_rest_order_invalid_id"))
				c.rest("GET", notes(n, ""), "", c.as("manager")).want(404, c.branded("shop_rest_shop_order_invalid_id"))
				c.rest("POST", notes(n, ""), `{"note":"x"}`, c.as("manager")).want(404, c.branded("shop_rest_order_invalid_id"))
			}
			c.rest("GET", notes(c.info.Orders[0], "/0?order_id="+id(c.info.Subscriptions[0])), "", c.as("manager")).
				want(404, c.branded("shop_rest_order_invalid_id"))
			a := c.rest("POST", notes(c.info.Orders[0], ""), `{"note":"packed","customer_note":true}`, c.as("manager")).want(201)
			note := notes(c.info.Orders[0], fmt.Sprint("/", a.get("id")))
			if got := c.rest("GET", note, "", c.as("manager")).want(200).get("note"); got != "packed" {
				t.Fatalf("note %v", got)
			}
			c.rest("DELETE", note+"?force=true", "", c.as("manager")).want(200)
			c.rest("GET", note, "", c.as("manager")).want(404, c.branded("shop_rest_invalid_id"))
		}
	})
}

// ids are those of a list answer.
func (a *answer) ids() []int {
	var out []int
	for i := range a.json.([]any) {
		out = append(out, int(a.get(strconv.Itoa(i), "id").(float64)))
	}
	return out
}

func TestOrderList(t *testing.T) {
	c := newClient(t, site.Options{})
	manager := c.as("manager")
	if got := c.rest("GET", "/shop/v3/orders", "", manager).want(200).ids(); len(got) != len(c.info.Orders) {
		t.Fatalf("orders %v", got)
	}
	for query, newestFirst := range map[string]bool{
		"": true, "?orderby=id": true, "?orderby=id&order=asc": false, "?order=asc": false, "?orderby=date&order=desc": true,
	} {
		want := slices.Clone(c.info.Orders)
		if newestFirst {
			slices.Reverse(want)
		}
		if got := c.rest("GET", "/shop/v3/orders"+query, "", manager).want(200).ids(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	include := fmt.Sprintf("%d,%d,%d,99999", c.info.Orders[1], c.info.Subscriptions[0], c.info.Products[0])
	got := c.rest("GET", "/shop/v3/orders?per_page=100&status=any&_fields=id&include="+include, "", manager).want(200).ids()
	if !slices.Equal(got, []int{c.info.Orders[1]}) {
		t.Fatalf("included %v", got)
	}
	if got := c.rest("GET", "/shop/v3/orders?status=processing", "", manager).ids(); !slices.Equal(got, c.info.Orders[:1]) {
		t.Fatalf("processing %v", got)
	}
	order := c.info.Orders[0]
	c.rest("DELETE", "/shop/v3/orders/"+id(order), "", manager).want(200)
	c.rest("DELETE", "/shop/v3/orders/"+id(order), "", manager).want(410, "shop_rest_already_trashed")
	if got := c.rest("GET", "/shop/v3/orders?status=any,trash", "", manager).ids(); slices.Contains(got, order) {
		t.Fatalf("any includes trash: %v", got)
	}
	if got := c.rest("GET", "/shop/v3/orders?status=trash", "", manager).ids(); !slices.Equal(got, []int{order}) {
		t.Fatalf("trash %v", got)
	}
}

func TestCreateOrder(t *testing.T) {
	c := newClient(t, site.Options{})
	body := fmt.Sprintf(`{"status":"processing","billing":{"email":"a@example.test","country":"GB"},
		"line_items":[{"product_id":%d,"quantity":2}],"meta_data":[{"key":"k","value":"v"}]}`, c.info.Products[1])
	a := c.rest("POST", "/shop/v3/orders", body, c.as("manager")).want(201)
	r := c.record(int(a.get("id").(float64)))
	if r.Type != "shop_order" || r.Email != "a@example.test" || r.Meta["k"] != "v" || len(r.Items) != 1 {
		t.Fatalf("stored %+v", r)
	}
	c.rest("POST", "/shop/v3/orders", `{"id":`+id(c.info.Orders[0])+`}`, c.as("manager")).want(400, "shop_rest_shop_order_exists")
	c.rest("POST", "/shop/v3/orders", `{"status":"odd"}`, c.as("manager")).want(400, "rest_invalid_param")
}

// TestVariationReset is the row "product of an order item" of docs/project/interface 9.
func TestVariationReset(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		order := c.info.Orders[0]
		item := c.record(order).Items[0]
		set := func(fields string) site.Item {
			body := fmt.Sprintf(`{"line_items":[{"id":%d,%s}]}`, item.ID, fields)
			c.rest("PUT", "/shop/v3/orders/"+id(order), body, c.as("manager")).want(200)
			return c.record(order).Items[0]
		}
		if got := set(fmt.Sprintf(`"product_id":%d,"quantity":3`, item.ProductID)); got.VariationID != item.VariationID || got.Quantity != 3 {
			t.Fatalf("same product: %+v", got)
		}
		want := item.VariationID
		if release == "11.1" {
			want = 0
		}
		if got := set(fmt.Sprintf(`"product_id":%d`, c.info.Products[1])); got.VariationID != want {
			t.Fatalf("other product: variation %d, want %d", got.VariationID, want)
		}
		c.rest("PUT", "/shop/v3/orders/"+id(order), `{"line_items":[{"id":1}]}`, c.as("manager")).want(400, c.branded("shop_rest_invalid_item_id"))
	})
}

func TestDeleteHasNoTypeCheck(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		first, second := c.info.Subscriptions[0], c.info.Subscriptions[1]
		c.rest("DELETE", "/shop/v3/orders/"+id(first), "", c.as("manager")).want(200)
		if r := c.record(first); r.Status != "trash" || r.Type != "shop_subscription" {
			t.Fatalf("trashed %+v", r)
		}
		c.rest("POST", "/shop/v3/orders/batch", fmt.Sprintf(`{"delete":[%d]}`, second), c.as("manager")).want(200)
		if _, ok := c.site.Record(second); ok {
			t.Fatal("the batch did not delete")
		}
	})
}

func TestOrderBatch(t *testing.T) {
	c := newClient(t, site.Options{})
	body := fmt.Sprintf(`{"create":[{"status":"pending"}],"update":[{"id":%d,"status":"completed"},{"id":0}]}`, c.info.Orders[0])
	a := c.rest("POST", "/shop/v3/orders/batch", body, c.as("manager")).want(200)
	if a.get("create", "0", "id") == nil || a.get("update", "0", "status") != "completed" || a.get("update", "1", "error") == nil {
		t.Fatalf("batch %s", a.body)
	}
	many := `{"delete":[` + strings.TrimSuffix(strings.Repeat("1,", 101), ",") + `]}`
	c.rest("POST", "/shop/v3/orders/batch", many, c.as("manager")).want(413, "shop_rest_request_entity_too_large")
	if got := c.last(); got.Pattern != "/shop/v3/orders/batch" {
		t.Fatalf("ran %+v", got)
	}
}
