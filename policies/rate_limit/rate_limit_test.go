package ratelimit

import (
	"encoding/base64"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

const consent = "/wp-json/complianz/v1/track"

func limited(tb testing.TB, s *policy.Site, text string) *RateLimits {
	p := new(RateLimits)
	policytest.Configure(tb, p, policytest.Line(text))
	return policytest.Provision(tb, s, p)
}

// passes counts how many of n calls pass.
func passes(t *testing.T, p *RateLimits, n int, call func(i int) *policy.Request) (passed int) {
	t.Helper()
	for i := range n {
		v, err := p.Check(t.Context(), call(i))
		if err != nil {
			t.Fatal(err)
		}
		if !v.Refused() {
			passed++
		}
	}
	return passed
}

func TestRateLimit_WhoIsOneClient(t *testing.T) {
	from := func(address string) func(*policy.Request) {
		return func(r *policy.Request) { r.Client = netip.MustParseAddr(address) }
	}
	unknown := func(r *policy.Request) { r.Client = netip.Addr{} }
	with := func(name, value string) func(*policy.Request) {
		return func(r *policy.Request) { r.HTTP.Header.Set(name, value) }
	}
	host := func(h string) func(*policy.Request) { return func(r *policy.Request) { r.HTTP.Host = h } }
	session := func(cookie string) func(*policy.Request) {
		return func(r *policy.Request) {
			r.HTTP.Header.Set("Cookie", "wordpress_logged_in_abc=admin%7C1; "+cookie)
			r.HTTP.Header.Set("X-Wp-Nonce", "1")
		}
	}
	for name, test := range map[string]struct {
		per    string
		a, b   func(*policy.Request)
		shared bool
	}{
		"one address":                 {"address", from("192.0.2.1"), from("192.0.2.1"), true},
		"two addresses":               {"address", from("192.0.2.1"), from("192.0.2.2"), false},
		"one IPv6 network":            {"address", from("2001:db8::1"), from("2001:db8::ffff:2"), true},
		"no address":                  {"address", unknown, unknown, true},
		"no address, caller":          {"caller", unknown, unknown, true},
		"no address and one":          {"address", unknown, from("192.0.2.1"), false},
		"two IPv6 networks":           {"address", from("2001:db8:0:1::1"), from("2001:db8:0:2::1"), false},
		"IPv4 in IPv6":                {"address", from("192.0.2.1"), from("::ffff:192.0.2.1"), true},
		"other credentials, address":  {"address", with("Authorization", "Basic eA=="), with("Authorization", "Basic eQ=="), true},
		"one key":                     {"key", with("Authorization", "Basic eA=="), with("Authorization", "Basic eA=="), true},
		"one user, two passwords":     {"key", with("Authorization", "Basic eA=="), with("Authorization", "Basic eQ=="), true},
		"one user, two cookies":       {"key", session("x=1"), session("x=1; wordpress_x=2"), true},
		"one key, two nonces":         {"key", with("X-WP-Nonce", "1"), with("X-WP-Nonce", "2"), true},
		"one key, two hosts' ports":   {"key", host("shop.example:1"), host("shop.example:2"), true},
		"no key, two addresses":       {"key", from("192.0.2.1"), from("192.0.2.2"), false},
		"one caller, two passwords":   {"caller", with("Authorization", "Basic eA=="), with("Authorization", "Basic eQ=="), true},
		"a caller and nobody":         {"caller", with("Authorization", "Basic eA=="), from("192.0.2.7"), false},
		"one site, two ports":         {"address", host("shop.example:1"), host("Shop.example:2"), true},
		"whatever host is asked for":  {"address", host("shop.example"), host("made.up"), true},
		"one site, final dot in host": {"address", host("shop.example"), host("shop.example."), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := limited(t, s, "rate_limit 4/1m per "+test.per+" POST /complianz/v1/track")
			backend := asktest.Answering(200, policytest.AdminBody)
			n := passes(t, p, 10, func(i int) *policy.Request {
				r := policytest.Request(t, s, backend, "POST", consent, "")
				if strings.HasPrefix(name, "one key, ") {
					r.HTTP.Header.Set("Authorization", "Basic eA==")
				}
				[]func(*policy.Request){test.a, test.b}[i%2](r)
				return r
			})
			if want := map[bool]int{true: 4, false: 8}[test.shared]; n != want {
				t.Errorf("%d of 10 calls passed, want %d", n, want)
			}
		})
	}
}

