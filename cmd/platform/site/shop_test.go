package site_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestProducts(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		t.Helper()
		shirt, mug := c.info.Products[0], c.info.Products[1]
		manager := c.as("manager")
		a := c.rest("GET", "/shop/v3/products/"+id(shirt), "", manager).want(200)
		if d := a.get("description").(string); !strings.Contains(d, "<div class=") || strings.Contains(d, "<!--") {
			t.Fatalf("description %q", d)
		}
		if len(c.rest("GET", fmt.Sprintf("/shop/v3/products/%d/variations", shirt), "", manager).want(200).ids()) != 2 {
			t.Fatal("variations")
		}
		search := func(query string) []int {
			return c.rest("GET", "/shop/v3/products?"+query, "", manager).want(200).ids()
		}
		if got := search("search=mug"); !slices.Equal(got, []int{mug}) {
			t.Fatalf("search %v", got)
		}
		// The condition binds to all OR groups from 11.1, before to the last only.
		want := []int{shirt, mug}
		if release == "11.1" {
			want = []int{mug}
		}
		if got := search("search=shirt+OR+mug&include=" + id(mug)); !slices.Equal(got, want) {
			t.Fatalf("search with include %v, want %v", got, want)
		}
		c.rest("GET", "/shop/v3/products/99999", "", manager).want(404, c.branded("shop_rest_product_invalid_id"))
		c.rest("PUT", "/shop/v3/products/"+id(mug), `{"regular_price":"-1"}`, manager).want(400, "rest_invalid_param")
		c.rest("PUT", "/shop/v3/products/"+id(mug), `{"regular_price":"12.34"}`).want(401, c.branded("shop_rest_cannot_edit"))
		symbols := map[string]string{"MOP": "P", "ZMW": "ZK"}
		if release == "11.1" {
			symbols = map[string]string{"MOP": "MOP$", "ZMW": "K"}
		}
		for code, symbol := range symbols {
			if got := c.rest("GET", "/shop/v3/data/currencies/"+code, "", manager).want(200).get("symbol"); got != symbol {
				t.Fatalf("%s is %v", code, got)
			}
		}
		c.rest("GET", "/shop/v3/data/currencies/XXX", "", manager).want(404)
		page := c.send("POST", map[bool]string{true: "/?wc-ajax", false: "/?shop-ajax"}[c.wp]+"=get_variation", "product_id="+id(shirt))
		if !strings.Contains(string(page.want(200).body), `"variation_id":`) {
			t.Fatalf("variation %s", page.body)
		}
	})
}

// TestSymbols_Filter: a filter that overrides a symbol works in every release
// (docs/project/interface 9, rule 4).
func TestSymbols_Filter(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		if got := c.rest("GET", "/shop/v3/data/currencies/mop", "", c.as("manager")).want(200).get("symbol"); got != "MOP!" {
			t.Fatalf("symbol %v", got)
		}
		body := `{"currency":"MOP"}`
		if got := c.rest("POST", "/shop/v3/orders", body, c.as("manager")).want(201).get("currency_symbol"); got != "MOP!" {
			t.Fatalf("symbol of an order %v", got)
		}
	}, func(o *site.Options) { o.Symbols = map[string]string{"MOP": "MOP!"} })
}

func TestActivityCounts(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		t.Helper()
		const counts = "/shop-analytics/activity-panel/counts"
		view := c.branded("shop_rest_cannot_view")
		if release == "11.1" {
			a := c.rest("GET", counts, "", c.as("manager")).want(200)
			if a.get("orders_to_fulfill_count") != float64(1) || a.get("products_low_in_stock_count") != float64(1) {
				t.Fatalf("counts %s", a.body)
			}
			c.rest("GET", counts, "").want(401, view)
			c.rest("GET", counts, "", c.as("customer")).want(403, view)
		} else {
			c.rest("GET", counts, "", c.as("manager")).want(404, "rest_no_route")
		}
		a := c.rest("GET", "/shop-analytics/orders?status[]=processing&status[]=on-hold&per_page=1", "", c.as("manager")).want(200)
		if a.Header.Get(c.branded("X-CMS-Total")) != "1" {
			t.Fatalf("orders %v", a.Header)
		}
		if got := c.rest("GET", "/shop-analytics/products/count-low-in-stock?status=publish", "", c.as("manager")).want(200).get("total"); got != float64(1) {
			t.Fatalf("low stock %v", got)
		}
		c.rest("GET", "/shop-analytics/products/reviews?status=hold&per_page=1", "", c.as("editor")).want(200)
		c.rest("GET", "/shop-analytics/products/reviews", "", c.as("customer")).want(403, view)
	})
}

func TestSharedState(t *testing.T) {
	c := newClient(t, site.Options{})
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 20 {
				c.rest("GET", "/shop/v3/orders?_embed&_fields=id", "", c.as("manager"))
				c.rest("PUT", "/shop/v3/orders/"+id(c.info.Orders[0]), `{"status":"completed"}`, c.as("manager"))
				c.send(http.MethodGet, "/shop/", "")
				c.site.Info()
				c.site.Record(c.info.Orders[0])
				c.site.Dispatched()
			}
		}()
	}
	for range 4 {
		<-done
	}
}
