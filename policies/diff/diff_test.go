package diff_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/scope"
	"github.com/restwarden/restwarden/policies/signature"
)

// tried are the keys of calls that are tried out.
var tried = func() (keys []string) {
	for _, a := range []string{"a", "wp", "wc", "wc-x"} {
		for _, b := range []string{"", "/v1", "/v2"} {
			for _, c := range []string{"", "/users", "/x"} {
				for _, d := range []string{"", "/x", "/zz/zz"} {
					if key := "/" + a + b + c + d; !slices.Contains(keys, key) {
						keys = append(keys, key)
					}
				}
			}
		}
	}
	return append(keys, "/wp/v2/users/me", "/batch/v1")
}()

var triedMethods = []string{"GET", "HEAD", "POST", "DELETE"}

// held is a holder, and the header lines by which a request is his.
type held struct {
	diff.Holder
	lines []string
}

const (
	named   = "ck_0000000000000000000000000000000000a1b2c3d"
	unnamed = "ck_0000000000000000000000000000000000fffffff"
)

var holders = []held{
	{Holder: diff.Holder{Name: "anonymous"}},
	{Holder: diff.Holder{Name: "user", Holder: review.Holder{Caller: caller.Caller{Kind: caller.User, ID: 7, Capabilities: map[string]bool{}}, Credential: caller.Credential{Kind: caller.CredentialUser}}}, lines: login("somebody")},
	{Holder: diff.Holder{Name: "role:editor", Holder: review.Holder{Caller: caller.Caller{Kind: caller.User, ID: 7, Roles: []string{"editor"}}, Credential: caller.Credential{Kind: caller.CredentialUser}}}, lines: login("editor")},
	{Holder: diff.Holder{Name: "key", Holder: review.Holder{Caller: caller.Caller{Kind: caller.KeyHolder}, Credential: caller.Credential{Kind: caller.CredentialKey}}}, lines: basic(unnamed)},
	{Holder: diff.Holder{Name: "key:a1b2c3d", Holder: review.Holder{Caller: caller.Caller{Kind: caller.KeyHolder}, Credential: caller.Credential{Kind: caller.CredentialKey, Key: "a1b2c3d"}}}, lines: basic(named)},
	{Holder: diff.Holder{Name: "user:maria", Holder: review.Holder{Caller: caller.Caller{Kind: caller.User, ID: 7, Capabilities: map[string]bool{}}, Credential: caller.Credential{Kind: caller.CredentialUser, Login: "maria"}}}, lines: login("maria")},
}

func basic(name string) []string {
	return []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name+":cs_x"))}
}

func login(name string) []string {
	return []string{"Cookie: wordpress_logged_in_abc=" + name + "%7C1%7Cx%7Cy", policytest.NonceLine}
}

// platform knows those who log in, and every shop key.
func platform(q ask.Question) (*ask.Answer, error) {
	cookie := q.Header.Get("Cookie")
	for name, roles := range map[string]string{"somebody": "[]", "editor": `["editor"]`, "maria": "[]"} {
		if strings.HasSuffix(q.Route, "/users/me") && strings.Contains(cookie, "="+name+"%7C") {
			return asktest.JSON(200, `{"id":7,"username":"`+name+`","roles":`+roles+`,"capabilities":{}}`), nil
		}
	}
	if strings.HasSuffix(q.Route, "/orders") && q.Header.Get("Authorization") != "" {
		return asktest.JSON(200, `[]`), nil
	}
	return asktest.JSON(401, `{"code":"rest_not_logged_in","message":"","data":{"status":401}}`), nil
}

// draws makes the lines of chains.
type draws struct{ *rand.Rand }

func (d draws) one(of ...string) string { return of[d.IntN(len(of))] }

func (d draws) pattern() string {
	p := ""
	for range d.IntN(4) {
		p += "/" + d.one("a", "wp", "wc", "v1", "v2", "users", "x", "*", ":id", "*")
	}
	if d.IntN(2) == 0 || p == "" {
		p += "/**"
	}
	return p
}