// TestRateLimit_Keys: a shop key is one client, however a request spells it. A key that
// the shop would have to clean counts by address.
func TestRateLimit_Keys(t *testing.T) {
	basic := func(text string) []string {
		return []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(text))}
	}
	type sent struct {
		query   string
		headers []string
	}
	for name, test := range map[string]struct {
		a, b   sent
		passed int
	}{
		"one key":             {sent{"", basic("ck_a:cs")}, sent{"", basic("ck_a:cs")}, 4},
		"two keys":            {sent{"", basic("ck_a:cs")}, sent{"", basic("ck_b:cs")}, 8},
		"blanks behind Basic": {sent{"", []string{"Authorization: Basic   Y2tfYTpjcw=="}}, sent{"", []string{"Authorization: basic Y2tfYTpjcw"}}, 4},
		"junk in base64":      {sent{"", []string{"Authorization: Basic Y2t.fYTp\u00a0jcw=="}}, sent{"", basic("ck_a:cs")}, 4},
		"header and query":    {sent{"?consumer_key=ck_a&consumer_secret=cs", nil}, sent{"", basic("ck_a:cs")}, 4},
		"the query counts":    {sent{"?consumer_key=ck_a&consumer_secret=cs", basic("ck_b:cs")}, sent{"", basic("ck_a:cs")}, 4},
		"beside a password":   {sent{"?consumer_key=ck_a&consumer_secret=x", basic("admin:pw")}, sent{"?consumer_key=ck_b&consumer_secret=x", basic("admin:pw")}, 4},
		"beside a login":      {sent{"?consumer_key=ck_a&consumer_secret=x", []string{policytest.LoginLine}}, sent{"?consumer_key=ck_b&consumer_secret=x", []string{policytest.LoginLine}}, 4},
		"another cookie":      {sent{"", append(basic("ck_a:cs"), "Cookie: wordpress_x=1")}, sent{"", append(basic("ck_a:cs"), "Cookie: wordpress_x=2")}, 4},
		"cleaned by the shop": {sent{"?consumer_key=ck_a%20&consumer_secret=cs", nil}, sent{"?consumer_key=ck_a%2520&consumer_secret=cs", nil}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			p := limited(t, s, "rate_limit 4/1m per key GET /wc/v3/**")
			backend := asktest.Answering(200, "[]")
			n := passes(t, p, 10, func(i int) *policy.Request {
				m := []sent{test.a, test.b}[i%2]
				return policytest.Request(t, s, backend, "GET", "/wp-json/wc/v3/orders"+m.query, "", m.headers...)
			})
			if n != test.passed {
				t.Errorf("%d of 10 calls passed, want %d", n, test.passed)
			}
		})
	}
}

func TestRateLimit_Targets(t *testing.T) {
	s := policytest.NewSite(t)
	p := limited(t, s, "rate_limit 2/1m POST /complianz/v1/track")
	for path, method := range map[string]string{consent: "GET", "/wp-json/complianz/v1/other": "POST"} {
		if n := passes(t, p, 5, func(int) *policy.Request { return policytest.Request(t, s, nil, method, path, "") }); n != 5 {
			t.Errorf("%s %s: %d passed", method, path, n)
		}
	}
	n := passes(t, p, 6, func(i int) *policy.Request {
		target := []string{consent, "/?rest_route=/complianz/v1/track", "/wp-json/complianz/v1/track?_method=POST"}[i%3]
		return policytest.Request(t, s, nil, "POST", target, "")
	})
	if n != 2 {
		t.Errorf("%d spellings of one call passed", n)
	}
}

// TestRateLimit_Header: answers carry the quota of the limit with the least remaining.
func TestRateLimit_Header(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(RateLimits)
	policytest.Configure(t, p, policytest.Line("rate_limit 10/1m POST /complianz/v1/track"), policytest.Line("rate_limit 3/1h POST /complianz/**"))
	policytest.Provision(t, s, p)
	for i, want := range []string{"2", "1", "0"} {
		r := policytest.Request(t, s, nil, "POST", consent, "")
		if v, err := p.Check(t.Context(), r); v.Refused() || err != nil {
			t.Fatal(v, err)
		}
		if p.Rewrites(r) != policy.RewriteHeader {
			t.Fatal("the answer is not touched")
		}
		a := &ask.Answer{Header: http.Header{}}
		if err := p.Rewrite(r, a); err != nil {
			t.Fatal(err)
		}
		if h := a.Header; h.Get("RateLimit-Limit") != "3" || h.Get("RateLimit-Remaining") != want || h.Get("RateLimit-Reset") == "" {
			t.Errorf("call %d: %v", i+1, h)
		}
	}
	r := policytest.Request(t, s, nil, "POST", consent, "")
	v, err := p.Check(t.Context(), r)
	if err != nil || v.Status != http.StatusTooManyRequests || v.Header.Get("Retry-After") == "" || v.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("%+v, %v", v, err)
	}
	if other := policytest.Request(t, s, nil, "GET", "/wp-json/wp/v2/posts", ""); p.Rewrites(other) != policy.RewriteNothing {
		t.Error("the answer to an unlimited call is touched")
	}
}

