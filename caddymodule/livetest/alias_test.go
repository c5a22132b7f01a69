package livetest

import "testing"

// TestAlias_Expected: Caddy drops header names with "_" and "." unless told
// otherwise. Where they are let through, those that PHP folds onto a header
// that decides are refused on calls, and cannot hide a form.
func TestAlias_Expected(t *testing.T) {
	proxy, php := newBackend(t), newFastCGI(t)
	guard := "\trestwarden wordpress\n\twitness\n"
	addresses := run(t, "\tservers {\n\t\texpected_underscore_headers X_HTTP_Method_Override Content_Type X_Wp_* X_Own_*\n\t\texpected_dot_headers X.HTTP.Method.Override Content.Type\n\t}\n",
		block{Body: guard + proxy.proxied()}, block{Body: guard + php.php(scripts(t), "")})
	for i, b := range []*backend{proxy, php} {
		for _, c := range []struct {
			name string
			raw  []byte
			kind string // "" where refused
			call string
		}{
			{name: "no alias", raw: request(posts, ""), kind: aCall, call: route},
			{name: "method underscore", raw: request(posts, "", "X_HTTP_Method_Override: DELETE")},
			{name: "method dot", raw: request(posts, "", "X.HTTP.Method.Override: DELETE")},
			{name: "method on a page", raw: request("GET /about/", "", "X_HTTP_Method_Override: DELETE"), kind: aPage},
			{name: "nonce", raw: request(posts, "", "X_Wp_Nonce: a")},
			{name: "header of a plugin", raw: request(posts, "", "X_Own_Header: a"), kind: aCall, call: route},
			{name: "form underscore", raw: request("POST /about/", aForm, "Content_Type: application/x-www-form-urlencoded")},
			{name: "form dot", raw: request("POST /about/", aForm, "Content.Type: application/x-www-form-urlencoded")},
			{name: "multipart", raw: request("POST /about/", multipart("rest_route", "/wp/v2/users"), "Content_Type: multipart/form-data; boundary=b")},
			{name: "multipart on a call", raw: request("POST /wp-json/wp/v2/posts/5", multipart("id", "6"), "Content_Type: multipart/form-data; boundary=b")},
			{name: "form of a page", raw: request("POST /about/", "a=b", "X_Own_Header: a", form), kind: aPage},
		} {
			t.Run([]string{"reverse_proxy/", "php_fastcgi/"}[i]+c.name, func(t *testing.T) {
				p := try(t, addresses[i], b, c.raw)
				if c.kind == "" {
					p.refused(t, 400)
					return
				}
				p.passed(t, c.kind, c.call)
			})
		}
	}
}
