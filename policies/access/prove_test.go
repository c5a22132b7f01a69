package access

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/review"
)

// smallAlphabet are the segments of the keys that the property tests try out: literals of
// drawn patterns, and segments that no pattern has.
var smallAlphabet = []string{"a", "wp", "v2", "users", "me", "wc", "store", "v1", "troubleshooting", "upload-logo", "store-auth", "zz", "wc-zz"}

// allKeys are the keys of up to three segments of the alphabet, as the reader makes them, and
// of one more, which no drawn pattern tells apart.
var allKeys = func() []string {
	keys, longest := []string{"/"}, []string{""}
	for i := range 4 {
		var next []string
		for _, key := range longest {
			for _, s := range smallAlphabet {
				if i == 3 && s != "zz" {
					continue
				}
				if longer := key + "/" + s; !strings.HasPrefix(longer, "/wc/store/") || strings.HasPrefix(longer+"/", "/wc/store/v1/") {
					next = append(next, longer)
				}
			}
		}
		keys, longest = append(keys, next...), next
	}
	for _, s := range smallAlphabet { // a pattern gets the version of the checkout API
		keys = append(keys, "/wc/store/v1/"+s, "/wc/store/v1/"+s+"/zz")
	}
	return append(keys, "/wp/v2/users/me", "/batch/v1") // a built-in rule leaves the first alone, and guards the second
}()

// someMethods are methods that the drawn rules tell apart.
var someMethods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PROPFIND"}

func drawPattern(t *rapid.T) string {
	segments := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "wp", "v2", "users", "me", "wc", "store", "v1", "*", ":id", "*"}), 0, 3).Draw(t, "segments")
	if rapid.Bool().Draw(t, "rest") {
		segments = append(segments, "**")
	}
	return "/" + strings.Join(segments, "/")
}

func drawRule(t *rapid.T) policy.Rule {
	r := policy.Rule{Methods: policytest.DrawMethods(t)}
	for range rapid.IntRange(1, 2).Draw(t, "routes") {
		r.Routes = append(r.Routes, drawPattern(t))
	}
	r.Allow = rapid.SampledFrom([]string{"", "anyone", "users", "role editor", "capability read"}).Draw(t, "who")
	r.Deny = r.Allow == ""
	if r.Allow == "anyone" && rapid.Bool().Draw(t, "from") {
		r.From = rapid.StringMatching("plugin[0-9]{4}").Draw(t, "plugin") // a line of its own
	}
	return r.MustCompile()
}

func drawAccess(t *rapid.T) *Access {
	p := &Access{LoginOnly: rapid.Bool().Draw(t, "login_only")}
	for range rapid.IntRange(0, 6).Draw(t, "rules") {
		p.Rules = append(p.Rules, drawRule(t))
	}
	for range rapid.IntRange(0, 2).Draw(t, "guards") {
		g := Guard{Rule: policy.Rule{Allow: "users", Methods: policytest.DrawMethods(t), Routes: []string{drawPattern(t)}, From: "drawn"}}
		if rapid.Bool().Draw(t, "except") {
			g.Except = []string{drawPattern(t)}
		}
		p.Guards = append(p.Guards, g)
	}
	if rapid.Bool().Draw(t, "recommended") {
		p.Recommended = "off"
	}
	return p
}

var testCallers = []caller.Caller{
	{},
	{Kind: caller.User, Roles: []string{"subscriber"}, Capabilities: map[string]bool{"read": true}},
	{Kind: caller.User, Roles: []string{"editor"}},
	{Kind: caller.KeyHolder},
}

// admitted is what access says of one call, without any reasoning.
func admitted(s *policy.Site, p *Access, c *call.Call, who caller.Caller) bool {
	if who.Kind == caller.KeyHolder && !s.InShop(c.Key) {
		who = caller.Caller{}
	}
	guard, own := p.decide(&policy.Request{Call: c})
	for _, m := range []policy.Match{guard, own} {
		if m.Rule != nil && m.Rule.Who() != policy.Anyone && !m.Rule.Admits(who) {
			return false
		}
	}
	return true
}

// TestProve_AsTriedOut compares a proof with all calls of a small alphabet.
func TestProve_AsTriedOut(t *testing.T) {
	s := policytest.NewSite(t)
	held := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := drawAccess(t)
		chain, err := policy.NewChain([]policy.Entry{policy.ReadingEntry, Entry}, policy.Entry{}, s, "", map[string]*policy.Configured{"access": {Entry: Entry, Policy: p}})
		if err != nil {
			t.Fatal(err)
		}
		q := review.Claim{Never: rapid.Bool().Draw(t, "never"), Methods: policytest.DrawMethods(t), Routes: []string{drawPattern(t), drawPattern(t)}}
		q.Caller = rapid.SampledFrom(testCallers).Draw(t, "caller")
		proof, err := review.Prove(chain, q)
		if err != nil {
			t.Fatal(err)
		}
		target, _ := policy.NewTarget(q.Methods, q.Routes)
		breaks := func(c *call.Call) bool { return target.Route(c) != nil && admitted(s, p, c, q.Caller) == q.Never }
		for _, e := range proof.Counter {
			if !breaks(review.CallOf(e.Method, e.Route)) {
				t.Fatalf("%+v breaks nothing", e)
			}
		}
		first := ""
		for _, key := range allKeys {
			for _, m := range someMethods {
				if first == "" && breaks(review.CallOf(m, key)) {
					first = m + " " + key
				}
			}
		}
		if proof.Holds != (first == "") || proof.Holds != (len(proof.Counter) == 0) {
			t.Fatalf("%+v, and %q breaks it", proof, first)
		}
		held[proof.Holds]++
	})
	if !t.Failed() && (held[true] < 5 || held[false] < 5) {
		t.Errorf("the drawn claims are of one kind: %v", held)
	}
}
