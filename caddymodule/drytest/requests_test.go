package drytest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
)

// mixer makes the requests for one configuration.
type mixer struct {
	*rand.Rand
	platform *platform
	callers  map[string]caller
	names    []string // of the callers
	base     string
	hosts    []string // "https://shop.example.com"
	secure   bool     // some of the sites are over TLS
	sent     int
	made     []*request
}

// nextClient is an address that no other request of this run of Caddy has.
func (m *mixer) nextClient() string {
	m.sent++
	return net.IPv4(127, byte(1+m.sent>>16), byte(m.sent>>8), byte(m.sent)).String()
}

var ownCredentials = regexp.MustCompile(`(?im)^(?:authorization|cookie)\s*:|consumer_key|oauth_`)

// add adds a request of raw bytes, from a caller. Requests that bring credentials of their
// own come from nobody whom the platform knows.
func (m *mixer) add(name string, raw []byte, as string) {
	at := m.hosts[m.IntN(len(m.hosts))]
	m.addTo(at, name, raw, as)
}

func (m *mixer) addTo(at, name string, raw []byte, as string) {
	scheme, host, _ := strings.Cut(at, "://")
	stranger := ownCredentials.Match(raw)
	if stranger {
		as = "anonymous"
	}
	first, rest, _ := bytes.Cut(raw, []byte("\r\n"))
	head, body, _ := bytes.Cut(rest, []byte("\r\n\r\n"))
	first, head = bytes.ReplaceAll(first, []byte("127.0.0.1:8080"), []byte(host)), bytes.ReplaceAll(head, []byte("127.0.0.1:8080"), []byte(host))
	with := func(headers ...string) []byte {
		return fmt.Appendf(nil, "%s\r\n%s\r\n%s\r\n\r\n%s", first, strings.Join(append(headers, mark+": 1"), "\r\n"), head, body)
	}
	r := &request{name: name, raw: with(m.callers[as].header...), bare: with(), stranger: stranger, secure: scheme == "https", port: "80", host: host, as: as, client: m.nextClient()}
	if r.secure {
		r.port = "443"
	}
	m.made = append(m.made, r)
}

func (m *mixer) anyone() string { return m.names[m.IntN(len(m.names))] }

// recorded adds a share of the recordings; 1 is all of them.
func (m *mixer) recorded(all []*recordings.Recording, share float64) {
	for _, r := range all {
		if r.Base() == m.base && m.Float64() < share {
			m.add(r.ID, r.Raw, m.anyone())
		}
	}
}

// plain builds the bytes of an ordinary request. Its host is that of the recordings, which
// the host of a site replaces.
func plain(line, body string, headers ...string) []byte {
	return bytes.Replace(rawhttp.Bytes(line, body, headers...), []byte("Host: 127.0.0.1\r\n"), []byte("Host: 127.0.0.1:8080\r\n"), 1)
}

// throughDoors adds every door, or a share of them, for those who may write orders.
func (m *mixer) throughDoors(share float64) {
	sub := m.platform.info.Subscriptions[0]
	for _, d := range doors.All() {
		for _, as := range []string{"role:editor", "role:shop_manager", "key"} {
			d := d.At(m.callers[as].order, sub).In("wordpress")
			if m.Float64() < share {
				m.add("door "+d.String(), plain(d.Method+" "+m.base+d.Target, d.Body, d.Headers...), as)
			}
		}
	}
}

// ordinary adds the table of calls for every caller.
func (m *mixer) ordinary(share float64) {
	for _, as := range m.names {
		ids := strings.NewReplacer("<order>", strconv.Itoa(m.callers[as].order), "<sub>", strconv.Itoa(m.platform.info.Subscriptions[0]))
		for _, c := range calls {
			if m.Float64() >= share {
				continue
			}
			line, body := ids.Replace(c.line), ids.Replace(c.body)
			method, target, _ := strings.Cut(line, " ")
			headers := c.headers
			switch {
			case strings.HasPrefix(body, "{"):
				headers = append([]string{"Content-Type: " + client.JSON}, headers...)
			case body != "":
				headers = append([]string{"Content-Type: " + client.Form}, headers...)
			}
			m.add(c.line, plain(method+" "+m.base+target, body, headers...), as)
		}
	}
	m.signed()
	for _, at := range []string{"https://nobody.example.net", "http://shop.example.com", "http://nobody.example.net", "https://shop.example.com"} {
		if !m.secure && strings.HasPrefix(at, "https") {
			continue // nothing listens there
		}
		m.addTo(at, "another host or scheme", plain("GET "+m.base+"/wp-json/wp/v2/users", ""), "anonymous")
		m.addTo(at, "another host or scheme", plain("GET /", ""), "anonymous")
	}
}

