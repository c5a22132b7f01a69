package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// made returns the ids of n new records: orders with a status, "subscription", "trashed
// subscription", or "nothing".
func (w *world) made(n int, what string) (ids []int) {
	w.t.Helper()
	for range n {
		id := 900_000 + len(ids)
		switch {
		case what == "nothing":
		case strings.HasSuffix(what, "subscription"):
			id = w.newSubscription()
		default:
			id = w.bare("POST /cms-json/shop/v3/orders", `{}`, w.as("admin")).want(201).id()
		}
		switch at := fmt.Sprintf("/cms-json/shop/v3/orders/%d", id); what {
		case "nothing", "subscription":
		case "trash", "trashed subscription":
			w.bare("DELETE "+at, "", w.as("admin")).want(200)
		default:
			w.bare("PUT "+at, `{"status":"`+what+`"}`, w.as("admin")).want(200)
		}
		ids = append(ids, id)
	}
	return ids
}

// TestOrders_BatchQuestions: how many questions batches cost, and what the platform books.
func TestOrders_BatchQuestions(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "")
	mix := func() []int {
		return slices.Concat(w.made(40, "completed"), w.made(29, "trash"), w.made(30, "checkout-draft"))
	}
	for name, c := range map[string]struct {
		ids     []int
		asked   int // at most
		refused int // at least so many are named
	}{
		"orders":                         {w.made(100, "processing"), 1, 0},
		"trashed orders":                 {w.made(100, "trash"), 2, 0},
		"drafts":                         {w.made(100, "checkout-draft"), 3, 0},
		"a mix of orders":                {mix(), 3, 0},
		"a mix and a trashed one":        {append(mix(), w.made(1, "trashed subscription")...), 5, 1},
		"subscriptions":                  {w.made(100, "subscription"), 19, 4},
		"subscriptions in the trash":     {w.made(100, "trashed subscription"), 19, 4},
		"no records":                     {w.made(100, "nothing"), 110, 0},
		"a subscription after no record": {append(w.made(99, "nothing"), w.made(1, "subscription")...), 111, 1},
	} {
		for _, namespace := range []string{"shop/v2", "shop/v3", "shop-analytics"} {
			var items []string
			for _, id := range c.ids {
				items = append(items, fmt.Sprintf(`{"id":%d,"customer_note":"`+namespace+`"}`, id))
			}
			line, body := "POST /cms-json/"+namespace+"/orders/batch", `{"update":[`+strings.Join(items, ",")+`]}`
			before := w.orders()
			r := w.gate(line, body, w.as("admin"))
			if r.asked > c.asked {
				t.Errorf("%s: %d questions, want %d at most", name, r.asked, c.asked)
			}
			t.Logf("%s, %s: %d questions", name, namespace, r.asked)
			if c.refused > 0 {
				r.refusedWith(400, invalidID)
				named, _ := r.at("data", "ids").([]any)
				for _, id := range named {
					if id, _ := id.(float64); w.record(int(id)).Type != "shop_subscription" {
						t.Errorf("%s: %v is named, a %s", name, id, w.record(int(id)).Type)
					}
				}
				if len(named) < c.refused || w.orders() != before {
					t.Errorf("%s: names %v; changed %t", name, named, w.orders() != before)
				}
			} else {
				r.want(200).passed()
			}
			for _, id := range c.ids {
				record, is := w.site.Record(id)
				if is && (record.CustomerNote == namespace) != (c.refused == 0 && record.Type == "shop_order") {
					t.Errorf("%s: %d is a %s with the note %q", name, id, record.Type, record.CustomerNote)
				}
			}
		}
	}
}
