package call

import (
	"net/http"
	"strings"
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
		{"POST", "/wp-json/wc/v3/orders/batch?update[0][id]=7&update[0][ID]=9", "", "", "400 batch"},
		{"POST", "/wp-json/wc/v3/orders/batch?update[0][id]=7&update[0][i%%364]=9", "", "", "400 variables"},
		{"POST", "/wp-json/batch/v1?requests[0][path]=/wp/v2/tags&requests[0][PATH]=/wp/v2/users", "", "", "400 batch"},
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

// TestBetween_Filter: PHP with filter.default takes tags and some bytes out of what it reads.
func TestBetween_Filter(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	const batch = "/wp-json/batch/v1?requests[0][path]=/wp/v2/tags"
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/?rest_route=/wp/v2/us%3Cb%3Eers", "", "", "400 route"},
		{"GET", "/?rest_route=/wp/v2/users%3C", "", "", "400 route"},
		{"GET", "/?rest_route=/wp/v2/us%60ers", "", "", "400 route"},
		{"POST", "/", formType, "rest_route=/wp/v2/us<b>ers", "400 route"},
		{"GET", "/wp-json/wp/v2/us%3Cb%3Eers", "", "", "400 path"},
		{"GET", "/?rest_route=/wc/store/v1/products/%D7%A9", "", "", "GET /wc/store/v1/products/\u05e9"},
		// PATH_INFO, and what a server writes into its request to the next one.
		{"GET", "/index.php/wp-j%3Cb%3Eson/wp/v2/users", "", "", "400 path"},
		{"GET", "/index.php/wp-j%3C%3Cb%3E%22%3E%22%3Eson/wp/v2/users", "", "", "400 path"},
		{"GET", "/index.php/wp-j%01son/wp/v2/users", "", "", "400 path"},
		{"GET", "/WP-JS%15ON/wp/v2/users", "", "", "400 path"}, // in small letters, then filtered
		{"GET", "/x%0dwp-j%80son/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-js%C3%BCon/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-j%60son/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp//-json/wp/v2/users/x.php//%80", "", "", "400 script_path"},
		{"GET", "/index.php/%3Cb%3E", "", "", "400 script_path"},
		{"GET", "/%C3%BCber-wp-json/", "", "", "page"},
		{"GET", "/index.php/%C3%BCber/", "", "", "page"},
		{"GET", "/search/%3Cscript%3E/", "", "", "page"},
		{"GET", "/%D7%A9%D7%9C%D7%95%D7%9D/a'b/", "", "", "page"},
		// What the server says of the request.
		{"PO`ST", order, "", "", "400 method"},
		{"PUT", order, "application/js<b>on", `{"id":9}`, "400 header_value"},
		{"PUT", order, ";x application/js<b>on", `{"id":9}`, "400 header_value"},
		{"PUT", order, "application/\x80json", `{"id":9}`, "400 header_value"},
		{"PUT", order, `"text/plain"`, "id=9", "400 header_value"},
		{"PUT", order, "application/x'+json", `{"id":9}`, "400 header_value"},
		{"GET", order, `"application/json"`, "", "GET /wc/v3/orders/7 id 7"},
		{"PUT", order, `application/json; charset="utf-8"`, `{"id":9}`, "PUT /wc/v3/orders/7 id 9"},
		// The text that makes a shop key valid on any route.
		{"GET", "/wp-json/wp/v2/users?x=wp-js<b>on/wc/", "", "", "400 key_marker"},
		{"GET", "/wp-json/wp/v2/users?x=wp-js\x80on/wc/", "", "", "400 key_marker"},
		{"GET", "/wp-json/wp/v2/users?search=m\xc3\xbcller", "", "", "GET /wp/v2/users"},
		// A part of a batch in a variable.
		{"POST", batch + "%3Fa=%3C%26id=9%26b=%3E", "", "", "400 batch"},
		{"POST", batch + "%3Fa='%26id=9", "", "", "400 batch"},
		{"POST", batch + "%3Fa=b%26c=9", "", "", "batch POST /batch/v1 | POST /wp/v2/tags"},
		{"POST", "/wp-json/batch/v1", jsonType, `{"requests":[{"path":"/wp/v2/tags?a=it's"}]}`, "batch POST /batch/v1 | POST /wp/v2/tags"},
	})
}

