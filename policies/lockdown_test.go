package policies

import (
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// lockdownRules are those of a site that observes: what a lockdown refuses there is
// refused by nothing else.
var lockdownRules = []Option{
	line("signature hook", line("key secret")),
	line("allow anyone POST /consent/v1/consent"), line("allow anyone GET /consent/v1/posts"),
	line("allow anyone /wp/v2/**"), line("allow signed hook POST /hook/v1/in"),
	line("allow users /report/v1/**"), line("allow anyone /item/v1/:id"),
	line("allow signed hook POST /wc/store/v1/hook"),
	line("allow anyone GET,POST /wc/store/v1/cart"), line("allow anyone GET /wc/store/cart"), line("allow anyone POST /wc/store/v1/batch"),
}

func observing(t *testing.T, s *Site) *Chain {
	t.Helper()
	policies := map[string]*Configured{}
	for _, o := range lockdownRules {
		e, _ := Lookup(o.Name)
		if policies[e.Name] == nil {
			policies[e.Name] = NewConfigured(e)
		}
		configure(t, policies[e.Name].Policy, o)
	}
	c, err := NewChain(s, Observe, policies)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestLockdown: on a site that observes, a lockdown closes what the rules leave to
// anonymous callers, and nothing else.
func TestLockdown(t *testing.T) {
	nobody, admin := asktest.Answering(401, `{"code":"rest_not_logged_in"}`), asktest.Answering(200, adminBody)
	wrong := asktest.Answering(401, `{"code":"incorrect_password"}`)
	broken := asktest.Answering(500, "")
	mints := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if q.Page != "" {
			return asktest.JSON(200, "0123456789"), nil
		}
		return asktest.JSON(200, clientBody), nil
	}}
	for name, test := range map[string]struct {
		backend              *asktest.Platform
		method, target, body string
		headers              []string
		hard                 bool
		status               int
		code                 Code
		policy               string
		asked                int
	}{
		"anonymous":                    {nobody, "GET", "/wp-json/report/v1/x", "", nil, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"route without a rule":         {nobody, "GET", "/wp-json/other/v1/x", "", nil, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"forged credentials":           {nobody, "GET", "/wp-json/other/v1/x", "", []string{basicAuth}, false, 401, CodeNotLoggedIn, LockdownName, 1},
		"wrong password":               {wrong, "GET", "/wp-json/other/v1/x", "", []string{basicAuth}, false, 401, CodePlatform, LockdownName, 1},
		"cannot decide":                {broken, "GET", "/wp-json/other/v1/x", "", []string{basicAuth}, false, 503, CodeUnavailable, LockdownName, 1},
		"index, cookie without nonce":  {mints, "GET", "/wp-json/other/v1", "", []string{loginLine}, true, 0, "", "", 2},
		"index, forged cookie":         {broken, "GET", "/wp-json/other/v1", "", []string{loginLine}, true, 401, CodeNotLoggedIn, LockdownName, 1},
		"user":                         {admin, "GET", "/wp-json/other/v1/x", "", []string{basicAuth}, false, 0, "", "", 1},
		"rest_route":                   {nobody, "GET", "/?rest_route=/report/v1/x", "", nil, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"allow anyone":                 {nobody, "POST", "/wp-json/consent/v1/consent", "", nil, false, 0, "", "", 0},
		"allow anyone, hard":           {nobody, "POST", "/wp-json/consent/v1/consent", "", nil, true, 0, "", "", 0},
		"allow anyone, other method":   {nobody, "GET", "/wp-json/consent/v1/consent", "", nil, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"allow anyone under a guard":   {nobody, "GET", "/wp-json/wp/v2/users", "", nil, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"name outside the path":        {nobody, "GET", "/wp-json/item/v1/5?id=6", "", nil, false, 400, CodeAmbiguous, LockdownName, 0},
		"checkout":                     {nobody, "POST", "/wp-json/wc/store/v1/cart/add-item", "", nil, false, 0, "", "", 0},
		"checkout, hard":               {nobody, "POST", "/wp-json/wc/store/v1/cart/add-item", "", nil, true, 401, CodeNotLoggedIn, LockdownName, 0},
		"checkout, hard, allow anyone": {nobody, "GET", "/wp-json/wc/store/v1/cart", "", nil, true, 401, CodeNotLoggedIn, LockdownName, 0},
		"the same without a version":   {nobody, "GET", "/wp-json/wc/store/cart", "", nil, true, 401, CodeNotLoggedIn, LockdownName, 0},
		"in a batch, hard":             {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"}]}`, []string{jsonType}, true, 401, CodeNotLoggedIn, LockdownName, 0},
		"checkout, hard, allow signed": {nobody, "POST", "/wp-json/wc/store/v1/hook", "", []string{signedStamp, "X-Signature: " + stampMAC}, true, 0, "", "", 0},
		"batch route":                  {nobody, "POST", "/wp-json/batch/v1", `{"requests":[]}`, []string{jsonType}, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"batch of the checkout":        {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"}]}`, []string{jsonType}, false, 0, "", "", 0},
		"part outside the checkout":    {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"},{"path":"/other/v1/x","method":"POST"}]}`, []string{jsonType}, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"part with a signed rule":      {nobody, "POST", "/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/hook/v1/in","method":"POST"}]}`, []string{jsonType}, false, 401, CodeNotLoggedIn, LockdownName, 0},
		"no certain reading":           {nobody, "GET", "/?rest_route=/a&rest_route=/b", "", nil, false, 400, CodeAmbiguous, LockdownName, 0},
		"the other platform's prefix":  {nobody, "GET", "/cms-json/cms/v2/posts", "", nil, false, 503, CodeUnavailable, LockdownName, 0},
		"signed, no signature":         {nobody, "POST", "/wp-json/hook/v1/in", "", nil, false, 401, CodeSignature, "signature", 0},
		"signed":                       {nobody, "POST", "/wp-json/hook/v1/in", "", []string{signedStamp, "X-Signature: " + stampMAC}, false, 0, "", "", 0},
		"signed, a user without":       {admin, "POST", "/wp-json/hook/v1/in", "", []string{basicAuth}, false, 0, "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.Lists = func(_, namespace string) bool { return namespace == "other/v1" }
			c := observing(t, s)
			backend := &asktest.Platform{Answer: test.backend.Answer}
			r := request(t, s, backend, test.method, test.target, test.body, test.headers...)
			r.InForce = InForce{Locked: true, Hard: test.hard}
			d := c.Judge(t.Context(), r)
			if d.Outcome == WouldRefuse {
				d = Decision{}
			}
			if d.Verdict.Status != test.status || d.Verdict.Code != test.code || d.Policy != test.policy {
				t.Errorf("%s refuses with %d %s, %v", d.Policy, d.Verdict.Status, d.Verdict.Code, d.Err)
			}
			if d.Policy == LockdownName && d.Verdict.Code == CodeNotLoggedIn && d.Verdict.Rule != LockdownName {
				t.Errorf("by the rule %q", d.Verdict.Rule)
			}
			if asked := len(backend.Questions()); asked != test.asked {
				t.Errorf("%d questions, want %d", asked, test.asked)
			}
			forget(r)
			r.InForce = InForce{}
			if d := c.Judge(t.Context(), r); d.Outcome == Refuse {
				t.Errorf("refused without a lockdown, by %s", d.Policy)
			}
		})
	}
}

// TestLockdown_GenericBatch: hard closes the checkout to the parts of a batch of the core too,
// whichever rules open it.
func TestLockdown_GenericBatch(t *testing.T) {
	s := newSite(t)
	access := new(Access)
	for _, text := range []string{"allow anyone POST /batch/v1", "allow anyone /wc/store/v1/cart"} {
		configure(t, access, line(text))
	}
	c, err := NewChain(s, Enforce, configured("access", access))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for hard, want := range map[bool]int{true: 401, false: 0} {
		r := request(t, s, asktest.Answering(401, ""), "POST", "/wp-json/batch/v1", `{"requests":[{"path":"/wc/store/v1/cart","method":"POST"}]}`, jsonType)
		r.InForce = InForce{Locked: true, Hard: hard}
		if d := c.Judge(t.Context(), r); d.Verdict.Status != want {
			t.Errorf("hard %v: %+v, %v", hard, d.Verdict, d.Err)
		}
	}
}

// TestLockdown_Embedded: what a lockdown closes is not embedded either.
func TestLockdown_Embedded(t *testing.T) {
	s := newSite(t)
	c := observing(t, s)
	p := c.WithLockdown()[1].Policy.(AnswerChanger)
	r := request(t, s, asktest.Answering(401, ""), "GET", "/wp-json/consent/v1/posts?_embed", "")
	if p.Rewrites(r) != RewriteNothing {
		t.Error("rewrites without a lockdown")
	}
	r.InForce.Locked = true
	if p.Rewrites(r) != RewriteBody {
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
	var none *Switches
	if f := none.InForce(nil); f != (InForce{}) {
		t.Error(f)
	}
	all := new(Switch)
	s := &Switches{All: all}
	if f := s.InForce(nil); f != (InForce{}) { // the time is not asked for
		t.Error(f)
	}
	s.Mode.Set(Switched{Mode: Observe, Until: start.Add(1)})
	s.Lockdown.Set(Switched{Until: start.Add(2)})
	all.Set(Switched{Hard: true, Until: start.Add(3)})
	for _, want := range []InForce{{Mode: Observe, Locked: true, Hard: true}, {Locked: true, Hard: true}, {Locked: true, Hard: true}, {}} {
		if f := s.InForce(now); f != want {
			t.Errorf("%+v, want %+v", f, want)
		}
		start = start.Add(1)
	}
	s.Lockdown.Set(Switched{Until: start.Add(1)})
	if f := s.InForce(now); f != (InForce{Locked: true}) {
		t.Error(f)
	}
	s.Lockdown.Off()
	if f := s.InForce(now); f != (InForce{}) {
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
		directive, own, switched Mode
		observes                 bool
	}{
		{"", "", "", false},
		{Observe, "", "", true},
		{Observe, Enforce, "", false},
		{"", Observe, "", true},
		{"", "", Observe, true},
		{"", Enforce, Observe, true},
		{Observe, "", Enforce, false},
		{Observe, Observe, Enforce, true},
		{Enforce, Enforce, Enforce, false},
	} {
		p := linked("redact", new(Redact), Settings{Mode: test.own})
		c, err := NewChain(newSite(t), test.directive, map[string]*Configured{"redact": p})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.WithLockdown() {
			switch observes := m.Observes(InForce{Mode: test.switched}); {
			case m.Name == LockdownName && observes:
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
		r := request(t, newSite(t), nobody, "GET", "/wp-json/wc/store/v1/cart", "")
		r.InForce = InForce{Locked: true, Hard: hard}
		if d := c.Judge(t.Context(), r); d.Verdict.Status != status {
			t.Errorf("hard %t: %+v", hard, d.Verdict)
		}
	}
}