// signed adds signed calls, some of them wrong. No two have one signature.
func (m *mixer) signed() {
	const route, body = "/cookie/v1/store-auth", `{"a":1}`
	stamp := time.Now().Unix()
	for i, c := range []struct{ key, route, body, stamp string }{
		{m.platform.info.Keys.CookiePlugin, route, body, ""},
		{"wrong", route, body, ""},
		{m.platform.info.Keys.CookiePlugin, route + "x", body, ""},
		{m.platform.info.Keys.CookiePlugin, route, "{}", ""},
		{m.platform.info.Keys.CookiePlugin, route, body, strconv.FormatInt(stamp-3600, 10)},
		{m.platform.info.Keys.CookiePlugin, route, body, "soon"},
	} {
		at := c.stamp
		if at == "" {
			at = strconv.FormatInt(stamp-int64(i), 10)
		}
		sum := sha256.Sum256([]byte(c.body))
		for _, text := range []string{at, strings.Join([]string{at, "POST", c.route, hex.EncodeToString(sum[:])}, "\n")} {
			mac := hmac.New(sha256.New, []byte(c.key))
			mac.Write([]byte(text))
			headers := []string{"Content-Type: " + client.JSON, "X-Timestamp: " + at, "X-Signature: " + hex.EncodeToString(mac.Sum(nil))}
			m.add("signed "+text, plain("POST "+m.base+"/wp-json"+route, body, headers...), m.names[i%len(m.names)])
		}
	}
}

// mixed returns the requests for a configuration.
func mixed(t *testing.T, c *config, p *platform, seed uint64, all []*recordings.Recording, share float64) *mixer {
	t.Helper()
	m := &mixer{Rand: rand.New(rand.NewPCG(seed, uint64(len(c.caddyfile)))), platform: p, callers: p.callers(), base: c.base(), hosts: c.hosts()}
	for name, scope := range c.scopes {
		who := m.callers[name]
		if who.as.Scope = scope; who.as.Kind == dryrun.Key {
			who.as.Kind = dryrun.OfScope
		}
		m.callers[name] = who
	}
	m.secure = slices.ContainsFunc(m.hosts, func(at string) bool { return strings.HasPrefix(at, "https") })
	if len(m.hosts) == 0 {
		t.Fatalf("no host in\n%s", c.caddyfile)
	}
	for name := range m.callers {
		m.names = append(m.names, name)
	}
	slices.Sort(m.names)
	m.ordinary(min(1, 0.1+share*2))
	m.throughDoors(min(1, share))
	m.recorded(all, share)
	return m
}

type call struct {
	line, body string
	headers    []string
}

const preflight = "Access-Control-Request-Method: POST"

