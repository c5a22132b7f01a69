package livetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	"github.com/restwarden/restwarden/cmd/check/testkit/names"
)

// message is one request, whichever protocol it goes by.
type message struct {
	method, target string
	headers        []string // "name: value", names in small letters
	body           string
	noLength       bool // of the body
}

// http1 returns the bytes of the message for HTTP/1.1.
func (m message) http1() []byte {
	line := m.method + " " + m.target
	if m.noLength && m.body != "" {
		return chunked(line, m.body, 5000, m.headers...)
	}
	return request(line, m.body, m.headers...)
}

// streamed returns the message for HTTP/2 and 3.
func (m message) streamed() streamed {
	f := fields{":method " + m.method, ":scheme http", ":authority 127.0.0.1", ":path " + m.target}
	for _, h := range m.headers {
		name, value, _ := strings.Cut(h, ": ")
		f = append(f, name+" "+value)
	}
	if m.body != "" && !m.noLength {
		f = append(f, fmt.Sprintf("content-length %d", len(m.body)))
	}
	return streamed{fields: f, body: m.body}
}

// protocols are the ways in which a message can reach a server: each sends one to
// an address and returns the status of the answer and the connection's name.
var protocols = []struct {
	name   string
	secure bool
	send   func(t *testing.T, address string, m message) (status, conn string)
}{
	{"HTTP/1.1", false, func(t *testing.T, address string, m message) (string, string) {
		t.Helper()
		r := send(t, address, m.http1())
		return fmt.Sprint(r.status), r.conn
	}},
	{"HTTP/2", true, func(t *testing.T, address string, m message) (string, string) {
		t.Helper()
		conn, err := dialHTTP2(t, address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return ask(t, conn, m.streamed()), connection(conn.LocalAddr().String(), conn.RemoteAddr())
	}},
	{"HTTP/3", true, func(t *testing.T, address string, m message) (string, string) {
		t.Helper()
		conn := dialHTTP3(t, address)
		return ask3(t, conn, m.streamed()), connection(conn.LocalAddr().String(), conn.RemoteAddr())
	}},
}

// place is a guarded site with one of the documented front-ends.
type place struct {
	name    string
	backend *backend
	last    string    // its directive behind the gateway
	at      [2]string // addresses: plain, and over TLS
}

// loginOnly is a site that lets through what TestHonestClients sends.
const loginOnly = "\trestwarden wordpress {\n\t\tlogin_only\n\t\tallow anyone POST /complianz/v1/track\n\t\tallow anyone GET /wp/v2/posts /wp/v2/posts/:id\n\t}\n\twitness\n"

// places runs a guarded site in front of each kind of back-end that the docs name
// (docs/guides/rewrites.md).
func places(t *testing.T, guard string) []*place {
	t.Helper()
	proxy, php, own, transport := newBackend(t), newFastCGI(t), newFastCGI(t), newFastCGI(t)
	root := scripts(t)
	all := []*place{
		{name: "reverse_proxy", backend: proxy, last: proxy.proxied()},
		{name: "php_fastcgi", backend: php, last: "\troot " + root + "\n\tphp_fastcgi " + php.address + "\n"},
		{name: "php_fastcgi with try_files", backend: own, last: "\troot " + root + "\n\tphp_fastcgi " + own.address + " {\n\t\ttry_files {path} index.php\n\t}\n"},
		{name: "transport fastcgi", backend: transport, last: "\treverse_proxy " + transport.address + " {\n\t\ttransport fastcgi {\n\t\t\troot " + root + "\n\t\t\tsplit .php\n\t\t}\n\t}\n"},
	}
	var sites []block
	for _, p := range all {
		sites = append(sites, block{Body: guard + p.last}, block{Secure: true, Body: "\ttls internal\n" + guard + p.last})
	}
	for i, address := range run(t, "", sites...) {
		all[i/2].at[i%2] = address
	}
	for _, p := range all { // until the certificates are there
		dialHTTP3(t, p.at[1])
	}
	return all
}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.String()
}

