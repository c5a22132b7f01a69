// Package names turns the neutral names in tests for routes, headers and error codes,
// "/cms-json/shop/v3/orders", into those of the real platform, "/wp-json/wc/v3/orders".
// The reference platform speaks both (docs/project/reference-platform.md).
package names

import "strings"

// The platforms of package site.
const (
	Neutral   = "cms"
	WordPress = "wordpress"
)

// In returns s in the names of a platform; "" is Neutral.
func In(platform, s string) string {
	if platform != WordPress {
		return s
	}
	return wordpress.Replace(s)
}

var wordpress = strings.NewReplacer( // of two that fit, the first counts
	"cms-json/shop/mcp", "wp-json/woocommerce/mcp", "cms-json/shop/", "wp-json/wc/",
	"cms-json", "wp-json", "%63ms-json", "%77p-json", "cms/v2", "wp/v2", "CMS/V2", "WP/V2", "cms-abilities", "wp-abilities",
	"/cms-", "/wp-", "_cmsnonce", "_wpnonce", "X-CMS-", "X-WP-", "shop-admin", "wc-admin", "shop-analytics", "wc-analytics",
	"shop/mcp", "woocommerce/mcp", "shop_rest_", "woocommerce_rest_", "shop/store", "wc/store", "SHOP/STORE", "WC/STORE",
	"shop/v", "wc/v", "SHOP/V", "WC/V", "shop%2Fv", "wc%2Fv", "shop-orders", "woocommerce-orders",
	"shop-agent/", "woocommerce-agent/", "shop-product", "woocommerce-product", "shop/product", "woocommerce/product",
)
