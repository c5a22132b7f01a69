package policies

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/restwarden/restwarden/policies/call"
)

// Access decides by route, method and caller: the first rule that matches
// decides. The order is built-in rules, the site's own rules as written, then the
// default: users where login_only is set, else anyone (docs/design 6). A built-in rule
// only takes away: whom it admits the site's own rule must admit as well.
type Access struct {
	Common
	// LoginOnly makes REST as a whole for logged-in users.
	LoginOnly bool `json:"login_only,omitempty"`
	// Rules are the allow and deny lines, in order.
	Rules []Rule `json:"rules,omitempty"`
	// Recommended "off" switches the built-in rules off.
	Recommended string `json:"recommended,omitempty"`

	site      *Site
	builtIn   []builtInRule
	loginOnly Rule
}

// Configure takes login_only, allow, deny, recommended and the policy's own block.
func (p *Access) Configure(o Option) error {
	switch o.Name {
	case "login_only":
		if err := o.Once(p.LoginOnly); err != nil {
			return err
		}
		p.LoginOnly, p.At = true, o.Pos
		return o.None()
	case "recommended":
		if err := o.Once(p.Recommended != ""); err != nil {
			return err
		}
		word, err := o.Word("on", "off")
		p.Recommended = word
		return err
	case "allow", "deny":
		r, err := ruleOption(o)
		p.Rules = append(p.Rules, r)
		return err
	}
	return p.onlyCommon(o)
}

// Provision checks the rules and ties signed ones to their signatures.
func (p *Access) Provision(site *Site) error {
	p.site = site
	site.LoginOnly = p.LoginOnly
	p.loginOnly = mustRule("users", nil, "/**")
	p.loginOnly.text, p.loginOnly.At = "login_only", p.At
	switch p.Recommended {
	case "", "on":
		p.builtIn = builtInRules(site.Platform)
	case "off":
	default:
		return fmt.Errorf("recommended: %q is neither on nor off", p.Recommended)
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		if err := r.compile(); err != nil {
			return r.errorf(err)
		}
		if err := r.bindSignatures(site); err != nil {
			return r.errorf(err)
		}
	}
	return nil
}

func (r *Rule) errorf(err error) error {
	return Option{Pos: r.At}.Errorf("%s: %w", r, err)
}

func (r *Rule) bindSignatures(site *Site) error {
	if r.who != whoSigned {
		return nil
	}
	r.signatures = nil
	for _, name := range r.names {
		i := slices.IndexFunc(site.Signatures, func(s *Signature) bool { return s.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no signature %q", name)
		}
		r.signatures = append(r.signatures, site.Signatures[i])
	}
	return nil
}

// Check finds the rule that decides and asks who is calling only if the rule
// needs to know.
func (p *Access) Check(ctx context.Context, r *Request) (Verdict, error) {
	if r.Call.Kind == call.Refused {
		return Verdict{}, nil
	}
	guard, own := p.decide(r.Call)
	for _, rule := range [...]*Rule{guard, own} {
		if rule == nil {
			continue
		}
		r.Matched = rule
		if err := rule.protectNames(r.Call); err != nil {
			return Verdict{}, err
		}
		verdict, err := p.apply(ctx, r, rule)
		if verdict.Refused() {
			verdict.Rule, verdict.Pos = rule.String(), rule.At
		}
		if err != nil || verdict.Refused() {
			return verdict, err
		}
	}
	return Verdict{}, nil
}

// CheckEarly judges a batch by its own route.
func (p *Access) CheckEarly(ctx context.Context, r *Request) (Verdict, error) { return p.Check(ctx, r) }

// decide returns the built-in rule that matches c and the site's own first one,
// which both must admit the caller; where there is neither, own is the default,
// which asks for no more than any built-in rule.
func (p *Access) decide(c *call.Call) (guard, own *Rule) {
	if i := slices.IndexFunc(p.Rules, func(r Rule) bool { return r.target.matchesOne(c) }); i >= 0 {
		own = &p.Rules[i]
	}
	for i := range p.builtIn {
		if b := &p.builtIn[i]; b.matches(c) && !b.stepsBack(own, c) {
			return &b.Rule, own
		}
	}
	switch {
	case own != nil:
		return nil, own
	case p.LoginOnly:
		return nil, &p.loginOnly
	}
	return nil, &defaultAnyone
}

var defaultAnyone = mustRule("anyone", nil, "/**")

// protectNames refuses a call whose ":name" parameter the platform would take
// from elsewhere than the path (docs/platform I.3).
func (r *Rule) protectNames(c *call.Call) error {
	pattern := r.target.pattern(c.Key)
	if pattern == nil {
		return nil
	}
	for _, name := range pattern.Names() {
		v, set, err := c.Param(name)
		if err != nil {
			return err
		}
		if set && fmt.Sprint(v) != pattern.Group(c.Key, name) {
			return &call.Refusal{Status: http.StatusBadRequest, Code: CodeAmbiguous, Reason: "parameter_outside_path"}
		}
	}
	return nil
}

func (p *Access) apply(ctx context.Context, r *Request, rule *Rule) (Verdict, error) {
	switch {
	case rule.who == whoAnyone, rule.who == whoSigned && !r.part:
		return Verdict{}, nil
	case rule.who == whoSigned: // a signature covers a request, not a part of one
		return forbidden(), nil
	case rule.Deny && rule.As404:
		return Verdict{Status: http.StatusNotFound, Code: CodeNoRoute, Message: MessageNoRoute}, nil
	case rule.Deny:
		return forbidden(), nil
	}
	caller, answer, err := r.Who(ctx)
	switch {
	case err != nil:
		return Verdict{}, err
	case answer != nil:
		return inPlatformWords(answer), nil
	case rule.admits(caller):
		return Verdict{}, nil
	case p.LoginOnly && caller.Kind == Anonymous:
		return Verdict{Status: http.StatusUnauthorized, Code: CodeNotLoggedIn, Message: MessageLoginOnly}, nil
	}
	return forbidden(), nil
}

// admits tells whether the rule names the caller.
func (r *Rule) admits(c Caller) bool {
	switch r.who {
	case whoUsers:
		return c.Kind != Anonymous
	case whoRole:
		return c.Kind == User && c.HasRole(r.names)
	case whoCapability:
		return c.Kind == User && c.Capabilities[r.names[0]]
	}
	return false
}
