// Package policytest has what tests of policies share: a site, requests to it, a backend that answers as a
// shop or lists abilities, and chains.
package policytest

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
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/store"
)

// NewSite returns a site of WordPress with a memory of its own, at 1800000000.
func NewSite(tb testing.TB) *policy.Site {
	tb.Helper()
	p, _ := platforms.ByName("wordpress")
	memory, err := store.NewMemory()
	if err != nil {
		tb.Fatal(err)
	}
	ids, err := caller.NewIdentities(caller.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s := &policy.Site{Site: caller.NewSite(p, caller.Own{}), Release: new(policy.Release)}
	discover.Keep(s, new(discover.Roots))
	discover.Of(s).PutIndex("example.com", index.New([]string{"/"}, []string{p.Core, p.Shop[2]}))
	s.Store, s.Identities, s.Now = memory, ids, func() time.Time { return time.Unix(1_800_000_000, 0) }
	return s
}

// Request reads raw lines "Name: value" as headers of a request to target.
func Request(tb testing.TB, s *policy.Site, b ask.Backend, method, target, body string, headers ...string) *policy.Request {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, target, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequestWithContext(tb.Context(), method, target, http.NoBody)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	c := caller.NewReader(call.Config{
		Platform: s.Platform, Headers: []string{"X-Signature", "X-Timestamp"}, Base: s.Base, Limits: call.Limits{Body: 1 << 20, Upload: 1 << 20, Spool: budget.NewSpool(tb.TempDir(), 16<<20)},
	}).Read(r, nil)
	tb.Cleanup(c.Close)
	whole := &caller.Whole{Site: s.Site, Call: c, HTTP: r, Backend: b, Client: netip.MustParseAddr("192.0.2.7")}
	return &policy.Request{Whole: whole, Call: c, Site: s}
}

// Provision prepares p for s as one that is named or not, or fails the test.
func Provision[P policy.Policy](tb testing.TB, s *policy.Site, p P, settings ...policy.Settings) P {
	tb.Helper()
	if err := ProvisionError(s, p, settings...); err != nil {
		tb.Fatal(err)
	}
	return p
}

// ProvisionError prepares p for s, and returns what is wrong with it.
func ProvisionError(s *policy.Site, p policy.Policy, settings ...policy.Settings) error {
	if d, ok := p.(policy.Declarer); ok {
		if err := d.Declare(s); err != nil {
			return err
		}
	}
	if p, ok := p.(policy.Provisioner); ok {
		return p.Provision(s, append(settings, policy.Settings{})[0])
	}
	return nil
}

// Line is a [policy.Option] as the Caddyfile would give it.
func Line(text string, block ...policy.Option) policy.Option {
	words := strings.Fields(text)
	return policy.Option{Name: words[0], Args: words[1:], Block: block, Pos: "Caddyfile:7"}
}

// Configure gives p the lines of a Caddyfile, or fails the test.
func Configure(tb testing.TB, p policy.Policy, options ...policy.Option) {
	tb.Helper()
	for _, o := range options {
		if err := p.(policy.Configurer).Configure(o); err != nil {
			tb.Fatal(err)
		}
	}
}

// Header lines of requests, and bodies of answers about a caller.
const (
	BasicAuth  = "Authorization: Basic YWRtaW46eHh4eA=="
	ShopKey    = "Authorization: Basic Y2tfMTpjc18x"
	LoginLine  = "Cookie: a=b; wordpress_logged_in_abc=admin%7C1; c=d"
	NonceLine  = "X-WP-Nonce: 0123456789"
	JSONType   = "Content-Type: application/json"
	FormType   = "Content-Type: application/x-www-form-urlencoded"
	Override   = "X-HTTP-Method-Override: " // a method follows
	AdminBody  = `{"id":1,"roles":["administrator"],"capabilities":{"manage_options":true,"edit_others_posts":true,"gone":false}}`
	ClientBody = `{"id":5,"roles":["customer","subscriber"],"capabilities":{"read":true}}`
)

// BrokenStore cannot remember anything.
type BrokenStore struct{ store.Store }

// Get implements [store.Store].
func (BrokenStore) Get(context.Context, string) (string, bool, error) {
	return "", false, store.ErrFull
}

// GetAll implements [store.Store].
func (BrokenStore) GetAll(context.Context, ...string) (map[string]string, error) {
	return nil, store.ErrFull
}

// Set implements [store.Store].
func (BrokenStore) Set(context.Context, string, string, time.Duration) error {
	return store.ErrFull
}

// SetOnce implements [store.Store].
func (BrokenStore) SetOnce(context.Context, string, time.Duration) (bool, error) {
	return false, store.ErrFull
}

// Take implements [store.Store].
func (BrokenStore) Take(context.Context, string, store.Rate) (store.Taken, error) {
	return store.Taken{}, store.ErrFull
}

// Linked is a policy in a chain.
func Linked(name string, p policy.Policy, settings ...policy.Settings) *policy.Configured {
	return &policy.Configured{Entry: policy.Entry{Name: name}, Policy: p, Settings: append(settings, policy.Settings{})[0]}
}

// Alone is a chain of one policy.
func Alone(name string, p policy.Policy) *policy.Chain { return policy.Link(nil, "", Linked(name, p)) }

// Guarded is what the policy call and those of a catalog make of lines for s.
func Guarded(tb testing.TB, s *policy.Site, catalog []policy.Entry, options ...policy.Option) *policy.Chain {
	tb.Helper()
	if catalog[0].Name != "call" {
		catalog = append([]policy.Entry{policy.ReadingEntry}, catalog...)
	}
	configured := map[string]*policy.Configured{}
	for _, o := range options {
		i := slices.IndexFunc(catalog, func(e policy.Entry) bool { return slices.Contains(e.Words, o.Name) })
		if i < 0 {
			tb.Fatalf("no policy takes %s", o.Name)
		}
		e := catalog[i]
		if configured[e.Name] == nil {
			configured[e.Name] = policy.NewConfigured(e)
		}
		if err := configured[e.Name].Configure(o); err != nil {
			tb.Fatal(err)
		}
	}
	c, err := policy.NewChain(catalog, policy.Entry{}, s, policy.Enforce, configured)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Forget makes r a request that nobody has judged.
func Forget(r *policy.Request) {
	w := r.Whole
	*w = caller.Whole{Site: w.Site, Call: w.Call, HTTP: w.HTTP, Client: w.Client, Secure: w.Secure, Backend: w.Backend}
	r.Matched, r.MustSign = policy.Match{}, false
}

// Codes are the codes and lines of what is odd: "W04:3".
func Codes(odd []review.Odd) string {
	var list []string
	for _, o := range odd {
		_, line, _ := strings.Cut(o.At, ":")
		list = append(list, o.Code+":"+line)
	}
	return strings.Join(list, " ")
}

// DrawMethods draws the methods of a rule.
func DrawMethods(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{nil, {"GET"}, {"HEAD"}, {"POST"}, {"GET", "POST"}, {"POST", "DELETE"}, policy.KnownMethods}).Draw(t, "methods")
}
