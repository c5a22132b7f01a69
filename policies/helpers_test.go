package policies

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/store"
)

// platformFunc is a Backend that answers from a function and keeps the questions.
type platformFunc struct {
	answer func(Question) (*Answer, error)

	mu    sync.Mutex
	asked []Question
}

func (p *platformFunc) Ask(_ context.Context, q Question) (*Answer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	return p.answer(q)
}

func (p *platformFunc) questions() []Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Question(nil), p.asked...)
}

func answering(status int, body string) *platformFunc {
	return &platformFunc{answer: func(Question) (*Answer, error) { return jsonAnswer(status, body), nil }}
}

// routed answers by route and query of the question; unknown ones are 404 rest_no_route.
func routed(answers map[string]*Answer) *platformFunc {
	return &platformFunc{answer: func(q Question) (*Answer, error) {
		method := q.Method
		if method == "" {
			method = http.MethodGet
		}
		if a, ok := answers[method+" "+q.Route]; ok {
			return a, nil
		}
		return jsonAnswer(http.StatusNotFound, `{"code":"rest_no_route"}`), nil
	}}
}

func jsonAnswer(status int, body string) *Answer {
	return &Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
}

func failing(err error) *platformFunc {
	return &platformFunc{answer: func(Question) (*Answer, error) { return nil, err }}
}

func newSite(t testing.TB) *Site {
	t.Helper()
	p, _ := call.PlatformByName("wordpress")
	memory, err := store.NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	ids, err := NewIdentities(IdentityOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &Site{
		Platform: p, Prefix: p.Prefix, Release: new(Release), Store: memory, Identities: ids,
		Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
	}
}

// request reads raw lines "Name: value" as headers of a request to target.
func request(t testing.TB, s *Site, b Backend, method, target, body string, headers ...string) *Request {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, target, http.NoBody)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	c := call.NewReader(call.Site{
		Platform: s.Platform, Base: s.Base, Limits: call.Limits{Body: 1 << 20, Upload: 1 << 20, Spool: call.NewSpool(t.TempDir(), 1<<20)},
	}).Read(r, nil)
	t.Cleanup(c.Close)
	return &Request{Call: c, HTTP: r, Site: s, Backend: b, Client: netip.MustParseAddr("192.0.2.7")}
}

// provision prepares p for s, or fails the test.
func provision[P Policy](t testing.TB, s *Site, p P) P {
	t.Helper()
	if err := p.Provision(s); err != nil {
		t.Fatal(err)
	}
	return p
}

// line is an Option as the Caddyfile would give it.
func line(text string, block ...Option) Option {
	words := strings.Fields(text)
	return Option{Name: words[0], Args: words[1:], Block: block, Pos: "Caddyfile:7"}
}

func configure(t testing.TB, p Policy, options ...Option) {
	t.Helper()
	for _, o := range options {
		if err := p.Configure(o); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	basicAuth  = "Authorization: Basic YWRtaW46eHh4eA=="
	shopKey    = "Authorization: Basic Y2tfMTpjc18x"
	loginLine  = "Cookie: a=b; wordpress_logged_in_abc=admin%7C1; c=d"
	nonceLine  = "X-WP-Nonce: 0123456789"
	jsonType   = "Content-Type: application/json"
	formType   = "Content-Type: application/x-www-form-urlencoded"
	adminBody  = `{"id":1,"roles":["administrator"],"capabilities":{"manage_options":true,"edit_others_posts":true,"gone":false}}`
	clientBody = `{"id":5,"roles":["customer","subscriber"],"capabilities":{"read":true}}`
)

// brokenStore cannot remember anything.
type brokenStore struct{ store.Store }

func (brokenStore) Get(context.Context, string) (string, bool, error) {
	return "", false, store.ErrFull
}
func (brokenStore) Set(context.Context, string, string, time.Duration) error {
	return store.ErrFull
}
func (brokenStore) SetOnce(context.Context, string, time.Duration) (bool, error) {
	return false, store.ErrFull
}
func (brokenStore) Take(context.Context, string, store.Rate) (store.Taken, error) {
	return store.Taken{}, store.ErrFull
}
