package call

import (
	"crypto/tls"
	"net/http"
	"reflect"
	"testing"
)

// TestOffersHTTP2: a request of HTTP/1.1 with an offer of HTTP/2 loses the offer, and nothing else
// of its headers.
func TestOffersHTTP2(t *testing.T) {
	r := request("GET", "/shop/", "", "")
	r.Header = http.Header{
		"Upgrade": {"h2c"}, "Http2-Settings": {"AAMAAABkAAQAAP__"},
		"Connection": {"Upgrade, HTTP2-Settings", "keep-alive, TE"}, "Te": {"trailers"}, "Accept": {"*/*"},
	}
	if !OffersHTTP2(r) {
		t.Error("no offer")
	}
	DropHTTP2(r.Header)
	want := http.Header{"Connection": {"keep-alive, TE"}, "Te": {"trailers"}, "Accept": {"*/*"}}
	if !reflect.DeepEqual(r.Header, want) || OffersHTTP2(r) {
		t.Errorf("%v, want %v", r.Header, want)
	}
	r.Header = http.Header{"Upgrade": {"H2C"}, "Connection": {"Upgrade"}}
	DropHTTP2(r.Header)
	if len(r.Header) > 0 {
		t.Error(r.Header)
	}
	r.Header, r.TLS = http.Header{"Upgrade": {"h2c"}}, new(tls.ConnectionState)
	if OffersHTTP2(r) || describe(readerFor("root").Read(r, nil)) != "400 upgrade" {
		t.Error("over TLS there is no clear text")
	}
}

// TestOffersHTTP2_Calls: a call may have exactly that offer. Anything beside it is an upgrade.
func TestOffersHTTP2_Calls(t *testing.T) {
	for name, test := range map[string]struct {
		connection, upgrade []string
		want                string
	}{
		"the offer":                 {[]string{"Upgrade, HTTP2-Settings"}, []string{"h2c"}, "GET /wp/v2/posts"},
		"in capitals":               {[]string{"upgrade"}, []string{"H2C"}, "GET /wp/v2/posts"},
		"a web socket":              {[]string{"Upgrade"}, []string{"websocket"}, "400 upgrade"},
		"a web socket or HTTP/2":    {[]string{"Upgrade"}, []string{"h2c, websocket"}, "400 upgrade"},
		"two headers":               {[]string{"Upgrade"}, []string{"h2c", "h2c"}, "400 upgrade"},
		"HTTP/2 over TLS":           {[]string{"Upgrade"}, []string{"h2"}, "400 upgrade"},
		"empty":                     {[]string{"Upgrade"}, []string{""}, "400 upgrade"},
		"and a header to strip":     {[]string{"Upgrade, Authorization"}, []string{"h2c"}, "400 connection_header"},
		"another header to strip":   {[]string{"Upgrade", "HTTP2-Settings, X-WP-Nonce"}, []string{"h2c"}, "400 connection_header"},
		"beside a header of tokens": {[]string{"Upgrade, HTTP2-Settings", "close"}, []string{"h2c"}, "GET /wp/v2/posts"},
	} {
		r := request("GET", "/wp-json/wp/v2/posts", "", "")
		r.Header = http.Header{"Connection": test.connection, "Upgrade": test.upgrade, "Http2-Settings": {"AAMAAABkAAQAAP__"}}
		if got := describe(readerFor("root").Read(r, nil)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestOneType: commas in quotes are no second Content-Type, unless some server might find a
// form there.
func TestOneType(t *testing.T) {
	for contentType, want := range map[string]string{
		`multipart/related; boundary=B; type="application/xop+xml"; start-info="application/soap+xml"; action="urn:a,b"`: "page",
		`application/soap+xml; charset=utf-8; action="urn:order,create"`:                                                 "page",
		`multipart/form-data; boundary=B; action="urn:a,b"`:                                                              "page",
		`multipart/form-data; boundary=B; action="a\",b"`:                                                                "page",
		`multipart/form-data; action="urn:a,b"; boundary=B`:                                                              "400 repeated_header",
		`multipart/form-data; boundary="B,C"`:                                                                            "400 repeated_header",
		`text/plain; a="x, multipart/form-data; boundary=B"`:                                                             "400 repeated_header",
		`text/plain; a="x, Application/X-WWW-Form-URLencoded"`:                                                           "400 repeated_header",
		`text/plain; a="x, y`: "400 repeated_header",
		`text/plain, x`:       "400 repeated_header",
	} {
		for target, expected := range map[string]string{"/xmlrpc/": want, "/wp-json/wp/v2/posts": "400 repeated_header"} {
			if got := describe(readerFor("root").Read(request("POST", target, contentType, "--B\r\n\r\n--B--"), nil)); got != expected {
				t.Errorf("%s %s: %s, want %s", target, contentType, got, expected)
			}
		}
	}
	body := "--B\r\nContent-Disposition: form-data; name=\"rest_route\"\r\n\r\n/wp/v2/users\r\n--B--\r\n"
	if got := describe(readerFor("root").Read(request("POST", "/", `multipart/form-data; boundary=B; action="a,b"`, body), nil)); got != "400 repeated_header" {
		t.Errorf("a call in such a form: %s", got)
	}
}
