//go:build wordpress

package wordpress

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// TestScope_Random sends credentials in random places and spellings. Whatever the platform runs for one that has a scope
// is in the scope, and what belongs to no scope passes.
func TestScope_Random(t *testing.T) {
	s := setUps(t)
	for _, g := range append(s.gatesOf(modeScoped), s.gatesOf(modeLogins)...) {
		d := &scopedRun{s: s, gate: g, tally: tally{counts: map[string]int{}}}
		var err error
		if d.holders, d.home, err = holdersOf(t.Context(), g); err != nil { // one after the other: two logins of a user at once lose one
			t.Fatal(err)
		}
		t.Run(g.setUp()+" "+g.Mode, func(t *testing.T) {
			t.Parallel()
			n := options.requests / 3
			c := count(t)
			t.Logf("RESTWARDEN_SEED=%d makes the same %d requests again", options.seed, n)
			rounds(t, n, 0, func(t *testing.T, n int) {
				t.Helper()
				property(t, options.seed, n, func(r *rapid.T) { d.try(t.Context(), c, r) })
			})
			for _, what := range slices.Sorted(maps.Keys(d.tally.counts)) {
				t.Logf("%6d %s", d.tally.counts[what], what)
			}
			for _, what := range []string{"ran as the author", "ran as the editor's password"} {
				if d.tally.counts[what] == 0 {
					c.failf("tally", "nothing %s", what)
				}
			}
		})
	}
}

// holdersOf are those whose credentials are sent, and the site's home.
func holdersOf(ctx context.Context, g *gate) ([]*holder, string, error) {
	home, err := homeOf(ctx, g)
	if err != nil {
		return nil, "", err
	}
	keys := g.Mode == modeScoped
	all := []*holder{{}, {key: "ck_standin", secret: "cs_standin", scoped: keys}, {key: "ck_signs", secret: "cs_signs"}}
	if keys {
		all = append(all, all[1])
	}
	for _, role := range []string{"author", "author", "editor", "editor", "administrator", "subscriber"} {
		h := &holder{role: role, account: g.Site.Accounts[role], scoped: role == "author" || role == "editor"}
		s, err := login(ctx, g, h.account)
		if err != nil {
			return nil, "", err
		}
		h.nonce = s.nonce
		for _, path := range []string{"/wp-json/", g.Site.Core + "/wp-admin/"} {
			at, err := url.Parse(g.url(path))
			if err != nil {
				return nil, "", err
			}
			for _, c := range s.client.Jar.Cookies(at) {
				if strings.HasPrefix(c.Name, "wordpress_") && c.Name != "wordpress_test_cookie" {
					h.cookies = append(h.cookies, c.Name+"="+c.Value)
				}
			}
		}
		all = append(all, h)
	}
	return all, home, nil
}

// scopedRun tries the scopes of one gate.
type scopedRun struct {
	s       *stack
	gate    *gate
	holders []*holder
	home    string
	tally   tally
	sent    atomic.Int64
}

func (d *scopedRun) try(ctx context.Context, c *checks, r *rapid.T) {
	var honest, plain bool
	m := rapid.Custom(func(t *rapid.T) *message {
		g := &scoped{generator: newGenerator(drawn{t}, d.gate.Site), holders: d.holders, home: d.home, site: d.gate.Site}
		m := g.next()
		honest, plain = g.honest, g.plain && len(m.authorizations()) < 2 // of two lines, which servers join, nothing is certain
		return m
	}).Draw(r, "request")
	tag := fmt.Sprintf("%s-scope-%d-%06d", d.gate.Site.Name, len(d.gate.Mode), d.sent.Add(1))
	raw := m.render(d.gate, tag)
	a, err := send(ctx, d.gate, raw)
	if err != nil {
		r.Fatalf("%v: %q", err, raw)
	}
	seen, err := d.s.readTrace(tag)
	if err != nil {
		r.Fatalf("%v: %q", err, raw)
	}
	how := d.outside(m, &seen)
	if how == "" && honest && plain && strings.HasSuffix(a.decision, " rest_credential_scope") {
		how = "what belongs to no scope is refused"
	}
	if how == "" && a.refused() && seen.loaded {
		how = "a refused request reached WordPress"
	}
	if how != "" {
		r.Logf("%s\nWordPress: %+v\nthe answer: %v\nrequest: %q\nbase64: %s", how, seen, a, raw, base64.StdEncoding.EncodeToString(raw))
		r.Fatalf("not in its scope")
	}
	d.tally.add(d.outcome(&seen, a))
	c.pass(1)
}

// authorizations returns the lines of Authorization.
func (m *message) authorizations() (lines []string) {
	for _, h := range m.headers {
		if name, _, _ := strings.Cut(h, ":"); strings.EqualFold(name, "Authorization") {
			lines = append(lines, h)
		}
	}
	return lines
}

// outside tells what the platform has run outside of a scope.
func (d *scopedRun) outside(m *message, seen *trace) string {
	author, editor := d.gate.Site.Accounts["author"], d.gate.Site.Accounts["editor"]
	for _, door := range seen.doors {
		switch {
		case door.Door == "xmlrpc.php" && (door.User == author.ID || door.User == editor.ID):
			return "a message to xmlrpc.php"
		case door.Key == "ck_standin" && d.gate.Mode == modeScoped:
			return "a key on a page"
		}
	}
	for i := range seen.dispatches {
		run := &seen.dispatches[i]
		if run.Pattern == nil || i > 0 && run.Method == http.MethodGet && strings.Contains(m.target, "_embed") {
			continue // of what is embedded the answer is hidden
		}
		pattern, reads := *run.Pattern, run.Method == http.MethodGet || run.Method == http.MethodHead
		switch {
		case run.Key == "ck_standin" && d.gate.Mode == modeScoped:
			status := !strings.Contains(m.body, "customer_note") && !strings.Contains(m.target, "customer_note")
			if pattern == ordersPattern && reads || pattern == orderPattern && (reads || run.Method == http.MethodPut && status) {
				continue
			}
		case run.App == editor.UUID:
			if pattern == "/wp/v2/posts" && reads {
				continue
			}
		case run.Key == "" && run.User == author.ID:
			if (pattern == "/wp/v2/posts" || pattern == "/wp/v2/users/me") && reads {
				continue
			}
		default:
			continue
		}
		return fmt.Sprintf("%s %s as user %d, key %q, password %q", run.Method, pattern, run.User, run.Key, run.App)
	}
	return ""
}

const (
	ordersPattern = "/wc/v3/orders"
	orderPattern  = `/wc/v3/orders/(?P<id>[\d]+)`
)

func (d *scopedRun) outcome(seen *trace, a *answer) string {
	switch {
	case a.refused():
		return "refused: " + a.decision[strings.LastIndexByte(a.decision, ' ')+1:]
	case len(seen.dispatches) == 0:
		return "passed, and nothing ran"
	}
	switch run := &seen.dispatches[0]; {
	case run.Key != "":
		return "ran as " + run.Key
	case run.App == d.gate.Site.Accounts["editor"].UUID:
		return "ran as the editor's password"
	case run.User == d.gate.Site.Accounts["author"].ID:
		return "ran as the author"
	case run.User != 0:
		return "ran as somebody else"
	}
	return "ran as nobody"
}
