package livetest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// fields are the header fields of an HTTP/2 request, "name value" each.
type fields []string

func get(target string, more ...string) fields {
	return append(fields{":method GET", ":scheme http", ":authority 127.0.0.1", ":path " + target}, more...)
}

func post(target string, more ...string) fields {
	return append(fields{":method POST", ":scheme http", ":authority 127.0.0.1", ":path " + target}, more...)
}

// reset stands for a stream or connection that the server has ended.
const reset = "reset"

// streamed is a request of HTTP/2 or 3.
type streamed struct {
	fields    fields
	body      string
	trailer   fields
	emptyData bool // the stream is ended by an empty DATA frame, not by the header
	grease    bool // a frame that nobody knows comes behind the header
	cancelled bool // behind the body, in place of an end
}

// request returns the fields of m for a scheme.
func (m streamed) request(scheme string) rawhttp.Request {
	split := func(f fields) (list []rawhttp.Field) {
		for _, field := range f {
			name, value, _ := strings.Cut(field, " ")
			if name == ":scheme" && value == "http" {
				value = scheme
			}
			list = append(list, rawhttp.Field{Name: name, Value: value})
		}
		return list
	}
	r := rawhttp.Request{Fields: split(m.fields), Body: m.body, EmptyData: m.emptyData, Grease: m.grease, Reset: m.cancelled}
	if m.trailer != nil {
		r.Trailer = split(m.trailer)
	}
	return r
}

// ask sends one HTTP/2 request over conn as its fields say, and returns the
// status of the answer or reset.
func ask(t *testing.T, conn net.Conn, m streamed) string {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(patience))
	scheme := "http"
	if _, secure := conn.(*tls.Conn); secure {
		scheme = "https"
	}
	a, err := rawhttp.HTTP2(conn, m.request(scheme))
	if err != nil {
		return reset
	}
	return strconv.Itoa(a.Status)
}

// dialHTTP2 opens a connection over TLS.
func dialHTTP2(t *testing.T, address string) (net.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return rawhttp.DialHTTP2(ctx, address)
}

// streamFrame is a request of HTTP/2 or 3 and what becomes of it.
type streamFrame struct {
	name string
	streamed
	kind, call string // "" where it is refused, by the server or by the gateway
	arrives    string // a header as it arrives, "Name: value"
}

