package policies

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/store"
)

func newSite(tb testing.TB) *Site {
	tb.Helper()
	p, _ := call.PlatformByName("wordpress")
	memory, err := store.NewMemory()
	if err != nil {
		tb.Fatal(err)
	}
	ids, err := caller.NewIdentities(caller.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s := &Site{Site: caller.NewSite(p, caller.Own{}), Release: new(Release)}
	s.Indexes = new(hosts.Table[*index.Index])
	s.Indexes.Put("example.com", index.New([]string{"/"}, []string{p.Core, p.Shop[2]}))
	s.Store, s.Identities, s.Now = memory, ids, func() time.Time { return time.Unix(1_800_000_000, 0) }
	return s
}

// request reads raw lines "Name: value" as headers of a request to target.
func request(tb testing.TB, s *Site, b ask.Backend, method, target, body string, headers ...string) *Request {
	tb.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, target, http.NoBody)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	c := caller.NewReader(call.Site{
		Platform: s.Platform, Headers: []string{"X-Signature", "X-Timestamp"}, Base: s.Base, Limits: call.Limits{Body: 1 << 20, Upload: 1 << 20, Spool: call.NewSpool(tb.TempDir(), 16<<20)},
	}).Read(r, nil)
	tb.Cleanup(c.Close)
	whole := &caller.Whole{Site: s.Site, Call: c, HTTP: r, Backend: b, Client: netip.MustParseAddr("192.0.2.7")}
	return &Request{Whole: whole, Call: c, Site: s}
}

// provision prepares p for s as one that is named or not, or fails the test.
func provision[P Policy](tb testing.TB, s *Site, p P, settings ...Settings) P {
	tb.Helper()
	if err := provisionError(s, p, settings...); err != nil {
		tb.Fatal(err)
	}
	return p
}

func provisionError(s *Site, p Policy, settings ...Settings) error {
	if d, ok := p.(Declarer); ok {
		if err := d.Declare(s); err != nil {
			return err
		}
	}
	if p, ok := p.(Provisioner); ok {
		return p.Provision(s, append(settings, Settings{})[0])
	}
	return nil
}

// line is an Option as the Caddyfile would give it.
func line(text string, block ...Option) Option {
	words := strings.Fields(text)
	return Option{Name: words[0], Args: words[1:], Block: block, Pos: "Caddyfile:7"}
}

func configure(tb testing.TB, p Policy, options ...Option) {
	tb.Helper()
	for _, o := range options {
		if err := p.(Configurer).Configure(o); err != nil {
			tb.Fatal(err)
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

func (brokenStore) GetAll(context.Context, ...string) (map[string]string, error) {
	return nil, store.ErrFull
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

// linked is a policy in a chain.
func linked(name string, p Policy, settings ...Settings) *Configured {
	return &Configured{Entry: Entry{Name: name}, Policy: p, Settings: append(settings, Settings{})[0]}
}

// alone is a chain of one policy.
func alone(name string, p Policy) *Chain { return Link(nil, "", linked(name, p)) }

// readsEntry is the policy call in a catalog.
var readsEntry = Entry{Name: "call", Words: []string{"call"}, Default: true, New: func() Policy { return reads{} }}

type reads struct{}

// CheckReading implements ReadingChecker.
func (reads) CheckReading(r *Request) (Verdict, error) { return CheckReading(r) }

// GuardsReading implements ReadingGuard of package review.
func (reads) GuardsReading() bool { return true }

// guardedBy is what the policy call and those of a catalog make of lines for s.
func guardedBy(tb testing.TB, s *Site, catalog []Entry, options ...Option) *Chain {
	tb.Helper()
	if catalog[0].Name != "call" {
		catalog = append([]Entry{readsEntry}, catalog...)
	}
	configured := map[string]*Configured{}
	for _, o := range options {
		i := slices.IndexFunc(catalog, func(e Entry) bool { return slices.Contains(e.Words, o.Name) })
		if i < 0 {
			tb.Fatalf("no policy takes %s", o.Name)
		}
		e := catalog[i]
		if configured[e.Name] == nil {
			configured[e.Name] = NewConfigured(e)
		}
		if err := configured[e.Name].Configure(o); err != nil {
			tb.Fatal(err)
		}
	}
	c, err := NewChainOf(catalog, Entry{}, s, Enforce, configured)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// forget makes r a request that nobody has judged.
func forget(r *Request) {
	w := r.Whole
	*w = caller.Whole{Site: w.Site, Call: w.Call, HTTP: w.HTTP, Client: w.Client, Secure: w.Secure, Backend: w.Backend}
	r.Matched, r.MustSign = Match{}, false
}

// codes are the codes and lines of what is odd: "W04:3".
func codes(odd []Odd) string {
	var list []string
	for _, o := range odd {
		_, line, _ := strings.Cut(o.At, ":")
		list = append(list, o.Code+":"+line)
	}
	return strings.Join(list, " ")
}

func drawMethods(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{nil, {"GET"}, {"HEAD"}, {"POST"}, {"GET", "POST"}, {"POST", "DELETE"}, knownMethods}).Draw(t, "methods")
}
