//go:build wordpress

package wordpress

import (
	"testing"
)

// TestOAuthHeader is that a header of OAuth 1 counts only where it reaches the shop: behind Apache with
// mod_proxy_fcgi WordPress would dispatch the call as nobody's. Parameters in the query arrive always.
func TestOAuthHeader(t *testing.T) {
	s := setUps(t)
	const refused, nobody = "401 woocommerce_rest_authentication_error", "401 rest_not_logged_in"
	const forged = `oauth_consumer_key="ck_forged", oauth_timestamp="1", oauth_nonce="1", oauth_signature="x", oauth_signature_method="HMAC-SHA1"`
	const inQuery = "?oauth_consumer_key=ck_forged&oauth_timestamp=1&oauth_nonce=1&oauth_signature=x&oauth_signature_method=HMAC-SHA1"
	for name, answer := range map[string]want{lostHeader: nobody, "nginx": refused, "another Caddy": refused} {
		t.Run(name, func(t *testing.T) {
			c := count(t)
			for _, target := range s.targets {
				if target.name != name {
					continue
				}
				g := &gate{Name: name, Site: s.site(target.site), Port: target.port, TLS: target.tls}
				for range 2 { // what was learned counts
					c.check("in the header", expects(t.Context(), g, "/wp-json/wc/v3/orders", answer, "Authorization: OAuth "+forged))
					c.check("on another route", expects(t.Context(), g, "/wp-json/wc/v3/products", answer, "Authorization: OAuth "+forged))
				}
				c.check("in the query", expects(t.Context(), g, "/wp-json/wc/v3/orders"+inQuery, refused))
				c.check("nobody", expects(t.Context(), g, "/wp-json/wc/v3/orders", nobody))
				return
			}
			t.Error("there is no such target")
		})
	}
}