func (d draws) line() string {
	methods := d.one("", "", "", "GET ", "POST,DELETE ", "DELETE ")
	who := d.one("deny", "allow anyone", "allow users", "allow role editor", "allow role author,editor", "allow capability read", "allow scope erp", "allow scope erp,m")
	return who + " " + methods + d.pattern()
}

// configuration is the lines of a directive, those of the scopes apart.
type configuration struct {
	lines, erp, maria []string
}

func (d draws) configuration() (c configuration) {
	if d.IntN(2) == 0 {
		c.lines = append(c.lines, "login_only")
	}
	if d.IntN(3) == 0 {
		c.lines = append(c.lines, "recommended off")
	}
	for range d.IntN(6) {
		c.lines = append(c.lines, d.line())
	}
	for range d.IntN(3) {
		c.erp = append(c.erp, "allow "+d.one("", "GET ", "POST ")+d.pattern())
		c.maria = append(c.maria, "allow "+d.one("", "GET ", "POST ")+d.pattern())
	}
	return c
}

// changed returns c with one line more, less, moved or another.
func (d draws) changed(c configuration) configuration {
	c.lines, c.erp, c.maria = slices.Clone(c.lines), slices.Clone(c.erp), slices.Clone(c.maria)
	last := len(c.lines)
	switch at := d.IntN(last + 1); d.IntN(6) {
	case 0:
		c.erp = append(c.erp, "allow "+d.pattern())
	case 1:
		c.maria = nil
	case 2:
		if at < last {
			c.lines = slices.Delete(c.lines, at, at+1)
		}
	case 3:
		if at < last {
			line := c.lines[at]
			c.lines = append(slices.Delete(c.lines, at, at+1), line)
		}
	default:
		c.lines = slices.Insert(c.lines, at, d.line())
	}
	return c
}

func (c configuration) chain(t *testing.T, s *policy.Site) *policy.Chain {
	t.Helper()
	var options []policy.Option
	for _, text := range c.lines {
		options = append(options, policytest.Line(text))
	}
	for name, lines := range map[string][]string{"erp\nkey a1b2c3d": c.erp, "m\nuser maria": c.maria} {
		name, whom, _ := strings.Cut(name, "\n")
		block := []policy.Option{policytest.Line(whom)}
		for _, text := range lines {
			block = append(block, policytest.Line(text))
		}
		options = append(options, policytest.Line("scope "+name, block...))
	}
	return policytest.Guarded(t, s, []policy.Entry{policy.ReadingEntry, access.Entry, scope.Entry, signature.Entry}, options...)
}

// TestCompare_AsTriedOut: of all calls of a small alphabet, those that two chains decide otherwise are in a change, and no
// other ones.
func TestCompare_AsTriedOut(t *testing.T) {
	t.Parallel()
	d, seen := draws{rand.New(rand.NewPCG(35, 1))}, map[diff.Effect]int{}
	for n := range 12 {
		one := d.configuration()
		other := d.changed(one)
		before, after := one.chain(t, policytest.NewSite(t)), other.chain(t, policytest.NewSite(t))
		var who []diff.Holder
		for _, h := range holders {
			who = append(who, h.Holder)
		}
		changes, err := diff.New(before, after).Changes(who, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			seen[c.Effect]++
		}
		for _, key := range tried {
			for _, method := range triedMethods {
				for _, h := range holders {
					if h.Name == "key" && !before.Site().InShop(key) {
						continue
					}
					was, is := passes(t, before, method, key, h.lines), passes(t, after, method, key, h.lines)
					in := within(changes, method, key, h.Name)
					want := map[[2]bool]string{{false, true}: "opened", {true, false}: "closed"}[[2]bool{was, is}]
					if h.Caller.Kind == caller.KeyHolder && !before.Site().InShop(key) { // where only some such calls fare so
						want = map[string]string{"opened": "may_open", "closed": "may_close", "": in}[want]
					}
					if in != want {
						t.Fatalf("%d: %s %s by %s passes %v, now %v, and is in %q\n%+v\n%+v\n%+v", n, method, key, h.Name, was, is, in, one, other, changes)
					}
				}
			}
		}
	}
	if seen[diff.Opened] < 3 || seen[diff.Closed] < 3 {
		t.Errorf("the drawn chains are of one kind: %v", seen)
	}
}

