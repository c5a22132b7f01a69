package caller

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/store"
)

func newSite(tb testing.TB, own ...Own) *Site {
	tb.Helper()
	p, _ := platforms.ByName("wordpress")
	memory, err := store.NewMemory()
	if err != nil {
		tb.Fatal(err)
	}
	ids, err := NewIdentities(Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s := NewSite(p, append(own, Own{})[0])
	s.Store, s.Identities, s.Now = memory, ids, func() time.Time { return time.Unix(1_800_000_000, 0) }
	return s
}

// request reads raw lines "Name: value" as headers of a request to target.
func request(tb testing.TB, s *Site, b ask.Backend, method, target, body string, headers ...string) *Whole {
	tb.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, target, http.NoBody)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	c := call.NewReader(call.Config{
		Platform: s.Platform, Limits: call.Limits{Body: 1 << 20, Upload: 1 << 20, Spool: budget.NewSpool(tb.TempDir(), 1<<20)},
	}).Read(r, nil)
	tb.Cleanup(c.Close)
	client := netip.MustParseAddr("192.0.2.7")
	return &Whole{Site: s, Call: c, HTTP: r, Backend: b, Client: client, Holder: budget.Holder{Client: client}}
}

// again returns the same request before any question.
func (w *Whole) again() *Whole {
	return &Whole{Site: w.Site, Call: w.Call, HTTP: w.HTTP, Client: w.Client, Holder: w.Holder, Secure: w.Secure, Backend: w.Backend}
}

const (
	basicAuth = "Authorization: Basic YWRtaW46eHh4eA=="
	shopKey   = "Authorization: Basic Y2tfMTpjc18x"
	loginLine = "Cookie: a=b; wordpress_logged_in_abc=admin%7C1; c=d"
	nonceLine = "X-WP-Nonce: 0123456789"
	jsonType  = "Content-Type: application/json"
	formType  = "Content-Type: application/x-www-form-urlencoded"
	adminBody = `{"id":1,"roles":["administrator"],"capabilities":{"manage_options":true,"edit_others_posts":true,"gone":false}}`
)