// attacks are what an attack ran by, and its relatives (docs/security-model.md).
// Most of them name the list of users.
func attacks() map[string]message {
	const (
		urlencoded = "content-type: application/x-www-form-urlencoded"
		withB      = "content-type: multipart/form-data; boundary=B"
		withZ      = "content-type: multipart/form-data; boundary=Z"
		users      = "rest_route=%2Fwp%2Fv2%2Fusers"
		consent    = "/wp-json/complianz/v1/track"
	)
	part := func(boundary, name string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n/wp/v2/users\r\n"
	}
	file := "--B\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nx--B\r\ny\r\n"
	long := strings.Repeat("B", 1100)
	blanks := strings.Repeat("%20", 30_000) + users
	all := map[string]message{
		"two types":                  {"POST", "/?_method=GET", []string{withB, withZ}, part("B", "rest_route") + "--B--\r\n", false},
		"two types, last fits":       {"POST", "/?_method=GET", []string{withZ, withB}, part("B", "rest_route") + "--B--\r\n", false},
		"two joined types":           {"POST", "/?_method=GET", []string{withZ + ", " + strings.TrimPrefix(withB, "content-type: ")}, part("B", "rest_route") + "--B--\r\n", false},
		"blanks":                     {"POST", "/?_method=GET", []string{urlencoded}, blanks, false},
		"blanks, no length":          {"POST", "/?_method=GET", []string{urlencoded}, blanks, true},
		"blanks, a call":             {"POST", consent + "?_method=POST", []string{urlencoded}, blanks, false},
		"long boundary":              {"POST", "/?_method=GET", []string{"content-type: multipart/form-data; boundary=" + long}, part(long, "rest_\x00x\r\nroute") + "--" + long + "--\r\n", false},
		"boundary in a file":         {"POST", "/?_method=GET", []string{withB}, file + part("B", "rest_\x00x\r\nroute") + "--B--\r\n", false},
		"boundary in a file, a call": {"POST", consent, []string{withB}, file + part("B", "rest_\x00x\r\nroute") + "--B--\r\n", false},
		"many parts":                 {"POST", "/?_method=GET", []string{withB}, strings.Repeat(part("B", "x"), 1010) + part("B", "rest_\x00x\r\nroute") + "--B--\r\n", false},
		"target with a scheme":       {"GET", "foo:wp-json/wp/v2/users", nil, "", false},
		"target with http":           {"GET", "http:wp-json/wp/v2/users", nil, "", false},
		"target with a slash":        {"GET", "foo:/wp-json/wp/v2/users", nil, "", false},
		"target with a host":         {"GET", "http://127.0.0.1/wp-json/wp/v2/users", nil, "", false},
		"cut at a #":                 {"GET", "/?rest_route=/wp/v2/users#&rest_route=0", nil, "", false},
		"gzip":                       {"POST", "/?_method=GET", []string{urlencoded, "content-encoding: gzip"}, gzipped(users), false},
		"gzip behind identity":       {"POST", "/?_method=GET", []string{urlencoded, "content-encoding: identity", "content-encoding: gzip"}, gzipped(users), false},
		"gzip, in parts":             {"POST", "/?_method=GET", []string{withB, "content-encoding: gzip"}, gzipped(part("B", "rest_route") + "--B--\r\n"), false},
		"PATH_INFO cut out":          {"GET", "/index.php/wp%2D/index.phpjson/wp/v2/users%0A/../../../../../index.php", nil, "", false},
		"PATH_INFO, no slash":        {"GET", "/index.phpwp-json/wp/v2/users", nil, "", false},
		"the script cut out":         {"GET", "/wp-/index.phpjson/wp/v2/users", nil, "", false},
		"an empty PATH_INFO":         {"GET", "/wp%2D/0json/wp/v2/users/x.php/0", nil, "", false},
		"type behind a blank":        {"POST", "/?_method=GET", []string{"content-type:  application/x-www-form-urlencoded"}, users, false},
		"type before a tab":          {"POST", "/?_method=GET", []string{urlencoded + "\t"}, users, false},
		"boundary before blanks":     {"POST", "/?_method=GET", []string{withB + " "}, part("B", "rest_route") + "--B--\r\n", false},
		"OAuth behind a blank":       {"GET", "/wp-json/wc/v3/orders", []string{"authorization: \u00a0OAuth oauth_nonce=x"}, "", false},
	}
	return all
}

// TestHoles: none of it reaches a back-end, on any protocol, behind any front-end.
func TestHoles(t *testing.T) {
	for _, at := range places(t, loginOnly) {
		for _, way := range protocols {
			for name, m := range attacks() {
				t.Run(at.name+"/"+way.name+"/"+name, func(t *testing.T) {
					address := at.at[map[bool]int{true: 1}[way.secure]]
					status, conn := way.send(t, address, m)
					seen := ledger.take(conn)
					// HTTP/2 and 3 end the stream themselves where the target is no path.
					ended := status == reset && way.secure && strings.HasPrefix(name, "target")
					if len(seen) > 0 || status[0] != '4' && !ended {
						t.Errorf("got %s, %d judged", status, len(seen))
					}
				})
			}
		}
		for _, a := range at.backend.rest() {
			t.Errorf("%s: reached the backend: %s %s", at.name, a.method, a.target)
		}
	}
}

