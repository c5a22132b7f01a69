// Package access is the policy access: who may make which call, by rules, built-in guards and the lines for
// plugins. A second policy here is the lockdown, which closes the API to visitors, but for what those rules open.
package access

import (
	"cmp"
	"context"
	"net/http"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/shop"
	"github.com/restwarden/restwarden/policies/typo"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:    "access",
	Words:   []string{"login_only", "access", "allow", "deny", "recommended"},
	Default: true,
	New:     func() policy.Policy { return new(Access) },
	Codes:   []policy.Code{policy.CodeNotLoggedIn, policy.CodeForbidden, policy.CodeNoRoute, policy.CodeTooMany, policy.CodePlatform},
}

// Access decides by route, method and caller. The first rule that matches decides. The
// order is: built-in rules, the site's own rules as written, then the default, which is
// users with login_only and anyone without (docs/policies/access.md). A built-in rule only takes
// away, and so does a line `deny plugin`: the site's own rule must admit the caller as well.
type Access struct {
	// LoginOnly makes the whole REST interface require a login.
	LoginOnly bool `json:"login_only,omitempty"`
	// Rules are the allow and deny lines, in order.
	Rules []policy.Rule `json:"rules,omitempty"`
	// Guards are what the lines `deny plugin` take away from callers without a login.
	Guards []Guard `json:"guards,omitempty"`
	// Plugins are the lines `allow plugin` and `deny plugin`.
	Plugins []PluginLine `json:"plugins,omitempty"`
	// Recommended "off" switches the built-in rules off.
	Recommended string `json:"recommended,omitempty"`

	guards    []Guard // the built-in ones, then Guards
	loginOnly policy.Rule
}

// Configure takes login_only, allow, deny, recommended and the policy's own block.
func (p *Access) Configure(o policy.Option) error {
	switch o.Name {
	case "login_only":
		if err := o.Once(p.LoginOnly); err != nil {
			return err
		}
		p.LoginOnly = true
		return o.None()
	case "recommended":
		if err := o.Once(p.Recommended != ""); err != nil {
			return err
		}
		word, err := o.Word("on", "off")
		p.Recommended = word
		return err
	case "allow", "deny":
		if o.From != "" && (o.Name == "deny" || o.Args[0] == "plugin") {
			return p.fromPlugin(o)
		}
		r, err := policy.RuleOption(o)
		p.Rules = append(p.Rules, r)
		return err
	}
	return o.Bare()
}

// fromPlugin takes what ExpandPlugins makes of a line, but for its allow rules.
func (p *Access) fromPlugin(o policy.Option) error {
	if o.Args[0] == "plugin" {
		p.Plugins = append(p.Plugins, pluginLineOption(o))
		return nil
	}
	g, err := guardOption(o)
	p.Guards = append(p.Guards, g)
	return err
}

// Provision checks the rules.
func (p *Access) Provision(site *policy.Site, settings policy.Settings) error {
	p.loginOnly = policy.MustRule("users", nil, "/**")
	p.loginOnly.As(policy.OriginDefault, "login_only")
	p.loginOnly.At = settings.At
	if err := typo.CheckOption("recommended", p.Recommended, "on", "off"); err != nil {
		return err
	}
	p.guards = nil
	if p.Recommended != "off" {
		p.guards = builtInGuards(site.Platform)
	}
	for i := range p.Guards {
		if err := p.Guards[i].compile(); err != nil {
			return p.Guards[i].Invalid(err)
		}
		p.guards = append(p.guards, p.Guards[i])
	}
	for _, l := range p.Plugins {
		if err := l.validate(); err != nil {
			return policy.Option{Pos: l.At}.Errorf("plugins: %w", err)
		}
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		if err := r.Compile(); err != nil {
			return r.Invalid(err)
		}
		if err := r.CheckNames(site); err != nil {
			return r.Invalid(err)
		}
	}
	return nil
}

// Check finds the rule that decides. It asks who is calling only if that rule depends on
// the caller.
func (p *Access) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.check(ctx, r, false)
}

// check is Check, or CheckEarly.
func (p *Access) check(ctx context.Context, r *policy.Request, early bool) (policy.Verdict, error) {
	guard, own := p.decide(r)
	for _, match := range [...]policy.Match{guard, own} {
		if match.Rule == nil {
			continue
		}
		r.Matched = match
		err := match.ProtectNames(r.Call)
		if match.Rule.Origin() == policy.OriginSwitch {
			err = cmp.Or(err, r.CheckOpened(match.Route))
		}
		if err != nil {
			return policy.Verdict{}, err
		}
		verdict, err := p.judge(ctx, r, match, early)
		if verdict.Refused() && verdict.Answer == nil { // else the platform refuses, not the rule
			verdict.Rule, verdict.Pos, verdict.Origin = match.Rule.String(), match.Rule.At, match.Rule.Origin()
		}
		if err != nil || verdict.Refused() {
			return verdict, err
		}
	}
	if own.Rule != nil && own.Rule.Origin() == policy.OriginSwitch && !early {
		r.PassesBy(own.Rule)
	}
	return policy.Verdict{}, nil
}

// CheckEarly judges a batch by its own route, but for conditions about its parameters.
func (p *Access) CheckEarly(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	return p.check(ctx, r, true)
}

