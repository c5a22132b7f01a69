package names

import "testing"

func TestIn(t *testing.T) {
	t.Parallel()
	for neutral, want := range map[string]string{
		"PUT /cms-json/shop/v3/orders/7":                    "PUT /wp-json/wc/v3/orders/7",
		"POST /%63ms-json/shop-analytics/orders":            "POST /%77p-json/wc-analytics/orders",
		"/%63ms-json%2Fshop%2Fv3%2Forders%2F7":              "/%77p-json%2Fwc%2Fv3%2Forders%2F7",
		"/cms-json/shop/mcp":                                "/wp-json/woocommerce/mcp",
		"shop_rest_shop_order_invalid_id":                   "woocommerce_rest_shop_order_invalid_id",
		"/shop/?rest_route=/shop/v3/orders/7":               "/shop/?rest_route=/wc/v3/orders/7",
		`{"name":"shop-orders-update"}`:                     `{"name":"woocommerce-orders-update"}`,
		`/shop-agent/v1/mcp {"name":"shop-product-delete"}`: `/woocommerce-agent/v1/mcp {"name":"woocommerce-product-delete"}`,
		`{"ability_name":"shop/products-query"}`:            `{"ability_name":"woocommerce/products-query"}`,
		"a body without a name of the platform's: x":        "a body without a name of the platform's: x",
	} {
		if got := In(WordPress, neutral); got != want {
			t.Errorf("%s is %s, want %s", neutral, got, want)
		}
		for _, platform := range []string{Neutral, ""} {
			if got := In(platform, neutral); got != neutral {
				t.Errorf("%s is %s in %q", neutral, got, platform)
			}
		}
	}
}