// TestCompare_Index: with an index the same changes are told of its routes, and of no other ones.
func TestCompare_Index(t *testing.T) {
	t.Parallel()
	var known []string
	for i, key := range tried {
		if i%2 == 0 {
			known = append(known, key)
		}
	}
	x := index.New(known, []string{"a/v1", "wp/v2", "wc/v1"})
	d, told := draws{rand.New(rand.NewPCG(35, 2))}, 0
	for n := range 15 {
		one := d.configuration()
		other := d.changed(one)
		changes := func(x *index.Index) []diff.Change {
			found, err := diff.New(one.chain(t, policytest.NewSite(t)), other.chain(t, policytest.NewSite(t))).Changes([]diff.Holder{holders[0].Holder, holders[1].Holder}, x)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		all, some := changes(nil), changes(x)
		for _, key := range tried {
			for _, method := range triedMethods {
				want, got := within(all, method, key, "anonymous"), ""
				for _, c := range some {
					if slices.Contains(c.Routes, key) && within([]diff.Change{c}, method, key, "anonymous") != "" {
						got = string(c.Effect)
						told++
					}
				}
				if !slices.Contains(known, key) {
					want = ""
				}
				if want != got {
					t.Fatalf("%d: %s %s: %q with the index, and %q without\n%+v\n%+v\n%+v", n, method, key, got, want, one, other, some)
				}
			}
		}
		for _, c := range some {
			if !slices.Contains(c.Routes, routes.Key(c.Example.Route)) {
				t.Errorf("%d: %s shows a change of %v", n, c.Example.Route, c.Routes)
			}
			for _, route := range c.Routes {
				if !covers(&c, route) {
					t.Errorf("%d: %s is in %+v", n, route, c)
				}
			}
		}
	}
	if told < 10 {
		t.Errorf("only %d calls are told", told)
	}
}

func passes(t *testing.T, c *policy.Chain, method, key string, lines []string) bool {
	t.Helper()
	r := policytest.Request(t, c.Site(), &asktest.Platform{Answer: platform}, method, "/wp-json"+key, "", lines...)
	d := c.Judge(t.Context(), r)
	if d.Err != nil {
		t.Fatalf("%s %s: %v", method, key, d.Err)
	}
	return d.Outcome == policy.Pass
}

// within says in which changes a call is.
func within(changes []diff.Change, method, key, who string) string {
	var in []string
	for _, c := range changes {
		if named := method == "HEAD" && slices.Contains(c.Methods, "GET") || slices.Contains(c.Methods, method); !named && c.Methods != nil || !slices.Contains(c.Who, who) {
			continue
		}
		if covers(&c, key) {
			in = append(in, string(c.Effect))
		}
	}
	return strings.Join(in, ",")
}

// covers tells whether a key is in a set of a change.
func covers(c *diff.Change, key string) bool {
	return slices.ContainsFunc(c.Sets, func(s diff.Set) bool {
		return matches(s.Route, key) && !slices.ContainsFunc(s.Except, func(route string) bool { return matches(route, key) })
	})
}

func matches(route, key string) bool {
	if rest, dashed := strings.CutPrefix(route, "/wc-*"); dashed {
		if !strings.HasPrefix(key, "/wc-") {
			return false
		}
		route = "/*" + rest
	}
	p, err := routes.ParsePattern(route)
	if err != nil {
		panic(fmt.Sprint(route, err))
	}
	return p.Match(key)
}