// calls are what clients ask for; <order> and <sub> are records.
var calls = []call{
	{line: "GET /"},
	{line: "GET /about/"},
	{line: "GET /index.php"},
	{line: "GET /style.css"},
	{line: "GET /health"},
	{line: "GET /healthz"},
	{line: "GET /closed"},
	{line: "GET /gone"},
	{line: "GET /error"},
	{line: "GET /staff/x"},
	{line: "GET /old"},
	{line: "GET /api/wp/v2/users"},
	{line: "GET /users"},
	{line: "GET /de/wp-json/wp/v2/users"},
	{line: "GET /internal/wp-json/wp/v2/users"},
	{line: "GET /shop/wp-json/wp/v2/users"},
	{line: "GET /blog/wp-json/wp/v2/users"},
	{line: "POST /wp-login.php", body: "log=a&pwd=b"},
	{line: "POST /wp-admin/admin-ajax.php", body: "action=a"},
	{line: "POST /wp-admin/admin-ajax.php", body: "action=a&rest_route=/wp/v2/users"},
	{line: "GET /wp-json"},
	{line: "GET /wp-json/"},
	{line: "GET /?rest_route=/"},
	{line: "GET /wp-json/wp/v2"},
	{line: "GET /wp-json/wp/v2/users"},
	{line: "HEAD /wp-json/wp/v2/users"},
	{line: "GET /wp-json/wp/v2/users/1"},
	{line: "GET /wp-json/wp/v2/users/me"},
	{line: "GET /?rest_route=/wp/v2/users"},
	{line: "GET /style.css?rest_route=/wp/v2/users"},
	{line: "GET /index.php?rest_route=/wp/v2/users"},
	{line: "POST /", body: "rest_route=/wp/v2/users"},
	{line: "GET /wp-json/wp/v2/users", headers: []string{"X-Skip: 1"}},
	{line: "GET /wp-json/wp/v2/users", headers: []string{"X-Staff-Token: a"}},
	{line: "GET /wp-json/wp/v2/posts"},
	{line: "GET /wp-json/wp/v2/posts?lang=de"},
	{line: "GET /wp-json/wp/v2/posts/11"},
	{line: "GET /wp-json/wp/v2/posts?author_exclude=1"},
	{line: "POST /wp-json/wp/v2/posts", body: `{"title":"a"}`},
	{line: "DELETE /wp-json/wp/v2/posts/11"},
	{line: "POST /wp-json/wp/v2/media", body: "x", headers: []string{"Content-Disposition: attachment; filename=a.png"}},
	{line: "GET /wp-json/wp/v2/settings"},
	{line: "GET /wp-json/wp/v2/users?_method=POST"},
	{line: "POST /wp-json/wp/v2/users", headers: []string{"X-HTTP-Method-Override: GET"}},
	{line: "OPTIONS /wp-json/wp/v2/posts"},
	{line: "OPTIONS /wp-json/wp/v2/posts", headers: []string{"Origin: https://app.example", preflight}},
	{line: "GET /wp-json/wc/v3/orders"},
	{line: "GET /wp-json/wc/v3/orders/<order>"},
	{line: "GET /?rest_route=/wc/v3/orders"},
	{line: "GET /wp-json/wc/v3/reports/sales"},
	{line: "PUT /wp-json/wc/v3/orders/<order>", body: `{"status":"completed"}`},
	{line: "PUT /wp-json/wc/v3/orders/<sub>", body: `{"status":"completed"}`},
	{line: "PUT /wp-json/wc/v3/orders/999999", body: `{"status":"completed"}`},
	{line: "PUT /wp-json/wc/v3/orders/0", body: `{}`},
	{line: "PUT /?rest_route=/wc/v3/orders/<order>", body: `{}`},
	{line: "PUT /wp-json/wc/v3/subscriptions/<sub>", body: `{}`},
	{line: "POST /wp-json/wc/v3/orders", body: `{"status":"pending"}`},
	{line: "DELETE /wp-json/wc/v3/orders/<sub>"},
	{line: "POST /wp-json/wc/v3/orders/batch", body: `{"update":[{"id":<order>},{"id":<sub>}]}`},
	{line: "POST /wp-json/wc/v3/orders/batch", body: `{"update":[{"id":<order>}]}`},
	{line: "POST /wp-json/wc/v3/orders/<order>/refunds", body: `{"amount":"1.00"}`},
	{line: "POST /wp-json/wc/v3/orders/<order>/refunds", body: `{"line_items":[{"id":1,"quantity":1}]}`},
	{line: "POST /wp-json/batch/v1", body: `{"requests":[{"method":"POST","path":"/wp/v2/posts","body":{"title":"a"}},{"method":"DELETE","path":"/wp/v2/posts/11"}]}`},
	{line: "POST /wp-json/batch/v1", body: `{"requests":[{"method":"POST","path":"/wp/v2/posts"}]}`},
	{line: "POST /wp-json/batch/v1", body: `{"requests":[]}`},
	{line: "GET /wp-json/wc/store/v1/cart"},
	{line: "POST /wp-json/wc/store/v1/cart/add-item", body: `{"id":1,"quantity":1}`},
	{line: "POST /wp-json/wc/store/v1/checkout", body: `{"billing_address":{}}`},
	{line: "POST /wp-json/wc/store/v1/checkout", body: `{"expected_total":1}`},
	{line: "POST /wp-json/wc/store/v1/batch", body: `{"requests":[{"method":"POST","path":"/wc/store/v1/cart/add-item"}]}`},
	{line: "POST /wp-json/complianz/v1/track", body: `{"a":1}`},
	{line: "POST /wp-json/wc-stripe/v1/webhook", body: `{"a":1}`},
	{line: "GET /wp-json/wc-stripe/v1/webhook"},
	{line: "POST /wp-json/paypal/v1/incoming/x"},
	{line: "POST /wp-json/cookie/v1/store-auth", body: `{"a":1}`},
	{line: "GET /wp-json/wc-admin/options"},
	{line: "GET /wp-json/wc-analytics/admin/notes"},
	{line: "GET /wp-json/old-plugin/v1/x"},
	{line: "POST /wp-json/contact-form-7/v1/contact-forms/5/feedback", body: "a=b"},
	{line: "GET /wp-json/contact-form-7/v1/contact-forms/5/refill"},
	{line: "GET /wp-json/bookings/v1/x"},
	{line: "GET /wp-json/wp-abilities/v1/abilities"},
	{line: "POST /wp-json/wp-abilities/v1/abilities/core/get-site-info/run", body: `{"input":{}}`},
	{line: "POST /wp-json/wp-abilities/v1/abilities/shop/order-refund/run", body: `{"input":{}}`},
	{line: "GET /wp-json/feed/troubleshooting"},
	{line: "POST /wp-json/feed/upload-logo", body: "x"},
	{line: "GET /wp-json/forbidden/x"},
	{line: "POST /wp-json/woocommerce/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
	{line: "GET /cms-json/cms/v2/users"},
	{line: "GET /wp-json/wp/v2/users", headers: []string{"Authorization: Basic YTpi"}},
	{line: "GET /wp-json/wp/v2/users", headers: []string{"Cookie: staff_session=a"}},
	{line: "GET /wp-json/wp/v2/posts", headers: []string{"Cookie: wordpress_logged_in_0=a%7C1%7Cb%7Cc", "X-WP-Nonce: a"}},
	{line: "GET /wp-json/wp/v2/users?rest_route=/wp/v2/posts"},
	{line: "GET /wp-json/wp/v2//users"},
	{line: "POST /wp-json/wp/v2/posts", body: `{"title":"` + strings.Repeat("x", 3000) + `"}`},
	{line: "POST /wp-json/wp/v2/posts", body: "title=a", headers: []string{"Content-Encoding: gzip"}},
}