// streamFrames are sent over HTTP/2 and 3 alike.
var streamFrames = []streamFrame{
	{name: "call", streamed: streamed{fields: get("/wp-json/wp/v2/posts")}, kind: aCall, call: route},
	{name: "query", streamed: streamed{fields: get("/?rest_route=/wp/v2/posts")}, kind: aCall, call: route},
	{name: "page", streamed: streamed{fields: get("/about/")}, kind: aPage},
	{name: "te", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "te trailers")}, kind: aCall, call: route},
	{name: "cookies in several fields", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "cookie a=b", "cookie c=d")}, kind: aCall, call: route, arrives: "Cookie: a=b; c=d"},
	{name: "form without length", streamed: streamed{fields: post("/about/", "content-type application/x-www-form-urlencoded"), body: "rest_route=/wp/v2/posts"}, kind: aCall, call: "POST /wp/v2/posts"},
	{name: "json without length", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json"), body: `{"status":"completed"}`}, kind: aCall, call: "POST /wc/v3/orders/7/refunds"},

	{name: "host beside authority", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "host other.test")}},
	{name: "host like authority", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "host 127.0.0.1")}, kind: aCall, call: route, arrives: "Host: 127.0.0.1"},
	{name: "override twice", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "x-http-method-override GET", "x-http-method-override DELETE")}},
	{name: "authorization twice", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "authorization Basic YTpi", "authorization Basic YTpi")}},
	{name: "alias", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "x_http_method_override DELETE")}, kind: aCall, call: route},
	{name: "two routes", streamed: streamed{fields: get("/wp-json/wp/v2/posts?rest_route=/wp/v2/users")}},
	{name: "# in the path", streamed: streamed{fields: get("/wp-json/wp/v2/posts#x")}},
	{name: "absolute path", streamed: streamed{fields: get("http://evil.test/wp-json/wp/v2/posts")}},
	{name: "upgrade", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "upgrade websocket")}},
	{name: "connection", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "connection x-wp-nonce")}},
	{name: "transfer-encoding", streamed: streamed{fields: post("/wp-json/wp/v2/posts", "transfer-encoding chunked"), body: "0\r\n\r\n"}},
	{name: "upper-case name", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "X-WP-Nonce a")}},
	{name: "line break in a value", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "x-a b\r\nx-http-method-override: DELETE")}},
	{name: "space in the path", streamed: streamed{fields: get("/wp-json/wp/v2/posts HTTP/1.1")}},
	{name: "pseudo field twice", streamed: streamed{fields: get("/wp-json/wp/v2/posts", ":path /about/")}},
	{name: "unknown pseudo field", streamed: streamed{fields: append(fields{":protocol websocket"}, get("/wp-json/wp/v2/posts")...)}},
	{name: "lower-case method", streamed: streamed{fields: fields{":method get", ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts"}}},
	{name: "quoted method", streamed: streamed{fields: fields{`:method "GET"`, ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts"}}},
	{name: "two methods", streamed: streamed{fields: fields{":method GET,POST", ":scheme http", ":authority 127.0.0.1", ":path /about/"}}},
	{name: "priority", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "priority u=1, i")}, kind: aCall, call: route},
	{name: "frame of an unknown type", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json"), body: `{"a":1}`, grease: true}, kind: aCall, call: "POST /wc/v3/orders/7/refunds"},
	{name: "stream that is cancelled", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json"), body: `{"a":1}`, cancelled: true}},
	{name: "form that is cancelled", streamed: streamed{fields: post("/contact/", "content-type application/x-www-form-urlencoded"), body: strings.Repeat("a=b&", 50_000), cancelled: true}},
	{name: "length twice", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json", "content-length 2", "content-length 3"), body: "{}"}},
	{name: "signed length", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json", "content-length +2"), body: "{}"}},
	{name: "user in the authority", streamed: streamed{fields: fields{":method GET", ":scheme http", ":authority user:pw@127.0.0.1", ":path /wp-json/wp/v2/posts"}}},
	{name: "host for an authority", streamed: streamed{fields: fields{":method GET", ":scheme http", ":path /wp-json/wp/v2/posts", "host 127.0.0.1"}}, kind: aCall, call: route},
	{name: "empty path", streamed: streamed{fields: get("")}},
	{name: "the whole server", streamed: streamed{fields: get("*")}},
	{name: "many fields", streamed: streamed{fields: get("/wp-json/wp/v2/posts", slices.Repeat([]string{"x-many " + strings.Repeat("v", 100)}, 100)...)}, kind: aCall, call: route},
	{name: "trailer, announced", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json", "trailer x-http-method-override"), body: "{}", trailer: fields{"x-http-method-override DELETE"}}},
	{name: "nonce and cookie crumbs", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "x-wp-nonce a", "cookie a=b", "cookie c=d", "cookie e=f")}, kind: aCall, call: route, arrives: "Cookie: a=b; c=d; e=f"},
	{name: "CONNECT for a web socket", streamed: streamed{fields: fields{":method CONNECT", ":protocol websocket", ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts"}}},
	{name: "CONNECT for WebTransport", streamed: streamed{fields: fields{":method CONNECT", ":protocol webtransport", ":scheme http", ":authority 127.0.0.1", ":path /?rest_route=/wp/v2/posts"}}},
	{name: "CONNECT", streamed: streamed{fields: fields{":method CONNECT", ":authority 127.0.0.1:80"}}},
	{name: "CONNECT with a path", streamed: streamed{fields: fields{":method CONNECT", ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts"}}},
	{name: "body on GET", streamed: streamed{fields: get("/wp-json/wp/v2/posts", "content-type application/json"), body: "{}"}, kind: aCall, call: route},
	{name: "call that ends with an empty frame", streamed: streamed{fields: get("/wp-json/wp/v2/posts"), emptyData: true}, kind: aCall, call: route},
	{name: "JSON type that ends with an empty frame", streamed: streamed{fields: get("/wp-json/wc/v3/orders/7", "content-type application/json"), emptyData: true}, kind: aCall, call: "GET /wc/v3/orders/7"},
	{name: "HEAD", streamed: streamed{fields: fields{":method HEAD", ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts"}}, kind: aCall, call: "HEAD /wp/v2/posts"},
	{name: "HEAD that ends with an empty frame", streamed: streamed{fields: fields{":method HEAD", ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts"}, emptyData: true}, kind: aCall, call: "HEAD /wp/v2/posts"},
	{name: "OPTIONS", streamed: streamed{fields: fields{":method OPTIONS", ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts"}}, kind: aCall, call: "OPTIONS /wp/v2/posts"},
	{name: "DELETE", streamed: streamed{fields: fields{":method DELETE", ":scheme http", ":authority 127.0.0.1", ":path /wp-json/wp/v2/posts/5"}}, kind: aCall, call: "DELETE /wp/v2/posts/5"},
	{name: "page that ends with an empty frame", streamed: streamed{fields: get("/about/"), emptyData: true}, kind: aPage},
	{name: "form that ends with an empty frame", streamed: streamed{fields: post("/about/", "content-type application/x-www-form-urlencoded"), emptyData: true}, kind: aPage},
	{name: "longer than its length", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json", "content-length 2"), body: `{"id":9}`}},
	{name: "shorter than its length", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json", "content-length 9"), body: "{}"}},
	{name: "trailer", streamed: streamed{fields: post("/wp-json/wc/v3/orders/7/refunds", "content-type application/json"), body: "{}", trailer: fields{"x-http-method-override DELETE"}}, kind: aCall, call: "POST /wc/v3/orders/7/refunds"},
}

// hold compares what came of a request over conn with what should.
func (c *streamFrame) hold(t *testing.T, got, conn string, b *backend) {
	t.Helper()
	p := passage{judged: ledger.take(conn)}
	for _, j := range p.judged {
		p.arrived = append(p.arrived, b.take(j.n)...)
	}
	if c.kind == "" {
		if got != "400" && got != reset || len(p.arrived) > 0 {
			t.Errorf("got %s, %d arrived", got, len(p.arrived))
		}
		return
	}
	a := p.passed(t, c.kind, c.call)
	if a.body.String() != digestOf([]byte(c.body)).String() || len(a.after) > 0 || a.header["X-Http-Method-Override"] != nil {
		t.Errorf("arrived: %v %v %v", a.header, a.body, a.after)
	}
	if name, value, ok := strings.Cut(c.arrives, ": "); ok && (len(a.header[name]) != 1 || a.header[name][0] != value) {
		t.Errorf("arrived: %s: %q", name, a.header[name])
	}
}

// TestHTTP2_Frames sends HTTP/2 requests with prior knowledge and over TLS.
func TestHTTP2_Frames(t *testing.T) {
	proxy, php := newBackend(t), newFastCGI(t)
	root := scripts(t)
	guard := "\trestwarden wordpress\n\twitness\n"
	addresses := run(t, "\tservers {\n\t\tprotocols h1 h2 h2c\n\t}\n",
		block{Body: guard + proxy.proxied()},
		block{Body: guard + php.php(root, "")},
		block{Secure: true, Body: "\ttls internal\n" + guard + proxy.proxied()})
	plain := func(address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(t.Context(), "tcp", address)
	}
	for _, way := range []struct {
		name    string
		backend *backend
		address string
		dial    func(string) (net.Conn, error)
	}{{"h2c", proxy, addresses[0], plain}, {"h2c to FastCGI", php, addresses[1], plain}, {"TLS", proxy, addresses[2], func(address string) (net.Conn, error) { return dialHTTP2(t, address) }}} {
		for _, c := range streamFrames {
			t.Run(way.name+"/"+c.name, func(t *testing.T) {
				conn, err := way.dial(way.address)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				got := ask(t, conn, c.streamed)
				c.hold(t, got, connection(conn.LocalAddr().String(), conn.RemoteAddr()), way.backend)
			})
		}
		for _, a := range way.backend.rest() {
			t.Errorf("%s: reached the backend unseen: %s %s", way.name, a.method, a.target)
		}
	}
}

// TestHTTP2_ExtendedConnect: a web socket over HTTP/2 is a CONNECT, which
// reverse_proxy turns into a GET with Upgrade: no tunnel under a call's name.
func TestHTTP2_ExtendedConnect(t *testing.T) {
	c := newChain(t)
	for _, target := range []string{"/wp-json/wp/v2/posts", "/wp-json/wp/v2/posts?_method=GET", "/?rest_route=/wp/v2/posts&_method=GET"} {
		r := httptest.NewRequest(http.MethodConnect, "/", nil)
		r.URL, _ = url.Parse(target)
		r.RequestURI, r.RemoteAddr = target, "192.0.2.3:1"
		r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
		r.Header[":protocol"] = []string{"websocket"}
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, r)
		if seen := ledger.take(connection(r.RemoteAddr, nil)); len(seen) > 0 || w.Code != http.StatusBadRequest {
			t.Errorf("%s: got %d, %d judged", target, w.Code, len(seen))
		}
	}
}

// TestHTTP2_Upgrade: a server that speaks HTTP/2 in clear text is not to be
// brought there by an upgrade, unread. The offer is dropped, whether it stands on a page or a call.
func TestHTTP2_Upgrade(t *testing.T) {
	b, php := newBackend(t), newFastCGI(t)
	guard := "\trestwarden wordpress\n\twitness\n"
	addresses := run(t, "\tservers {\n\t\tprotocols h1 h2c\n\t}\n", block{Body: guard + b.proxied()}, block{Body: guard + php.php(scripts(t), "")})
	offer := []string{"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"}
	const order = `{"status":"completed"}`
	posted := append(slices.Clone(offer), "Content-Type: application/json")
	for i, to := range []*backend{b, php} {
		for _, a := range []*arrival{
			try(t, addresses[i], to, request("GET /about/", "", offer...)).passed(t, aPage, ""),
			try(t, addresses[i], to, request(posts, "", offer...)).passed(t, aCall, route),
			try(t, addresses[i], to, request("POST /wp-json/wc/v3/orders/7/refunds", order, posted...)).passed(t, aCall, "POST /wc/v3/orders/7/refunds"),
		} {
			for _, name := range []string{"Connection", "Upgrade", "Http2-Settings"} {
				if values := a.header[name]; len(values) > 0 && name+": "+values[0] != "Connection: close" {
					t.Errorf("%s %s: %s went on: %q", a.method, a.target, name, values)
				}
			}
		}
		try(t, addresses[i], to, request(posts, "", "Connection: Upgrade", "Upgrade: h2c, websocket")).refused(t, 400)
	}
}
