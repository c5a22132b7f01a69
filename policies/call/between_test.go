package call

import (
	"net/http"
	"testing"
)

// TestBetween: what servers and caches between the gateway and the platform make of a request
// by settings that are in common use (docs/platform I.13) is no other call than the gateway
// reads.
func TestBetween(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	runReads(t, readerFor("root"), []readTest{
		// The decoded path is written into the request to the next server.
		{"POST", "/x%20HTTP/1.1%0d%0aHost:a%0d%0a%0d%0arest_route=/wp/v2/users%26", "", "", "400 path"},
		{"GET", "/x%0aA:b", "", "", "400 path"},
		{"GET", "/x%250d%250aA:b", "", "", "400 path"},
		{"GET", "/shop/%0d%0a", "", "", "page"},
		{"GET", "/shop/%0A", "", "", "page"},
		{"GET", "/shop/a%20b", "", "", "page"},
		{"GET", "/wp-json/wp/v2/users%20", "", "", "400 route"},
		{"GET", "/wp-json/wp/v2/users%2520", "", "", "400 route"},
		{"GET", "/?rest_route=/wp/v2/users%20", "", "", "400 route"},
		{"GET", "/wp-json/acme/v1/a%20b", "", "", "GET /acme/v1/a%20b"},
		// The decoded path is written into the query, and decoded there again.
		{"GET", "/wp-json/wp/v2/%2575sers", "", "", "400 route"},
		{"GET", "/wp-json/wp/v2/%25%37%35sers", "", "", "400 route"},
		{"GET", "/wp-json/wp/v2/users;x", "", "", "400 path"},
		{"GET", "/wp-json/wp/v2/users%3bx", "", "", "400 path"},
		{"GET", "/wp-json/acme/v1/100%25", "", "", "GET /acme/v1/100%25"},
		{"GET", "/wp-json/acme/v1/a+b", "", "", "GET /acme/v1/a+b"},
		// The query is sorted.
		{"PUT", order + "?id=9&id=7", "", "", "PUT /wc/v3/orders/7 id?"},
		{"PUT", order + "?id=7&+id=7", "", "", "PUT /wc/v3/orders/7 id?"},
		{"PUT", order + "?id=7&x=1&x=2", "", "", "PUT /wc/v3/orders/7 id 7"},
		{"POST", "/wp-json/wc/v3/orders/batch?update[0][id]=9&update[0][id]=7", "", "", "400 batch"},
		{"POST", "/wp-json/batch/v1?requests[0][path]=/wp/v2/tags&requests[0][path]=/wp/v2/posts", "", "", "400 batch"},
		// The body of a GET is dropped.
		{"GET", order + "?_method=PUT", jsonType, `{"id":9}`, "PUT /wc/v3/orders/7 id?"},
		{"GET", "/wp-json/batch/v1?_method=POST&requests[0][path]=/wp/v2/tags", jsonType, `{"requests":[]}`, "400 body_type"},
	})
}

// TestBetween_HeaderNames: servers differ in which bytes of a header's name they fold.
func TestBetween_HeaderNames(t *testing.T) {
	rd := readerFor("root")
	for name, want := range map[string]string{
		"X~HTTP~Method~Override": "400 header_alias", "X!Http'Method+Override": "400 header_alias", "x*wp*nonce": "400 header_alias",
		"X_HTTP_Method_Override": "400 header_alias", "Content~Type": "400 header_alias", "Sec~Thing": "GET /wp/v2/posts",
	} {
		r := request(http.MethodGet, "/wp-json/wp/v2/posts", "", "")
		r.Header[http.CanonicalHeaderKey(name)] = []string{"PUT"}
		if got := describe(rd.Read(r, nil)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
