package livetest

import (
	"net/http"
	"strings"
	"testing"
)

// passage is what became of one connection's bytes.
type passage struct {
	reply
	protocol string
	unsaid   string // why the protocol has no words for it
	judged   []*judged
	arrived  []*arrival
}

// try is what the client does, over HTTP/1.1.
func try(t *testing.T, address string, b *backend, raw []byte) passage {
	t.Helper()
	return newClient(http1).try(t, address, b, raw)
}

// try sends raw to a site with backend b. What arrives must have been judged.
func (c *client) try(t *testing.T, address string, b *backend, raw []byte) passage {
	t.Helper()
	got, unsaid := c.send(t, address, raw)
	p := c.passage(got, b)
	p.unsaid = unsaid
	return p
}

// passage collects what became of a request that got this reply.
func (c *client) passage(got reply, b *backend) passage {
	p := passage{reply: got, protocol: c.protocol, judged: ledger.take(got.conn)}
	for _, j := range p.judged {
		p.arrived = append(p.arrived, b.take(j.n)...)
	}
	return p
}

// refused expects that nothing was forwarded and the client got a status. What is
// malformed the servers of HTTP/2 and 3 refuse without one.
func (p passage) refused(t *testing.T, status int) {
	t.Helper()
	malformed := p.protocol != http1 && p.status == 0 && status == http.StatusBadRequest
	if len(p.judged) > 0 || len(p.arrived) > 0 || p.status != status && !malformed {
		t.Errorf("got %d %.200q, forwarded %v, want %d", p.status, p.raw, p.judged, status)
	}
}

// passed expects one request at the backend, judged as kind and, unless it is a
// page, as this method and route.
func (p passage) passed(t *testing.T, kind, call string) *arrival {
	t.Helper()
	if len(p.judged) != 1 || len(p.arrived) != 1 {
		t.Fatalf("got %d %.300q, %d judged, %d arrived, want one", p.status, p.raw, len(p.judged), len(p.arrived))
	}
	j := p.judged[0]
	if j.kind != kind || kind != "page" && j.call.Method+" "+j.call.Route != call {
		t.Errorf("judged a %s %v, want a %s %s", j.kind, j.call, kind, call)
	}
	return p.arrived[0]
}

const (
	posts  = "GET /wp-json/wp/v2/posts"
	aForm  = "rest_route=/wp/v2/users"
	route  = "GET /wp/v2/posts"
	aPage  = "page"
	aCall  = "call"
	ending = " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
	typed  = "Content-Type: "
	blank  = "\r\n\r\n"
)

