package call

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestDecidingHeaders: none may stand twice, be written with "_" or ".", or be
// named by Connection.
func TestDecidingHeaders(t *testing.T) {
	rd := readerFor("root")
	read := func(header string, values ...string) string {
		r := request("GET", "/wp-json/a", "", "")
		r.Header[header] = values
		return describe(rd.Read(r, nil))
	}
	for _, name := range []string{
		"Content-Type", "X-Http-Method-Override", "Authorization", "Cookie", "Content-Encoding", "Content-Length", "X-Signature",
		"X-Timestamp", "X-Mcp-Api-Key", "Origin", "Cart-Token", "Nonce", "X-Wp-Nonce",
	} {
		if got := read(name, "a", "a"); got != "400 repeated_header" {
			t.Errorf("%s twice: %s", name, got)
		}
		if got := read("Connection", name); got != "400 connection_header" {
			t.Errorf("Connection: %s: %s", name, got)
		}
		for _, sign := range []string{"_", "."} {
			alias := strings.Replace(name, "-", sign, 1)
			if got := read(alias, "a"); alias != name && got != "400 header_alias" {
				t.Errorf("%s: %s", alias, got)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	rd := readerFor("root")
	for headers, want := range map[string]string{
		"":                               "POST /a",
		"X-HTTP-Method-Override: delete": "DELETE /a",
		"X-HTTP-Method-Override: ":       "400 method",
		"X-HTTP-Method-Override: GET\nX-HTTP-Method-Override: GET": "400 repeated_header",
		"Content-Type: a/b\nContent-Type: a/b":                     "400 repeated_header",
		"X-Wp-Nonce: a\nX-Wp-Nonce: a":                             "400 repeated_header",
		"Connection: keep-alive, close":                            "POST /a",
		"Connection: close, Authorization":                         "400 connection_header",
		"Connection: Upgrade\nUpgrade: websocket":                  "400 upgrade",
		"X_Http_Method_Override: GET":                              "400 header_alias",
		"X.Signature: x":                                           "400 header_alias",
		"X_Wp_Nonce: x":                                            "400 header_alias",
		"X_Other: x":                                               "POST /a",
		"X_Other: x\nX-Other: y":                                   "400 header_alias",
	} {
		r := request("POST", "/wp-json/a", "", "")
		for line := range strings.SplitSeq(headers, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header[canonical(name)] = append(r.Header[canonical(name)], value)
			}
		}
		if got := describe(rd.Read(r, nil)); got != want {
			t.Errorf("%q: %s, want %s", headers, got, want)
		}
		// On a page only what decides how a form is read.
		want = "page"
		if strings.HasPrefix(headers, "Content-Type") {
			want = "400 repeated_header"
		}
		r.URL, _ = url.Parse("/page")
		if got := describe(rd.Read(r, nil)); got != want {
			t.Errorf("%q: page read as %s", headers, got)
		}
	}
}

// canonical spells an ordinary header name as a server does.
func canonical(name string) string {
	if strings.EqualFold(name, overrideHeader) {
		return overrideHeader
	}
	return name
}

func TestRewrites(t *testing.T) {
	root, sub := readerFor("root"), readerFor("subfolder")
	for _, tt := range []struct {
		rd                      *Reader
		original, current, want string
	}{
		{root, "/wp-json/wp/v2/users", "/index.php", "GET /wp/v2/users"},
		{root, "/hello", "/index.php?x=1", "page"},
		{root, "/wp-json/wp/v2/users", "/wp-json/wp/v2/users", "GET /wp/v2/users"},
		{root, "/api/wp-json/wp/v2/users", "/wp-json/wp/v2/users", "GET /wp/v2/users"},
		{root, "/wp-json/wp/v2/users", "/hello", "400 rewritten_path"},
		{root, "/hello", "/wp-json/wp/v2/users", "400 rewritten_path"},
		{root, "/wp-json/a", "/wp-json/b", "400 rewritten_path"},
		{root, "/hello", "/goodbye", "page"},
		{root, "/hello?rest_route=/a", "/hello", "page"},
		{root, "/hello", "/hello?rest_route=/a", "GET /a"},
		{root, "/wp-json/a?x=wp-json/wc", "/wp-json/a", "400 key_marker"},
		{root, "/blog/wp-json/a", "/blog/index.php", "GET /a at /blog"},
		{root, "/wp-json/a", "/blog/index.php", "400 rewritten_path"},
		{sub, "/blog/wp-json/a", "/blog/index.php", "GET /a at /blog"},
		{sub, "/blog/wp-json/a", "/index.php", "400 rewritten_path"},
		{sub, "/blog/x", "/blog/index.php?rest_route=/a", "GET /a"},
		{sub, "/blog/wp-json/a", "/wp-json/a", "GET /a"},
		{sub, "/blog/?rest_route=/a", "/?rest_route=/a", "GET /a"},
		{sub, "/x/wp-json/a", "/wp-json/a", "404 outside_base"},
		{sub, "/x/?rest_route=/a", "/?rest_route=/a", "404 outside_base"},
		{sub, "/x/wp-json/a", "/blog/wp-json/a", "GET /a at /blog"},
	} {
		r := request("GET", tt.current, "", "")
		original, err := url.ParseRequestURI(tt.original)
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(tt.rd.Read(r, original)); got != tt.want {
			t.Errorf("%s -> %s: %s, want %s", tt.original, tt.current, got, tt.want)
		}
	}
}

// A request for HTTP/2 in clear text would let everything behind it through
// unread; the Host header beside :authority names another site to FastCGI.
func TestTunnelsAndSecondHosts(t *testing.T) {
	rd := NewReader(Config{Platform: wordpress()})
	for name, test := range map[string]struct {
		target, header, value string
		want                  Kind
	}{
		"page/h2c":               {"/shop/", "Upgrade", "h2c", Page}, // the gateway drops the header
		"call/h2c":               {"/wp-json/wp/v2/posts", "Upgrade", "h2c", Single},
		"call/h2c and another":   {"/wp-json/wp/v2/posts", "Upgrade", "h2c, TLS/1.0", Refused},
		"page/h2c and another":   {"/shop/", "Upgrade", "h2c, TLS/1.0", Refused},
		"page/websocket":         {"/shop/", "Upgrade", "websocket", Page},
		"page/websocket and h2c": {"/shop/", "Upgrade", "websocket, h2c", Refused},
		"call/websocket":         {"/wp-json/wp/v2/posts", "Upgrade", "websocket", Refused},
		"call/second host":       {"/wp-json/wp/v2/posts", "Host", "other.example", Refused},
	} {
		r := httptest.NewRequest(http.MethodGet, test.target, nil)
		r.Header[test.header] = []string{test.value}
		if c := rd.Read(r, nil); c.Kind != test.want {
			t.Errorf("%s: %s, want %s", name, c.Kind, test.want)
		}
	}
}

// The shop looks for its marker in an address that the platform has cleaned.
func TestKeyMarkerThatIsCleaned(t *testing.T) {
	rd := readerFor("root")
	for _, text := range []string{
		"wp-json/wc/", "wp-json/w%0ac/", "wp-json/w%0Dc/", "wp-json/w^c/", "wp-json/w{}c/", `wp-json/w\c/`, "wp-json/w%0%0aac/", `wp-"json/wc-`,
		"wp-json%0a/wc/", "%0dwp-json/wc/",
	} {
		for _, target := range []string{"/?rest_route=/wc/v3/orders/39&x=", "/wp-json/wp/v2/users/me?x="} {
			r := request("PUT", "/", "", "")
			r.URL = &url.URL{Path: strings.Split(target, "?")[0], RawQuery: strings.SplitN(target, "?", 2)[1] + text}
			if c := rd.Read(r, nil); c.Kind != Refused || c.Refusal.Reason != "key_marker" {
				t.Errorf("%s%s: %s", target, text, describe(c))
			}
		}
	}
	for _, target := range []string{"/wp-json/wc/v3/orders?x=%0a", "/wp-json/wc/v3/orders?q=wp-json", "/wp-json/wc/v3/orders?x=%0", "/wp-json/wc/v3/orders?x=%00%0"} {
		if c := rd.Read(request("GET", target, "", ""), nil); c.Kind != Single {
			t.Errorf("%s: %s", target, describe(c))
		}
	}
}
