package livetest

import "testing"

// aliases are requests with such names, as they pass or, where kind is empty, are refused.
var aliases = []struct {
	name       string
	raw        []byte
	kind, call string
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
}

// TestAlias_Expected: Caddy drops header names with "_" and "." unless told
// otherwise. Where they are let through, those that PHP folds onto a header
// that decides are refused on calls, and cannot hide a form.
func TestAlias_Expected(t *testing.T) {
	proxy, php := newBackend(t), newFastCGI(t)
	guard := "\trestwarden wordpress\n\twitness\n"
	at := runEverywhere(t, "\tservers {\n\t\texpected_underscore_headers X_HTTP_Method_Override Content_Type X_Wp_* X_Own_*\n\t\texpected_dot_headers X.HTTP.Method.Override Content.Type\n\t}\n",
		guard+proxy.proxied(), guard+php.php(scripts(t), ""))
	for i, b := range []*backend{proxy, php} {
		overAll(t, []string{"reverse_proxy", "php_fastcgi"}[i]+"/", func(t *testing.T, by *client) {
			for _, c := range aliases {
				t.Run(c.name, func(t *testing.T) {
					p := by.try(t, at(by.protocol)[i], b, c.raw)
					if c.kind == "" {
						p.refused(t, 400)
						return
					}
					p.passed(t, c.kind, c.call)
				})
			}
		})
	}
}
