package policies

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/redact"
)

// lockdownRules are those of a site that observes: what a lockdown refuses there is
// refused by nothing else.
var lockdownRules = []policy.Option{
	policytest.Line("signature hook", policytest.Line("key secret")),
	policytest.Line("allow anyone POST /consent/v1/consent"), policytest.Line("allow anyone GET /consent/v1/posts"),
	policytest.Line("allow anyone /wp/v2/**"), policytest.Line("allow signed hook POST /hook/v1/in"),
	policytest.Line("allow users /report/v1/**"), policytest.Line("allow anyone /item/v1/:id"),
	policytest.Line("allow signed hook POST /wc/store/v1/hook"),
	policytest.Line("allow anyone GET,POST /wc/store/v1/cart"), policytest.Line("allow anyone GET /wc/store/cart"), policytest.Line("allow anyone POST /wc/store/v1/batch"),
}

func observing(t *testing.T, s *policy.Site) *policy.Chain {
	t.Helper()
	return chained(t, s, policy.Observe, lockdownRules)
}

// chained returns the chain of some lines, which knows lockdowns.
func chained(t *testing.T, s *policy.Site, mode policy.Mode, lines []policy.Option) *policy.Chain {
	t.Helper()
	policies := map[string]*policy.Configured{}
	for _, o := range lines {
		e, _ := Lookup(o.Name)
		if policies[e.Name] == nil {
			policies[e.Name] = policy.NewConfigured(e)
		}
		if err := policies[e.Name].Configure(o); err != nil {
			t.Fatal(err)
		}
	}
	c, err := NewChain(s, mode, policies)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestLockdown: on a site that observes, a lockdown closes what the rules leave to
// anonymous callers, and nothing else.
func TestLockdown(t *testing.T) {
	nobody, admin := asktest.Answering(401, `{"code":"rest_not_logged_in"}`), asktest.Answering(200, policytest.AdminBody)
	wrong := asktest.Answering(401, `{"code":"incorrect_password"}`)
	broken := asktest.Answering(500, "")
	mints := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if q.Page != "" {
			return asktest.JSON(200, "0123456789"), nil
		}
		return asktest.JSON(200, policytest.ClientBody), nil
	}}
	for name, test := range map[string]struct {
		backend              *asktest.Platform
		method, target, body string
		headers              []string
		hard                 bool
		status               int
		code                 policy.Code
		policy               string
		asked                int
	}{
		"anonymous":                    {nobody, "GET", "/wp-json/report/v1/x", "", nil, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"route without a rule":         {nobody, "GET", "/wp-json/other/v1/x", "", nil, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"forged credentials":           {nobody, "GET", "/wp-json/other/v1/x", "", []string{policytest.BasicAuth}, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 1},
		"wrong password":               {wrong, "GET", "/wp-json/other/v1/x", "", []string{policytest.BasicAuth}, false, 401, policy.CodePlatform, access.LockdownName, 1},
		"cannot decide":                {broken, "GET", "/wp-json/other/v1/x", "", []string{policytest.BasicAuth}, false, 503, policy.CodeUnavailable, access.LockdownName, 1},
		"index, cookie without nonce":  {mints, "GET", "/wp-json/other/v1", "", []string{policytest.LoginLine}, true, 0, "", "", 2},
		"index, forged cookie":         {broken, "GET", "/wp-json/other/v1", "", []string{policytest.LoginLine}, true, 401, policy.CodeNotLoggedIn, access.LockdownName, 1},
		"user":                         {admin, "GET", "/wp-json/other/v1/x", "", []string{policytest.BasicAuth}, false, 0, "", "", 1},
		"rest_route":                   {nobody, "GET", "/?rest_route=/report/v1/x", "", nil, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"allow anyone":                 {nobody, "POST", "/wp-json/consent/v1/consent", "", nil, false, 0, "", "", 0},
		"allow anyone, hard":           {nobody, "POST", "/wp-json/consent/v1/consent", "", nil, true, 0, "", "", 0},
		"allow anyone, other method":   {nobody, "GET", "/wp-json/consent/v1/consent", "", nil, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"allow anyone under a guard":   {nobody, "GET", "/wp-json/wp/v2/users", "", nil, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"name outside the path":        {nobody, "GET", "/wp-json/item/v1/5?id=6", "", nil, false, 400, policy.CodeAmbiguous, access.LockdownName, 0},
		"checkout":                     {nobody, "POST", "/wp-json/wc/store/v1/cart/add-item", "", nil, false, 0, "", "", 0},
		"checkout, hard":               {nobody, "POST", "/wp-json/wc/store/v1/cart/add-item", "", nil, true, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"checkout, hard, allow anyone": {nobody, "GET", "/wp-json/wc/store/v1/cart", "", nil, true, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"the same without a version":   {nobody, "GET", "/wp-json/wc/store/cart", "", nil, true, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"in a batch, hard":             {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"}]}`, []string{policytest.JSONType}, true, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"checkout, hard, allow signed": {nobody, "POST", "/wp-json/wc/store/v1/hook", "", []string{policytest.SignedStamp, "X-Signature: " + policytest.StampMAC}, true, 0, "", "", 0},
		"batch route":                  {nobody, "POST", "/wp-json/batch/v1", `{"requests":[]}`, []string{policytest.JSONType}, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"batch of the checkout":        {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"}]}`, []string{policytest.JSONType}, false, 0, "", "", 0},
		"part outside the checkout":    {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"},{"path":"/other/v1/x","method":"POST"}]}`, []string{policytest.JSONType}, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"part with a signed rule":      {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/hook/v1/in","method":"POST"}]}`, []string{policytest.JSONType}, false, 401, policy.CodeNotLoggedIn, access.LockdownName, 0},
		"no certain reading":           {nobody, "GET", "/?rest_route=/a&rest_route=/b", "", nil, false, 400, policy.CodeAmbiguous, access.LockdownName, 0},
		"the other platform's prefix":  {nobody, "GET", "/cms-json/cms/v2/posts", "", nil, false, 503, policy.CodeUnavailable, access.LockdownName, 0},
		"signed, no signature":         {nobody, "POST", "/wp-json/hook/v1/in", "", nil, false, 401, policy.CodeSignature, "signature", 0},
		"signed":                       {nobody, "POST", "/wp-json/hook/v1/in", "", []string{policytest.SignedStamp, "X-Signature: " + policytest.StampMAC}, false, 0, "", "", 0},
		"signed, a user without":       {admin, "POST", "/wp-json/hook/v1/in", "", []string{policytest.BasicAuth}, false, 0, "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			s.Lists = func(_, namespace string) bool { return namespace == "other/v1" }
			c := observing(t, s)
			backend := &asktest.Platform{Answer: test.backend.Answer}
			r := policytest.Request(t, s, backend, test.method, test.target, test.body, test.headers...)
			r.InForce = policy.InForce{Locked: true, Hard: test.hard}
			d := c.Judge(t.Context(), r)
			if d.Outcome == policy.WouldRefuse {
				d = policy.Decision{}
			}
			if d.Verdict.Status != test.status || d.Verdict.Code != test.code || d.Policy != test.policy {
				t.Errorf("%s refuses with %d %s, %v", d.Policy, d.Verdict.Status, d.Verdict.Code, d.Err)
			}
			if d.Policy == access.LockdownName && d.Verdict.Code == policy.CodeNotLoggedIn && d.Verdict.Rule != access.LockdownName {
				t.Errorf("by the rule %q", d.Verdict.Rule)
			}
			if asked := len(backend.Questions()); asked != test.asked {
				t.Errorf("%d questions, want %d", asked, test.asked)
			}
			policytest.Forget(r)
			r.InForce = policy.InForce{}
			if d := c.Judge(t.Context(), r); d.Outcome == policy.Refuse {
				t.Errorf("refused without a lockdown, by %s", d.Policy)
			}
		})
	}
}

// TestLockdown_GenericBatch: hard closes the checkout to the parts of a batch of the core too,
// whichever rules open it.
func TestLockdown_GenericBatch(t *testing.T) {
	s := policytest.NewSite(t)
	access := new(access.Access)
	for _, text := range []string{"allow anyone POST /batch/v1", "allow anyone /wc/store/v1/cart"} {
		policytest.Configure(t, access, policytest.Line(text))
	}
	c, err := NewChain(s, policy.Enforce, configured("access", access))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for hard, want := range map[bool]int{true: 401, false: 0} {
		r := policytest.Request(t, s, asktest.Answering(401, ""), "POST", "/wp-json/batch/v1", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"}]}`, policytest.JSONType)
		r.InForce = policy.InForce{Locked: true, Hard: hard}
		if d := c.Judge(t.Context(), r); d.Verdict.Status != want {
			t.Errorf("hard %v: %+v, %v", hard, d.Verdict, d.Err)
		}
	}
}

// TestLockdown_Embedded: what a lockdown closes is not embedded either.
func TestLockdown_Embedded(t *testing.T) {
	s := policytest.NewSite(t)
	c := observing(t, s)
	p := c.WithLockdown()[1].Policy.(policy.AnswerChanger)
	r := policytest.Request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/consent/v1/posts?_embed", "")
	if p.Rewrites(r) != policy.RewriteNothing {
		t.Error("rewrites without a lockdown")
	}
	r.InForce.Locked = true
	if p.Rewrites(r) != policy.RewriteBody {
		t.Fatal("does not rewrite")
	}
	a := &ask.Answer{Status: 200, Header: map[string][]string{}, Body: []byte(
		`{"_links":{"closed":[{"href":"http://example.com/wp-json/other/v1/1","embeddable":true}],"open":[{"href":"http://example.com/wp-json/consent/v1/posts","embeddable":true}]},` +
			`"_embedded":{"closed":[{"secret":1}],"open":[{"plain":1}]}}`)}
	if err := p.Rewrite(r, a); err != nil {
		t.Fatal(err)
	}
	if body := string(a.Body); strings.Contains(body, "secret") || !strings.Contains(body, "plain") {
		t.Error(body)
	}
}

// TestSwitches: what the switches say, until they end.
func TestSwitches(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	now := func() time.Time { return start }
	var none *policy.Switches
	if f := none.InForce(nil); !reflect.DeepEqual(f, policy.InForce{}) {
		t.Error(f)
	}
	all := new(policy.Switch)
	s := &policy.Switches{All: all}
	if f := s.InForce(nil); !reflect.DeepEqual(f, policy.InForce{}) { // the time is not asked for
		t.Error(f)
	}
	s.Mode.Set(policy.Switched{Mode: policy.Observe, Until: start.Add(1)})
	s.Lockdown.Set(policy.Switched{Until: start.Add(2)})
	all.Set(policy.Switched{Hard: true, Until: start.Add(3)})
	for _, want := range []policy.InForce{{Mode: policy.Observe, Locked: true, Hard: true}, {Locked: true, Hard: true}, {Locked: true, Hard: true}, {}} {
		if f := s.InForce(now); !reflect.DeepEqual(f, want) {
			t.Errorf("%+v, want %+v", f, want)
		}
		start = start.Add(1)
	}
	s.Lockdown.Set(policy.Switched{Until: start.Add(1)})
	if f := s.InForce(now); !reflect.DeepEqual(f, policy.InForce{Locked: true}) {
		t.Error(f)
	}
	s.Lockdown.Off()
	if f := s.InForce(now); !reflect.DeepEqual(f, policy.InForce{}) {
		t.Error(f)
	}
	if n := testing.AllocsPerRun(10, func() { s.InForce(now) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestChain_ModeSwitch: which policies observe, by the directive's mode, their own and the
// switch.
func TestChain_ModeSwitch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		directive, own, switched policy.Mode
		observes                 bool
	}{
		{"", "", "", false},
		{policy.Observe, "", "", true},
		{policy.Observe, policy.Enforce, "", false},
		{"", policy.Observe, "", true},
		{"", "", policy.Observe, true},
		{"", policy.Enforce, policy.Observe, true},
		{policy.Observe, "", policy.Enforce, false},
		{policy.Observe, policy.Observe, policy.Enforce, true},
		{policy.Enforce, policy.Enforce, policy.Enforce, false},
	} {
		p := policytest.Linked("redact", new(redact.Redact), policy.Settings{Mode: test.own})
		c, err := NewChain(policytest.NewSite(t), test.directive, map[string]*policy.Configured{"redact": p})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.WithLockdown() {
			switch observes := m.Observes(policy.InForce{Mode: test.switched}); {
			case m.Name == access.LockdownName && observes:
				t.Errorf("%+v: the lockdown observes", test)
			case m.Name == "redact" && observes != test.observes:
				t.Errorf("%+v: %t", test, observes)
			}
		}
	}
}

// TestLockdown_PluginOpens: a hard lockdown closes the checkout, also where an entry of the catalogue opens it.
func TestLockdown_PluginOpens(t *testing.T) {
	c := chainOf(t, "login_only", "allow plugin woocommerce")
	t.Cleanup(func() { _ = c.Close() })
	nobody := asktest.Answering(401, `{"code":"rest_not_logged_in"}`)
	for hard, status := range map[bool]int{false: 0, true: 401} {
		r := policytest.Request(t, policytest.NewSite(t), nobody, "GET", "/wp-json/wc/store/v1/cart", "")
		r.InForce = policy.InForce{Locked: true, Hard: hard}
		if d := c.Judge(t.Context(), r); d.Verdict.Status != status {
			t.Errorf("hard %t: %+v", hard, d.Verdict)
		}
	}
}

// TestLockdown_Place: a lockdown comes before the rules, whatever else is on, so that records name it.
func TestLockdown_Place(t *testing.T) {
	t.Parallel()
	policies := map[string]*policy.Configured{}
	for _, e := range Catalog {
		if policies[e.Name] = policy.NewConfigured(e); e.Name == "session_cookies" {
			policytest.Configure(t, policies[e.Name].Policy, policytest.Line("session_cookies", policytest.Line("path /")))
		}
	}
	c, err := NewChain(policytest.NewSite(t), "", policies)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if first := c.WithLockdown(); first[0].Name != "call" || first[1].Name != access.LockdownName {
		t.Errorf("%s, then %s", first[0].Name, first[1].Name)
	}
}
