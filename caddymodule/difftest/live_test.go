//go:build !race

package difftest

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/command/compare"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/environment"
	"github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/diff"
)

// mark is on every request of a client. Questions of the gateway lack it.
const mark = "X-Test-Client"

// platform answers the gateway's questions, and says of each request of a client that it has arrived.
type platform struct{ *site.Site }

func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(mark) == "" {
		p.Site.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set(mark, "arrived")
	_, _ = io.WriteString(w, "{}")
}

// called are the calls that are tried: routes with two segments of a namespace and what is below.
var (
	called = strings.Fields(`/acme/v1 /acme/v1/x /acme/v1/x/y /acme/v1/z /acme/v2/x /acme/v1/upload-logo /wp/v2/posts /wp/v2/posts/7 /wp/v2/posts/7/revisions /wp/v2/users
		/wp/v2/users/7 /wp/v2/users/me /wp/v2/types/page /wp/v2/zz /wc/v3/orders /wc/v3/orders/7 /wc/v3/orders/7/notes /wc/v3/products /wc/store/v1/cart /contact-form-7/v1/contact-forms/7/feedback
		/complianz/v1/track /zz/v1 /`)
	methods = []string{"GET", "POST", "DELETE"}
)

// caller is somebody who calls, by the name in a report.
type caller struct {
	name  string
	lines []client.Edit
}

func callers(s *site.Site) []caller {
	session := func(login string) []client.Edit {
		cookie, nonce := s.Nonce(login)
		return []client.Edit{client.Header("Cookie", cookie.Name+"="+cookie.Value), client.Header("X-WP-Nonce", nonce)}
	}
	return []caller{{"anonymous", nil}, {"user", session("customer")}, {"role:editor", session("editor")}, {"key", []client.Edit{client.Login(s.Info().Keys.ReadWriteKey)}}}
}

// usualPairs is how many pairs a usual run tries.
const usualPairs = 25