// frames are requests whose framing, target or header is odd. kind is what they
// pass as, "" where they are refused with status.
var frames = []struct {
	name   string
	raw    []byte
	status int
	kind   string
	call   string
	only   string // the protocol in which it means this; "" is all
}{
	{name: "plain", raw: request(posts, ""), kind: aCall, call: route},

	// Header names that PHP folds onto one: Caddy drops them.
	{name: "alias underscore", raw: request(posts, "", "X_HTTP_Method_Override: DELETE"), kind: aCall, call: route},
	{name: "alias dot", raw: request(posts, "", "X.HTTP.Method.Override: DELETE"), kind: aCall, call: route},
	{name: "alias beside", raw: request(posts, "", "X-HTTP-Method-Override: HEAD", "X_HTTP-Method_Override: DELETE"), kind: aCall, call: "HEAD /wp/v2/posts"},

	// Connection names what a proxy takes away (docs/platform I.11, P1).
	{name: "connection override", raw: request(posts, "", "X-HTTP-Method-Override: DELETE", "Connection: X-HTTP-Method-Override"), status: 400},
	{name: "connection nonce", raw: request(posts, "", "Connection: close, x-wp-nonce", "X-WP-Nonce: a"), status: 400},
	{name: "connection cookie", raw: request(posts, "", "Connection: Cookie"), status: 400},
	{name: "connection type", raw: request("POST /", aForm, form, "Connection: Content-Type"), status: 400},
	{name: "connection type, multipart", raw: request("POST /", multipart("rest_route", "/wp/v2/users"), typed+"multipart/form-data; boundary=b", "Connection: content-type"), status: 400},
	{name: "connection on a page", only: http1, raw: request("GET /about/", "", "Connection: X-Foo"), kind: aPage},

	// Headers that decide, twice (docs/platform I.12, 5).
	{name: "type twice", raw: request("POST /wp-json/wp/v2/posts", "{}", jsonType, form), status: 400},
	{name: "type twice alike", raw: request("POST /wp-json/wp/v2/posts", "{}", jsonType, jsonType), status: 400},
	{name: "type twice on a page", raw: request("POST /", aForm, jsonType, form), status: 400},
	{name: "override twice", raw: request(posts, "", "X-HTTP-Method-Override: GET", "X-HTTP-Method-Override: DELETE"), status: 400},
	{name: "nonce twice", raw: request(posts, "", "X-WP-Nonce: a", "X-WP-Nonce: b"), status: 400},
	{name: "authorization twice", raw: request(posts, "", "Authorization: Basic YTpi", "Authorization: Basic YTpi"), status: 400},
	{name: "cookie twice", only: http1, raw: request(posts, "", "Cookie: a=b", "Cookie: c=d"), status: 400},
	{name: "host twice", raw: request(posts, "", "Host: other.test"), status: 400},
	{name: "length twice", raw: request("POST /wp-json/wp/v2/posts", "{}", jsonType, "Content-Length: 3"), status: 400},

	// Targets (docs/platform I.11 and I.12, 6 and 7).
	{name: "# in the path", raw: request("GET /wp-json/wp/v2/posts#?rest_route=/wc/v3/orders", ""), status: 400},
	{name: "# in a call's path", raw: request("GET /wp-json/wp/v2/posts#x", ""), status: 400},
	{name: "# in the query", raw: request("GET /?rest_route=/wp/v2/posts#&rest_route=/wp/v2/users", ""), status: 400},
	{name: "# before the route", raw: request("GET /?x=#&rest_route=/wp/v2/posts", ""), status: 400},
	{name: "absolute form", raw: request("GET http://127.0.0.1/wp-json/wp/v2/posts", ""), status: 400},
	{name: "absolute form, other host", raw: request("GET http://evil.test/?rest_route=/wp/v2/posts", ""), status: 400},
	{name: "other scheme", raw: request("GET foo:/wp-json/wp/v2/posts", ""), status: 400},
	{name: "user in the target", raw: request("GET http://user:pw@127.0.0.1/wp-json/wp/v2/posts", ""), status: 400},
	{name: "only a query", raw: request("GET ?rest_route=/wp/v2/users", ""), status: 400},
	{name: "space in the target", raw: request("GET /wp-json/wp/v2/posts?a b", ""), status: 400},
	{name: "backslash", raw: request(`GET /wp-json/wp/v2\posts`, ""), status: 400},
	{name: "quote", raw: request(`GET /wp-json%2Fwp/v2/posts"`, ""), status: 400},

	// Paths behind a script (docs/platform I.10, N1; I.12, 8 and 9).
	{name: "index.php/", raw: request("GET /index.php/wp-json/wp/v2/posts", ""), status: 400},
	{name: "index.php%2F", raw: request("GET /index.php%2Fwp-json/wp/v2/posts", ""), status: 400},
	{name: "wp-login.php/", raw: request("GET /wp-login.php/x?rest_route=/wp/v2/posts", ""), status: 400},
	{name: "admin-ajax.php/", raw: request("POST /wp-admin/admin-ajax.php/x", aForm, form), status: 400},
	{name: "async-upload.php/", raw: request("POST /wp-admin/async-upload.php/x", multipart("rest_route", "/wp/v2/users"), typed+"multipart/form-data; boundary=b"), status: 400},
	{name: "admin-ajax.php in other letters", raw: request("POST /wp-admin/Admin-Ajax.php", aForm, form), kind: aCall, call: "POST /wp/v2/users"},
	{name: "admin-ajax.php", raw: request("POST /wp-admin/admin-ajax.php", aForm, form), kind: aCall, call: "POST /wp/v2/users"},

	// Methods (docs/platform I.2, I.6).
	{name: "lower-case get", raw: request("get /wp-json/wp/v2/posts", ""), status: 400},
	{name: "lower-case post", raw: request("post /", aForm, form), status: 400},
	{name: "mixed case", raw: request("Get /", aForm, form), status: 400},
	{name: "_method on GET", raw: request("GET /wp-json/wp/v2/posts/5?_method=delete", ""), kind: aCall, call: "DELETE /wp/v2/posts/5"},
	{name: "override in lower case", raw: request(posts, "", "x-http-method-override: head"), kind: aCall, call: "HEAD /wp/v2/posts"},
	{name: "unknown override", raw: request(posts, "", "X-HTTP-Method-Override: PURGE"), status: 400},
	{name: "CONNECT", raw: request("CONNECT /wp-json/wp/v2/posts", ""), status: 400},
	{name: "CONNECT with an override", raw: request("CONNECT /wp-json/wp/v2/posts?_method=GET", ""), status: 400},
	{name: "CONNECT to a host", raw: request("CONNECT 127.0.0.1:80", ""), status: 400},
	{name: "body on GET", raw: request(posts, "{}", jsonType), kind: aCall, call: route},
	{name: "chunked body on GET", raw: chunked(posts, `{"page":1}`, 3, jsonType), kind: aCall, call: route},
	{name: "an id on GET", raw: request("GET /wp-json/wc/v3/orders/7", `{"id":9}`, jsonType), kind: aCall, call: "GET /wc/v3/orders/7"},
	{name: "body on HEAD", raw: request("HEAD /wp-json/wp/v2/posts", "{}", jsonType), kind: aCall, call: "HEAD /wp/v2/posts"},
	{name: "body on OPTIONS", raw: chunked("OPTIONS /wp-json/wp/v2/posts", "{}", 1, jsonType), kind: aCall, call: "OPTIONS /wp/v2/posts"},
	{name: "a list in the body of HEAD", raw: request("HEAD /wp-json/batch/v1?_method=POST", `{"requests":[]}`, jsonType), status: 400},
	{name: "body on DELETE", raw: request("DELETE /wp-json/wp/v2/posts/5", `{"force":true}`, jsonType), kind: aCall, call: "DELETE /wp/v2/posts/5"},

	// Tunnels.
	{name: "web socket on a call", raw: request(posts, "", "Connection: Upgrade", "Upgrade: websocket"), status: 400},
	{name: "web socket on a page", only: http1, raw: request("GET /live/", "", "Connection: Upgrade", "Upgrade: websocket"), kind: aPage},
	{name: "HTTP/2 upgrade on a page", only: http1, raw: request("GET /live/", "", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), kind: aPage},
	{name: "HTTP/2 upgrade on a call", only: http1, raw: request(posts, "", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), kind: aCall, call: route},
	{name: "two upgrades on a call", raw: request(posts, "", "Connection: Upgrade", "Upgrade: h2c, websocket"), status: 400},
	{name: "two upgrades on a page", raw: request("GET /live/", "", "Connection: Upgrade", "Upgrade: websocket, h2c"), status: 400},

	// Lines.
	{name: "folded value", raw: request(posts, "", "X-HTTP-Method-Override:\r\n HEAD"), kind: aCall, call: "HEAD /wp/v2/posts"},
	{name: "folded header", raw: request(posts, "", "X-Foo: a\r\n X-HTTP-Method-Override: DELETE"), kind: aCall, call: route},
	{name: "space before the colon", raw: request(posts, "", "X-HTTP-Method-Override : DELETE"), status: 400},
	{name: "control byte in a value", raw: request(posts, "", "X-HTTP-Method-Override: DELETE\x0b"), status: 400},
	{name: "two spaces", raw: []byte("GET /wp-json/wp/v2/posts " + ending), status: 400},
	{name: "HTTP/1.0", raw: []byte("GET /wp-json/wp/v2/posts HTTP/1.0\r\nHost: 127.0.0.1" + blank), kind: aCall, call: route},
	{name: "HTTP/1.0 without host", raw: []byte("GET /wp-json/wp/v2/posts HTTP/1.0" + blank), kind: aCall, call: route},
	{name: "HTTP/1.1 without host", only: http1, raw: []byte("GET /wp-json/wp/v2/posts HTTP/1.1" + blank), status: 400},
	{name: "HTTP/0.9", raw: []byte("GET /wp-json/wp/v2/posts" + blank), status: 400},
	{name: "HTTP/1.0, chunked", raw: []byte("POST /wp-json/wp/v2/posts HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + jsonType + "\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), kind: aCall, call: "POST /wp/v2/posts"},
}

