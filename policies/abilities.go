package policies

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// Abilities decides which named operations of the platform may be run over REST
// (docs/interface E11; docs/platform I.9, III.11). It judges the ability's id, the method
// that the ability requires, and the input by the ability's own schema.
type Abilities struct {
	// Rules are the allow and deny lines, in order; the first that fits an ability
	// decides. An ability that no rule fits is denied if any rule allows, and allowed
	// otherwise. A destructive ability needs a rule that names it without wildcard.
	Rules []AbilityRule `json:"rules,omitempty"`

	site      *Site
	namespace string
	schemas   *schemaCache
}

// AbilityRule is one pattern of a line `allow <pattern>...` or `deny <pattern>...`.
type AbilityRule struct {
	// Pattern is an ability's id, with * for any part of it: "shop/*".
	Pattern string `json:"pattern"`
	Deny    bool   `json:"deny,omitempty"`
	// At is where the rule stands, "Caddyfile:12".
	At string `json:"at,omitempty"`
}

// Configure takes abilities [{ allow|deny <pattern>... }].
func (p *Abilities) Configure(o Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("abilities takes a block, no arguments")
	}
	return o.Each(func(o Option) error {
		if o.Name != "allow" && o.Name != "deny" {
			return o.UnknownIn("allow", "deny")
		}
		if len(o.Args) == 0 || len(o.Block) > 0 {
			return o.Errorf("%s takes one pattern or several", o.Name)
		}
		for _, pattern := range o.Args {
			r := AbilityRule{Pattern: pattern, Deny: o.Name == "deny", At: o.Pos}
			if err := r.check(); err != nil {
				return o.Errorf("%s: %w", o.Name, err)
			}
			p.Rules = append(p.Rules, r)
		}
		return nil
	}, "allow", "deny")
}

