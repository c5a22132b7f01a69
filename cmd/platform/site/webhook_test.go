package site_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestProductWebhook: a webhook carries the description of a changed product, with its
// blocks rendered (docs/project/interface 4, rule 6, and 6).
func TestProductWebhook(t *testing.T) {
	got := make(chan map[string]any, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var product map[string]any
		if err := json.NewDecoder(r.Body).Decode(&product); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, err)
		}
		got <- product
	}))
	defer receiver.Close()
	both(t, site.Options{Webhook: receiver.URL}, func(t *testing.T, c *client) {
		t.Helper()
		shirt := "/shop/v3/products/" + id(c.info.Products[0])
		c.rest("PUT", shirt, `{"name":"x"}`).want(401)
		c.rest("PUT", shirt, `{"name":"Blouse"}`, c.as("manager")).want(200)
		select {
		case product := <-got:
			description, _ := product["description"].(string)
			block := map[bool]string{true: "wp-block-woocommerce-product-rating", false: "cms-block-shop-product-rating"}[c.wp]
			if product["name"] != "Blouse" || !strings.Contains(description, block) {
				t.Fatalf("product %v", product)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no webhook")
		}
	})
	logged := make(chan string, 1)
	c := newClient(t, site.Options{Webhook: "http://" + machine.FreeAddress(t) + "/", Logf: func(format string, _ ...any) { logged <- format }})
	c.rest("PUT", "/shop/v3/products/"+id(c.info.Products[0]), `{"name":"x"}`, c.as("manager")).want(200)
	if line := <-logged; !strings.Contains(line, "not delivered") {
		t.Fatalf("logged %q", line)
	}
}