// decide returns the guard that matches the call and the first of the site's own rules that
// does; both must admit the caller. If neither exists, own is the default, which asks for no
// more than any guard.
func (p *Access) decide(r *policy.Request) (guard, own policy.Match) {
	return p.decideWith(r, p.ownRule(r))
}

// decideWith is decide for a call whose own rule is known.
func (p *Access) decideWith(r *policy.Request, own policy.Match) (guard, either policy.Match) {
	for i := range p.guards {
		g := &p.guards[i]
		match, why := g.match(r.Call, own)
		if r.Considered("access", &g.Rule, g.At, why); why == policy.Matches {
			return match, own
		}
	}
	switch {
	case own.Rule != nil:
		return policy.Match{}, own
	case p.LoginOnly:
		if line, open := r.InForce.Opened(r.Call); open {
			return policy.Match{}, line
		}
		return policy.Match{}, policy.Match{Rule: &p.loginOnly, Route: &p.loginOnly.Target().Routes()[0]}
	}
	return policy.Match{}, anyone
}

// ownRule returns the first of the site's own rules that matches the call.
func (p *Access) ownRule(r *policy.Request) policy.Match {
	for i := range p.Rules {
		rule := &p.Rules[i]
		match, ok := rule.Match(r.Call)
		if ok {
			r.Considered("access", rule, rule.At, policy.Matches)
			return match
		}
		r.Considered("access", rule, rule.At, rule.Target().WhyNot(r.Call))
	}
	return policy.Match{}
}

// defaultAnyone is the default rule of a site without login_only; anyone is its match.
var (
	defaultAnyone = openRule()
	anyone        = policy.Match{Rule: &defaultAnyone, Route: &defaultAnyone.Target().Routes()[0]}
)

func openRule() policy.Rule {
	r := policy.MustRule("anyone", nil, "/**")
	r.As(policy.OriginDefault, "")
	return r
}

func (p *Access) apply(ctx context.Context, r *policy.Request, rule *policy.Rule) (policy.Verdict, error) {
	switch {
	case p.LoginOnly && (rule.Who() == policy.Anyone || rule.Who() == policy.BySignature && !r.IsPart):
		return checkOpen(ctx, r)
	case rule.Who() == policy.Anyone, rule.Who() == policy.BySignature && !r.IsPart:
		return policy.Verdict{}, nil
	case rule.Who() == policy.BySignature: // a signature covers a request, not a part of one
		return policy.Forbidden(), nil
	case rule.As404:
		return policy.Verdict{Status: http.StatusNotFound, Code: policy.CodeNoRoute, Message: policy.MessageNoRoute}, nil
	case rule.Deny:
		return policy.Forbidden(), nil
	}
	who, answer, err := r.Who(ctx)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case answer != nil && p.LoginOnly:
		return inOneWord(answer), nil
	case answer != nil:
		return policy.InPlatformWords(answer), nil
	}
	if admitted, err := rule.AdmitsRights(ctx, r, who); admitted || err != nil {
		return policy.Verdict{}, err
	}
	v := policy.Forbidden()
	if p.LoginOnly && who.Kind == caller.Anonymous {
		v = policy.Verdict{Status: http.StatusUnauthorized, Code: policy.CodeNotLoggedIn, Message: policy.MessageLoginOnly}
	}
	v.Note = shop.NoteOnKey(r)
	return v, nil
}

// Standing says how the policy access of a chain stands, whatever its rules are.
type Standing struct {
	LoginOnly bool
	// Off tells that the policy is off: no call is judged by a rule.
	Off bool
	// Observes tells that it refuses nothing. Mode is the policy's own, "" where that of the
	// directive counts.
	Observes bool
	Mode     policy.Mode
	At       string // of the policy; "" where no line names it
}

// StandingOf returns how the policy access of a chain stands.
func StandingOf(c *policy.Chain) Standing {
	for _, m := range c.Policies() {
		if access, ok := m.Policy.(*Access); ok {
			return Standing{LoginOnly: access.LoginOnly, Observes: m.Observes(policy.InForce{}), Mode: m.Settings.Mode, At: m.Settings.At}
		}
	}
	return Standing{Off: true}
}

// EachRoute implements [policy.Router].
func (p *Access) EachRoute(do func(policy.RouteLine)) {
	for i := range p.Rules {
		r := &p.Rules[i]
		do(policy.RouteLine{At: r.At, Text: r.String(), Routes: r.Target().Routes(), Own: r.Origin() == policy.OriginOwn, Rule: r})
	}
	for i := range p.guards {
		r := &p.guards[i].Rule
		do(policy.RouteLine{At: r.At, Text: r.String(), Routes: r.Target().Routes(), Rule: r})
	}
}

// Why implements [policy.Explainer].
func (p *Access) Why(v policy.Verdict) string {
	if v.Answer != nil {
		return whyLogin(v)
	}
	if v.Origin == policy.OriginBuiltIn {
		return whysBuiltIn[v.Code]
	}
	return whys[v.Code]
}

var whys = map[policy.Code]string{
	policy.CodeNotLoggedIn: "A rule asks for a login for this call, and the caller sent none that counts here.",
	policy.CodeForbidden:   "A rule does not allow this call to this caller.",
	policy.CodeNoRoute:     "A rule hides this route.",
}

var whysBuiltIn = map[policy.Code]string{
	policy.CodeNotLoggedIn: "A built-in rule lets only those who are logged in make this call, and the caller sent no login that counts here.",
	policy.CodeForbidden:   "A built-in rule closes this call to this caller.",
}