// TestFrames_OneRequest sends each frame through reverse_proxy and php_fastcgi.
func TestFrames_OneRequest(t *testing.T) {
	for _, f := range frontsFor(t, allProtocols...) {
		overAll(t, f.name+"/", func(t *testing.T, by *client) {
			address := f.at(by.protocol)["open"]
			for _, c := range frames {
				t.Run(c.name, func(t *testing.T) {
					p := by.try(t, address, f.backend, c.raw)
					switch {
					case p.unsaid != "", c.only != "" && c.only != by.protocol: // nothing to expect
					case c.kind == "":
						p.refused(t, c.status)
					default:
						a := p.passed(t, c.kind, c.call)
						s, err := parse(c.raw)
						if err != nil {
							t.Fatal(err)
						}
						for _, why := range f.compare(s.over(by.protocol), p.judged[0], a) {
							t.Error(why)
						}
					}
				})
			}
		})
		for _, a := range f.backend.rest() {
			t.Errorf("%s: reached the backend unseen: %s %s", f.name, a.method, a.target)
		}
	}
}

// multipart is a form of one field, with the boundary b.
func multipart(name, value string) string {
	return strings.ReplaceAll("--b\nContent-Disposition: form-data; name=\""+name+"\"\n\n"+value+"\n--b--\n", "\n", "\r\n")
}