// TestRateLimit_RotatingAddresses: memory is bounded for any number of addresses.
func TestRateLimit_RotatingAddresses(t *testing.T) {
	s := policytest.NewSite(t)
	p := limited(t, s, "rate_limit 1/1h POST /complianz/v1/track")
	r := policytest.Request(t, s, nil, "POST", consent, "")
	before := heap.Live()
	var half int64
	const n = 4 * store.CounterCapacity
	for i := range n {
		if i == n/2 {
			half = heap.Live()
		}
		r.Client = netip.AddrFrom4([4]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
		if v, err := p.Check(t.Context(), r); v.Refused() || err != nil {
			t.Fatal(v, err)
		}
	}
	if grown := heap.Live() - half; grown > (half-before)/2 {
		t.Errorf("%d bytes for the first half, %d for the second", half-before, grown)
	}
	if v, err := p.Check(t.Context(), r); !v.Refused() || err != nil {
		t.Error("the last address is forgotten")
	}
}

func BenchmarkRateLimit(b *testing.B) {
	s := policytest.NewSite(b)
	p := limited(b, s, "rate_limit 1000000000/1h POST /complianz/v1/track")
	r := policytest.Request(b, s, nil, "POST", consent, "")
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Check(b.Context(), r); err != nil || v.Refused() {
			b.Fatal(v, err)
		}
	}
}

func TestRateLimits_BadConfiguration(t *testing.T) {
	p := new(RateLimits)
	policytest.Configure(t, p, policytest.Line("rate_limit 10/1d /x"), policytest.Line("rate_limit 10/1d /y"))
	if err := p.Configure(policytest.Line("rate_limit 10/1d /x")); err == nil || !strings.Contains(err.Error(), "already specified") {
		t.Errorf("a limit that stands twice: %v", err)
	}
	for _, text := range []string{"10/d", "10/1x", "010/1m", "0/1m", "10", "1.5/1m", "10/-1d", "10/70000d"} {
		if err := p.Configure(policytest.Line("rate_limit " + text + " /z")); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if r, err := policy.ParseRate("3/1d12h"); err != nil || r.Per != 36*time.Hour || r.Count != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// BenchmarkLimiter is the bound on the questions of one address, with many addresses.
func BenchmarkLimiter(b *testing.B) {
	l, err := store.NewLimiter(store.Rate{Count: 120, Per: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = caller.AddressKey(netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		l.Allow(keys[i%len(keys)])
		i++
	}
}

func TestRateLimits(t *testing.T) {
	s := policytest.NewSite(t)
	p := new(RateLimits)
	policytest.Configure(t, p, policytest.Line("rate_limit 2/1h POST /complianz/v1/track"), policytest.Line("rate_limit 1/1h per caller /report/**"), policytest.Line("rate_limit 1/1h per key /keyed/**"))
	policytest.Provision(t, s, p)
	status := func(method, target string, headers ...string) int {
		t.Helper()
		v, err := p.Check(t.Context(), policytest.Request(t, s, asktest.Answering(200, policytest.AdminBody), method, target, "", headers...))
		if err != nil {
			t.Fatal(err)
		}
		if v.Refused() && (v.Code != policy.CodeTooMany || v.Header.Get("Retry-After") == "" || v.Header.Get("RateLimit-Limit") == "" || v.Rule == "") {
			t.Errorf("refusal %+v", v)
		}
		return v.Status
	}
	for i, want := range []int{0, 0, 429, 429} {
		if got := status("POST", "/wp-json/complianz/v1/track"); got != want {
			t.Errorf("call %d: %d, want %d", i+1, got, want)
		}
	}
	if got := status("GET", "/wp-json/complianz/v1/track"); got != 0 {
		t.Errorf("another method is limited: %d", got)
	}
	if a, b := status("GET", "/wp-json/report/x", policytest.BasicAuth), status("GET", "/wp-json/report/y", policytest.LoginLine, policytest.NonceLine); a != 0 || b != 429 {
		t.Errorf("two credentials of one caller: %d, %d", a, b)
	}
	if a, b, c := status("GET", "/wp-json/keyed/x", policytest.BasicAuth), status("GET", "/wp-json/keyed/x", "Authorization: Basic x"), status("GET", "/wp-json/keyed/x", policytest.BasicAuth); a != 0 || b != 429 || c != 429 {
		t.Errorf("two passwords of one user: %d, %d, %d", a, b, c)
	}
	for _, text := range []string{
		"rate_limit ten/1m /x", "rate_limit 10 /x", "rate_limit 10/1m", "rate_limit 0/1m /x", "rate_limit 10/0s /x", "rate_limit 10/1m per",
		"rate_limit 10/1m per moon /x", "rate_limit -1/1m /x", "rate_limit 1.5/1m /x", "rate_limit 10/1m x",
	} {
		if err := new(RateLimits).Configure(policytest.Line(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