// TestBetween_Encodings: PHP with mbstring.encoding_translation converts names and values.
func TestBetween_Encodings(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	part := func(name string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n/wp/v2/users\r\n--B--\r\n"
	}
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/?re%1B(Bst_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?%1B(Brest_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route%0F=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest%0E_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route=/wp/v2/us%1B(Bers", "", "", "400 route"},
		{"GET", "/x%26re%1B(Bst_route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/?s=a%1B(Bb&utm%1B=1", "", "", "page"},
		{"POST", "/", formType, "re\x1b(Bst_route=/wp/v2/users", "400 variables"},
		{"POST", "/", formType, "x=" + strings.Repeat("y", 70_000) + "&re%1B(Bst_route=/wp/v2/users", "400 variables"},
		{"POST", "/", formType, "s=%1B(B&x%1B=1", "page"},
		{"POST", "/", partType, part("re\x1b(Bst_route"), "400 body"},
		{"POST", "/", partType, part("x\x1b"), "page"},
		{"POST", order + "?_meth%1B(Bod=DELETE", "", "", "400 variables"},
		{"PUT", order + "?i%1B(Bd=9", "", "", "400 variables"},
		{"PUT", order, formType, "i%1B(Bd=9", "PUT /wc/v3/orders/7 id?"},
		{"POST", order, partType, part("i\x1b(Bd"), "POST /wc/v3/orders/7 id?"},
		{"GET", order + "?gr%C3%B6%C3%9Fe=1", "", "", "GET /wc/v3/orders/7 id 7"},
	})
}

// TestBetween_QuestionMark: lighttpd with Debian's options ends the path of a target at its last "?",
// and cuts dot segments out of what stands before it.
func TestBetween_QuestionMark(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/?/../?rest_route=/wp/v2/users", "", "", "400 target"},
		{"GET", "/?x?rest_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/a?b?rest_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?a=1&b=2?c=3&%72est.route=/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/?a=1&b=2?%72est.route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?/../wp-json/wp/v2/users?x", "", "", "400 target"},
		{"GET", "/?/%2e%2e/wp-json/wp/v2/users?x", "", "", "400 target"},
		{"GET", "/?a\\..\\wp-json?x", "", "", "400 target"},
		{"GET", "/?redirect_to=https://shop.example/x?a=b", "", "", "page"},
		{"GET", "/?s=what?", "", "", "page"},
		{"GET", "/?next=/../a", "", "", "page"},
		{"GET", "/wp-json/oembed/1.0/embed?url=https://shop.example/?p=5", "", "", "GET /oembed/1.0/embed"},
		{"POST", order + "?x?_method=DELETE", "", "", "400 variables"},
		{"POST", order + "?_method=DELETE&x?y", "", "", "DELETE /wc/v3/orders/7 id 7"}, // and a POST, see WithoutOverride
		{"GET", "/?rest_route=/wp/v2/posts&search=What?", "", "", "GET /wp/v2/posts"},
		{"GET", "/?rest_route=/oembed/1.0/embed&url=https://shop.example/?p=5", "", "", "GET /oembed/1.0/embed"},
		{"PUT", order + "?x?id=9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"PUT", order + "?x%3Fid=9", "", "", "PUT /wc/v3/orders/7 id 7"},
	})
}

// TestBetween_Names: caches write addresses in small letters, and servers decode what they need not.
func TestBetween_Names(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/?REST_ROUTE=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?Rest.Route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?a=b&rest_routE%00x=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route%3D/wp/v2/users", "", "", "400 variables"}, // HAProxy's example of set-query
		{"POST", order + "?_method%3DDELETE", "", "", "400 variables"},
		{"PUT", order + "?id%3D9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"GET", "/?redirect_to=/a%3Frest_route%3D/wp", "", "", "page"},
		{"GET", "/?rest_%%372oute=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_rout%6%35=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_rout%2565=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?REST_ROUTES=/wp/v2/users&S=Rest_Route", "", "", "page"},
		{"GET", "/WP-JSON/wp/v2/users", "", "", "400 path"},
		{"GET", "/shop/Wp-%4ason/", "", "", "400 path"},
		{"GET", "/About-WP-JSON/", "", "", "page"},
		{"GET", "/wp-json/WP/v2/Users", "", "", "GET /WP/v2/Users"},
		{"POST", order + "?_METHOD=DELETE", "", "", "400 variables"},
		{"POST", order + "?_m%%365thod=DELETE", "", "", "400 variables"},
		{"PUT", order + "?ID=9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"PUT", order + "?i%%364=9", "", "", "400 variables"},
		{"GET", "/?rest_route=/wp/v2%%32%66users", "", "", "400 variables"},
		{"GET", "/?rest_route=/wp/v2%2%66users", "", "", "400 variables"},
		{"GET", "/wp-json/wc/v3?oauth_signature=%%33%30", "", "", "400 variables"},
		{"GET", "/wp-json/wp/v2/posts?search=50%&after=5%%20x&q=%zz%e", "", "", "GET /wp/v2/posts"},
		{"GET", "/?x=%%32%66", "", "", "page"},
		{"GET", "/x&REST_ROUTE=/wp/v2/users", "", "", "400 path"},
		{"GET", "/x%26Rest.Route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/x&REST_ROUTES=1&s", "", "", "page"},
		{"PUT", order + "?Search=9", "", "", "PUT /wc/v3/orders/7 id 7"},
		{"GET", "/wp-json/wp/v2/posts?OAuth_Signature=x", "", "", "GET /wp/v2/posts"},
	})
}