// TestHoles_Doors: no update of a subscription through an order route reaches a
// back-end, on any protocol (docs/platform III).
func TestHoles_Doors(t *testing.T) {
	for _, at := range places(t, "\trestwarden wordpress\n\twitness\n")[:2] {
		for _, way := range protocols {
			for _, d := range doors.All() {
				if d.Kept {
					continue // it may reach it
				}
				d = d.At(7, subscription).In(names.WordPress)
				m := message{method: d.Method, target: d.Target, body: d.Body, headers: []string{"authorization: Basic YTpi"}}
				for _, h := range d.Headers {
					name, value, _ := strings.Cut(h, ": ")
					m.headers = append(m.headers, strings.ToLower(name)+": "+value)
				}
				status, conn := way.send(t, at.at[map[bool]int{true: 1}[way.secure]], m)
				if seen := ledger.take(conn); len(seen) > 0 || status != "400" {
					t.Errorf("%s/%s/%s: got %s, %d judged", at.name, way.name, d, status, len(seen))
				}
			}
		}
		for _, a := range at.backend.rest() {
			t.Errorf("%s: reached the backend: %s %s", at.name, a.method, a.target)
		}
	}
}

// clients are what browsers and API clients send.
func clients() map[string]struct {
	message
	kind, call string
} {
	const asJSON = "content-type: application/json"
	type client = struct {
		message
		kind, call string
	}
	return map[string]client{
		"page":              {message{"GET", "/about/", nil, "", false}, aPage, ""},
		"read":              {message{"GET", "/wp-json/wp/v2/posts", nil, "", false}, aCall, route},
		"read by variable":  {message{"GET", "/?rest_route=/wp/v2/posts", nil, "", false}, aCall, route},
		"read with {}":      {message{"GET", "/wp-json/wp/v2/posts", []string{asJSON}, "{}", false}, aCall, route},
		"read with a query": {message{"GET", "/wp-json/wp/v2/posts", []string{asJSON}, `{"per_page":5}`, true}, aCall, route},
		"read of one":       {message{"GET", "/wp-json/wp/v2/posts/5", []string{asJSON}, "{}", false}, aCall, "GET /wp/v2/posts/5"},
		"head":              {message{"HEAD", "/wp-json/wp/v2/posts", nil, "", false}, aCall, "HEAD /wp/v2/posts"},
		"consent":           {message{"POST", "/wp-json/complianz/v1/track", []string{asJSON}, `{"a":"b"}`, false}, aCall, "POST /complianz/v1/track"},
		"consent, chunked":  {message{"POST", "/wp-json/complianz/v1/track", []string{asJSON}, `{"a":"b"}`, true}, aCall, "POST /complianz/v1/track"},
		"form":              {message{"POST", "/contact/", []string{"content-type: application/x-www-form-urlencoded"}, "name=x", false}, aPage, ""},
		"empty form":        {message{"POST", "/contact/", nil, "", false}, aPage, ""},
		"upload":            {message{"POST", "/contact/", []string{"content-type: multipart/form-data; boundary=b"}, multipart("name", "x"), false}, aPage, ""},
		"beacon, encoded":   {message{"POST", "/beacon/", []string{asJSON, "content-encoding: gzip"}, gzipped("{}"), false}, aPage, ""},
		"preflight":         {message{"OPTIONS", "/wp-json/wp/v2/users", []string{"origin: https://other.example", "access-control-request-method: GET"}, "", false}, aCall, "OPTIONS /wp/v2/users"},
	}
}

// TestHonestClients: all of it passes, byte for byte, on any protocol, behind any
// front-end.
func TestHonestClients(t *testing.T) {
	for _, at := range places(t, loginOnly) {
		for _, way := range protocols {
			for name, c := range clients() {
				t.Run(at.name+"/"+way.name+"/"+name, func(t *testing.T) {
					address := at.at[map[bool]int{true: 1}[way.secure]]
					status, conn := way.send(t, address, c.message)
					p := passage{judged: ledger.take(conn)}
					for _, j := range p.judged {
						p.arrived = append(p.arrived, at.backend.take(j.n)...)
					}
					if name == "preflight" { // only its head comes back
						if len(p.arrived) != 1 || status != "200" {
							t.Errorf("got %s, %d arrived", status, len(p.arrived))
						}
						return
					}
					a := p.passed(t, c.kind, c.call)
					if status != "200" || a.body.String() != digestOf([]byte(c.body)).String() {
						t.Errorf("got %s, arrived %v", status, a.body)
					}
				})
			}
		}
	}
}