func (r AbilityRule) check() error {
	if r.Pattern == "" || strings.Trim(r.Pattern, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/*") != "" {
		return fmt.Errorf("%q cannot be the id of an ability, such as shop/orders-query", r.Pattern)
	}
	return nil
}

func (r AbilityRule) fits(id string) bool {
	parts := strings.Split(r.Pattern, "*")
	rest, ok := strings.CutPrefix(id, parts[0])
	for i := 1; ok && i < len(parts); i++ {
		if i == len(parts)-1 {
			return strings.HasSuffix(rest, parts[i])
		}
		_, rest, ok = strings.Cut(rest, parts[i])
	}
	return ok && rest == ""
}

func (r AbilityRule) String() string {
	if r.Deny {
		return "abilities deny " + r.Pattern
	}
	return "abilities allow " + r.Pattern
}

// Provision checks the rules.
func (p *Abilities) Provision(site *Site, _ Settings) error {
	p.site, p.namespace, p.schemas = site, "/"+site.Platform.Abilities+"/abilities", newSchemaCache()
	for _, r := range p.Rules {
		if err := r.check(); err != nil {
			return Option{Pos: r.At}.Errorf("%w", err)
		}
	}
	return nil
}

// decide returns the first rule that fits id, and whether the rules allow the ability. It
// reports each rule that it considers to told, which may be nil.
func (p *Abilities) decide(id string, told func(*AbilityRule, Mismatch)) (rule AbilityRule, allowed bool) {
	open := true
	for i := range p.Rules {
		r := &p.Rules[i]
		why := Matches
		if !r.fits(id) {
			why = OtherID
		}
		if told != nil {
			told(r, why)
		}
		if why == Matches {
			return *r, !r.Deny
		}
		open = open && r.Deny
	}
	return AbilityRule{}, open
}

// runs returns the id of the ability that c runs. It reads the id from the route as sent,
// since ids differ by case. An id anywhere else is an error: the platform would take it
// from there (docs/platform I.9).
func (p *Abilities) runs(c *call.Call) (id string, runs bool, err error) {
	if c.Kind != call.Single || c.Method == http.MethodOptions {
		return "", false, nil
	}
	rest, ok := strings.CutPrefix(c.Key, p.namespace+"/")
	if !ok || !strings.HasSuffix(rest, "/run") {
		return "", false, nil
	}
	if _, set, err := c.Param("name"); err != nil || set {
		if err == nil {
			err = call.Ambiguous("parameter_outside_path")
		}
		return "", true, err
	}
	return strings.TrimPrefix(c.Route[:len(c.Route)-len("/run")], c.Route[:len(p.namespace)+1]), true, nil
}

// Check judges a call that runs an ability. The rules come first. The platform is asked
// only about an ability that they allow, and only as a caller with credentials. A caller
// without credentials may run an ability that a rule names without wildcard, if the
// platform lets them.
func (p *Abilities) Check(ctx context.Context, r *Request) (Verdict, error) {
	id, runs, err := p.runs(r.Call)
	if !runs || err != nil {
		return Verdict{}, err
	}
	rule, allowed := p.decide(id, func(rule *AbilityRule, why Mismatch) { r.considered("abilities", rule, rule.At, why) })
	if !allowed {
		return p.forbid(rule), nil
	}
	claim, err := r.Claim()
	switch {
	case err != nil:
		return Verdict{}, err
	case claim == caller.ClaimNothing && rule.Pattern == id:
		return Verdict{}, nil
	case claim == caller.ClaimNothing: // the platform describes abilities to users only
		return p.forbid(rule), nil
	}
	about, answer, err := p.describe(ctx, r, id)
	switch {
	case err != nil:
		return Verdict{}, err
	case answer != nil && answer.Status == http.StatusNotFound:
		return Verdict{}, nil // no such ability, or no abilities at all: the platform itself says so
	case answer != nil:
		return inPlatformWords(answer), nil
	case about.destructive() && rule.Pattern != id:
		return p.forbid(rule), nil
	case !about.runsWith(r.Call.Method):
		return invalid(fmt.Sprintf("This ability is run with %s.", about.method())), nil
	}
	reason, err := p.schemas.violation(about, r.Call)
	if err != nil || reason == "" {
		return Verdict{}, err
	}
	return invalid("Ability input is not valid: " + reason), nil
}

func (p *Abilities) forbid(rule AbilityRule) Verdict {
	v := forbidden()
	v.Rule = "abilities: not allowed by any rule"
	if rule.Pattern != "" {
		v.Rule, v.Pos = rule.String(), rule.At
	}
	return v
}

func invalid(message string) Verdict {
	return Verdict{Status: http.StatusBadRequest, Code: CodeInvalidParam, Message: message}
}

// describe asks the platform, as the caller, what the ability is. If the platform refuses
// to say, describe returns that answer.
func (p *Abilities) describe(ctx context.Context, r *Request, id string) (*ability, *ask.Answer, error) {
	if !validAbility(id) {
		return nil, nil, call.Ambiguous("ability_id")
	}
	a, err := r.Ask(ctx, ask.Question{Kind: ask.KindSchema, Route: p.namespace + "/" + id})
	if err != nil {
		return nil, nil, fmt.Errorf("what is the ability %s: %w", id, err)
	}
	switch {
	case a.Status == http.StatusOK:
		about, err := parseAbility(a.Body, id)
		return about, nil, err
	case a.Status < 500 && a.Code() != "":
		return nil, a, nil
	}
	return nil, nil, fmt.Errorf("what is the ability %s: %w", id, ask.Unexpected(a))
}

// validAbility accepts the ids that the platform's route pattern accepts.
func validAbility(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/") == ""
}

// Rewrites asks for the body of the list of abilities.
func (p *Abilities) Rewrites(r *Request) Rewrite {
	if c := r.Call; c.Kind == call.Single && c.Key == p.namespace && (c.Method == http.MethodGet || c.Method == http.MethodHead) {
		return RewriteBody
	}
	return RewriteNothing
}

// Rewrite removes from the list the abilities that may not be run. An answer to HEAD
// loses its totals.
func (p *Abilities) Rewrite(_ *Request, a *ask.Answer) error {
	if a.Status != http.StatusOK {
		return nil
	}
	if len(a.Body) == 0 {
		p.recount(a.Header, -1)
		return nil
	}
	body, left, all, err := filterAbilities(a.Body, func(about *ability) bool {
		rule, allowed := p.decide(about.Name, nil)
		return allowed && (!about.destructive() || rule.Pattern == about.Name)
	})
	if err != nil {
		return fmt.Errorf("abilities: %w", err)
	}
	a.Body = body
	a.Header.Del("ETag")
	if left < all {
		p.recount(a.Header, left)
	}
	return nil
}

// recount corrects the totals in h to left, so that they do not count removed abilities.
// It deletes them if left is negative (unknown) or if the list has several pages.
func (p *Abilities) recount(h http.Header, left int) {
	prefix := strings.TrimSuffix(p.site.Platform.NonceHeader, "Nonce")
	total, pages := prefix+"Total", prefix+"Totalpages"
	if left >= 0 && h.Get(pages) == "1" {
		h.Set(total, strconv.Itoa(left))
		return
	}
	h.Del(total)
	h.Del(pages)
}

var errNotAbility = errors.New("the answer is not the ability that was asked about")