// TestDiff_Live: of all calls of a small alphabet those that two running gateways decide otherwise are in the report, and what it
// says certainly opens or closes does so. Each request that shows a change does.
func TestDiff_Live(t *testing.T) {
	seed, err := environment.Seed(35)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := environment.Number("RESTWARDEN_PAIRS", usualPairs)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RESTWARDEN_SEED=%d repeats this run", seed)
	s, err := site.New(site.Options{Platform: "wordpress"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&platform{s})
	t.Cleanup(server.Close)
	upstream := server.Listener.Addr().String()
	f := &caddyrun.File{Global: caddyrun.TrustLoopback}
	drawn, d := make([]pair, pairs), draw{rand.New(rand.NewPCG(seed, 1))}
	l := &live{t: t, callers: callers(s), client: client.New(), seen: map[string]int{}}
	for n := range drawn {
		old := d.block()
		drawn[n] = pair{old, d.changed(old)}
		f.Sites = append(f.Sites, caddyrun.Site{Body: drawn[n].old.live(upstream)}, caddyrun.Site{Body: drawn[n].now.live(upstream)})
	}
	caddyrun.Start(t, f)
	for n := range drawn {
		l.pair(n, &drawn[n], f.Sites[2*n].Address, f.Sites[2*n+1].Address, upstream)
	}
	t.Log(l.seen)
	if l.seen["opened"] < 5 || l.seen["closed"] < 5 || l.seen["shown"] < 5 {
		t.Errorf("too few changes: %v", l.seen)
	}
}

// live holds reports against running gateways.
type live struct {
	t       *testing.T
	callers []caller
	client  *http.Client
	seen    map[string]int
}

func (l *live) pair(n int, p *pair, before, after, upstream string) {
	report := l.report(p, upstream)
	for _, by := range l.callers {
		for _, route := range called {
			if p.called(by.name) == "key" && !strings.HasPrefix(route, "/wc/") { // where it is nobody's
				continue
			}
			for _, method := range methods {
				was, is := l.passes(before, method, route, &by), l.passes(after, method, route, &by)
				said := l.said(report, method, route, p.called(by.name))
				want := map[[2]bool]diff.Effect{{false, true}: diff.Opened, {true, false}: diff.Closed}[[2]bool{was, is}]
				if want != "" {
					l.seen[string(want)]++
				}
				if why := contradicts(want, said); why != "" {
					l.t.Errorf("pair %d: %s %s as %s passes %v, then %v; the report says %v: %s\n%s\n%s\n%+v", n, method, route, by.name, was, is, said, why,
						p.old.write("old", "up"), p.now.write("new", "up"), report)
					return
				}
			}
		}
	}
	l.examples(n, p, report, before, after)
}

// contradicts says what is wrong with what a report says of a call of which this is true.
func contradicts(want diff.Effect, said []diff.Effect) string {
	has := func(effects ...diff.Effect) bool {
		return slices.ContainsFunc(effects, func(e diff.Effect) bool { return slices.Contains(said, e) })
	}
	switch {
	case want == diff.Opened && !has(diff.Opened, diff.MayOpen), want == diff.Closed && !has(diff.Closed, diff.MayClose):
		return "it is missing"
	case want != diff.Opened && has(diff.Opened), want != diff.Closed && has(diff.Closed):
		return "it is not so"
	}
	return ""
}

// said returns what a report says of a call: of its sets, and of what changes beside them.
func (l *live) said(r *compare.Report, method, route, who string) (effects []diff.Effect) {
	for i := range r.Changes {
		c := &r.Changes[i]
		named := len(c.Methods) == 0 || slices.Contains(c.Methods, method)
		if named && slices.Contains(c.Who, who) && slices.ContainsFunc(c.Sets, func(s compare.Set) bool { return within(s, route) }) {
			effects = append(effects, c.Effect)
		}
	}
	for i := range r.Beside {
		effects = append(effects, r.Beside[i].Effects...)
	}
	return effects
}

func within(s compare.Set, route string) bool {
	key := routes.Key(route)
	return matches(s.Route, key) && !slices.ContainsFunc(s.Except, func(e string) bool { return matches(e, key) })
}

func matches(pattern, key string) bool {
	if rest, dashed := strings.CutPrefix(pattern, "/wc-*"); dashed {
		return strings.HasPrefix(key, "/wc-") && matches("/*"+rest, key)
	}
	p, err := routes.ParsePattern(pattern)
	return err == nil && p.Match(key)
}

// report compares the two blocks.
func (l *live) report(p *pair, upstream string) *compare.Report {
	l.t.Helper()
	dir := l.t.TempDir()
	var sides []compare.Side
	for name, b := range map[string]*block{"old": &p.old, "new": &p.now} {
		file := filepath.Join(dir, name+".Caddyfile")
		if err := os.WriteFile(file, []byte(b.write("http://shop.example.com", upstream)), 0o600); err != nil {
			l.t.Fatal(err)
		}
		config, err := dryrun.Load(dryrun.Options{File: file, Adapter: "caddyfile"})
		if err != nil {
			l.t.Fatal(err)
		}
		defer func() { _ = config.Close() }()
		sides = append(sides, compare.Side{Name: name, Config: config})
	}
	if sides[0].Name != "old" {
		slices.Reverse(sides)
	}
	report, _, err := compare.New(l.t.Context(), sides[0], sides[1], compare.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	return report
}

// passes tells whether a call in its usual form arrives at the platform.
func (l *live) passes(address, method, route string, by *caller) bool {
	l.t.Helper()
	return l.arrives(address, method, "/wp-json"+route, by)
}

// arrives tells whether a request does.
func (l *live) arrives(address, method, target string, by *caller) bool {
	l.t.Helper()
	body := ""
	edits := append(slices.Clone(by.lines), client.Header(mark, "a"))
	if method == http.MethodPost {
		body = "{}"
		edits = append(edits, client.Typed(body))
	}
	req, err := client.Request(l.t.Context(), "http://"+address, method+" "+target, body, edits...)
	if err != nil {
		l.t.Fatal(err)
	}
	reply, err := client.Do(l.client, req)
	if err != nil {
		l.t.Fatal(err)
	}
	return reply.Header.Get(mark) == "arrived"
}

// examples holds that each request that shows a change does.
func (l *live) examples(n int, p *pair, r *compare.Report, before, after string) {
	for i := range r.Changes {
		e := r.Changes[i].Example
		if e == nil {
			continue
		}
		at := slices.IndexFunc(l.callers, func(c caller) bool { return p.called(c.name) == e.As })
		method, address, _ := strings.Cut(e.Request, " ")
		target := strings.TrimPrefix(address, "http://shop.example.com")
		if at < 0 {
			continue
		}
		by := l.callers[at]
		was, is := l.arrives(before, method, target, &by), l.arrives(after, method, target, &by)
		if was != strings.HasPrefix(e.Old, "passes") || is != strings.HasPrefix(e.New, "passes") {
			l.t.Errorf("pair %d: %+v, in truth %v and %v", n, e, was, is)
		}
		l.seen["shown"]++
	}
}

// called returns what a report calls a caller, who may have a scope: the key that is tried is none that a scope names, and the editor's
// login may be.
func (p *pair) called(name string) string {
	in := func(word string) [2]bool {
		return [2]bool{strings.Contains(p.old.scopeText(), word), strings.Contains(p.now.scopeText(), word)}
	}
	holders := func(b *block) int {
		return strings.Count(b.scopeText(), "\tkey ") + strings.Count(b.scopeText(), "\tuser ")
	}
	several := holders(&p.old)+holders(&p.now) > 2
	scoped := func(kind string) string {
		if several {
			return "scope:erp by " + kind
		}
		return "scope:erp"
	}
	switch {
	case name == "key" && in("key *") == [2]bool{true, true}:
		return scoped("key")
	case name == "role:editor" && in("user editor") == [2]bool{true, true}:
		return scoped("user") + ",role:editor"
	case name == "role:editor" && in("user editor") != [2]bool{}:
		return "user:editor,role:editor"
	}
	return name
}
