// Package abilities is the policy abilities: which named operations of the platform agents may run, at every
// door that leads to them.
package abilities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:  "abilities",
	Words: []string{"abilities"},
	New:   func() policy.Policy { return new(Abilities) },
	Codes: []policy.Code{policy.CodeForbidden, policy.CodeInvalidParam, policy.CodeConfirm, policy.CodeTooMany, policy.CodePlatform},
}

// Abilities decides which named operations of the platform agents may run: over REST
// (docs/interface E11; docs/platform I.9, III.11), and by the servers of tools that lead to
// the same operations (docs/platform IV). It judges what runs, who runs it, the method that
// the ability requires, and the input by the ability's own schema.
type Abilities struct {
	// Rules are the allow and deny lines, in order; the first that fits decides. What no
	// rule fits is denied if any rule allows, and allowed otherwise. A destructive ability
	// needs a rule that names it without wildcard.
	Rules []Rule `json:"rules,omitempty"`
	// Doors are routes of servers of tools beside those that are known (docs/platform IV.1).
	Doors []string `json:"doors,omitempty"`
	// Confirm are the patterns of what waits for a person.
	Confirm []ConfirmRule `json:"confirm,omitempty"`
	// ConfirmWithin is how long a confirmation lasts, from the first call on; default 15m, at
	// most 24h.
	ConfirmWithin policy.Duration `json:"confirm_within,omitempty"`
	// Notify is the address of the owner's that is told of each new confirmation, a secret.
	Notify string `json:"notify,omitempty"`
	// Refuse is "error" (the default) or "result": how a refused call of a tool is answered.
	Refuse string `json:"refuse,omitempty"`
	// Audit is what the audit log holds of arguments: "hashes" (the default), "arguments" for
	// themselves too, or "off" for no log.
	Audit string `json:"audit,omitempty"`

	site      *policy.Site
	namespace string
	schemas   *schemaCache
	doors     []call.Pattern
	within    time.Duration
	open      bool // no rule allows: what no rule fits is allowed
}

// blockWords are the options of the policy's block.
var blockWords = []string{"allow", "deny", "doors", "refuse", "audit", "confirm", "confirm_within", "notify"}

// Configure takes the policy's block.
func (p *Abilities) Configure(o policy.Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("abilities takes a block, no arguments")
	}
	return o.Each(func(o policy.Option) (err error) {
		switch o.Name {
		case "allow", "deny":
			var rules []Rule
			rules, err = abilityRules(o)
			p.Rules = append(p.Rules, rules...)
		case "doors":
			if len(o.Args) == 0 || len(o.Block) > 0 {
				return o.Missing("takes the routes of servers of tools")
			}
			p.Doors = append(p.Doors, o.Args...)
			_, err = policy.NewTarget(nil, o.Args)
			if err != nil {
				err = o.Invalid(err)
			}
		case "refuse":
			p.Refuse, err = o.Word("error", "result")
		case "audit":
			p.Audit, err = o.Word(auditHashes, auditArguments, auditOff)
		default:
			err = p.configureConfirm(o)
		}
		return err
	}, "allow", "deny", "doors", "confirm")
}

// Provision checks rules and doors.
func (p *Abilities) Provision(site *policy.Site, _ policy.Settings) error {
	p.site, p.namespace, p.schemas = site, "/"+site.Platform.Abilities+"/abilities", newSchemaCache()
	for i := range p.Rules {
		if err := p.Rules[i].compile(); err != nil {
			return policy.Option{Pos: p.Rules[i].At}.Errorf("%w", err)
		}
	}
	p.open = !slices.ContainsFunc(p.Rules, func(r Rule) bool { return !r.Deny })
	p.doors = nil
	for _, text := range p.Doors {
		pattern, err := call.ParsePattern(text)
		if err != nil {
			return fmt.Errorf("doors: %w", err)
		}
		if pattern.OfAll() {
			return fmt.Errorf("doors: %s would take every call for a message of an agent, and refuse people's: name the servers of tools", text)
		}
		p.doors = append(p.doors, pattern)
	}
	return errors.Join(p.checkIdle(), p.checkConfirm(), p.checkRefuse(), p.checkAudit())
}

// checkIdle refuses what does nothing without a rule: servers of tools are not judged then.
func (p *Abilities) checkIdle() error {
	switch {
	case p.guards():
		return nil
	case len(p.Doors) > 0:
		return errors.New("doors: no rule says what agents may run there: add allow or deny")
	case p.Refuse != "":
		return errors.New("refuse: no rule says what agents may run: add allow or deny")
	case p.Audit != "" && p.Audit != auditOff:
		return errors.New("audit: without a rule no call of an agent is read: add allow or deny")
	}
	return nil
}

// guards tells whether the policy judges servers of tools. Without a rule it judges the
// method and the input of runs over REST alone.
func (p *Abilities) guards() bool { return len(p.Rules) > 0 || len(p.Confirm) > 0 }

// decide returns the first rule that fits s, and whether the rules allow it to somebody. It
// reports each rule that it considers to told, which may be nil.
func (p *Abilities) decide(s *Subject, told func(*Rule, policy.Mismatch)) (rule Rule, allowed bool) {
	for i := range p.Rules {
		r := &p.Rules[i]
		why := policy.Matches
		if !r.fits(s) {
			why = policy.OtherID
		}
		if told != nil {
			told(r, why)
		}
		if why == policy.Matches {
			return *r, !r.Deny
		}
	}
	return Rule{}, p.open && s.URI == "" // nobody can tell which ability a resource is of
}

// allows is decide for somebody who may run s, if the rule that fits names the caller: a destructive
// ability needs its name, and so does what anonymous callers run, since the platform describes
// abilities to users only.
func (p *Abilities) allows(s *Subject, anonymous bool, told func(*Rule, policy.Mismatch)) (rule Rule, allowed bool) {
	rule, allowed = p.decide(s, told)
	if anonymous {
		allowed = allowed && rule.names(s) && rule.forAnyone()
	}
	return rule, allowed && (!s.about.destructive() || p.names(rule, s))
}

// Check judges a call that runs an ability, over REST or by a server of tools.
func (p *Abilities) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	id, runs, err := p.runs(r.Call)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case runs:
		return p.checkRun(ctx, r, id)
	case !p.guards():
		return policy.Verdict{}, nil
	}
	if id, describes, err := p.describes(r.Call); describes {
		return p.checkDescribed(ctx, r, id, err)
	}
	return p.checkDoor(ctx, r)
}

// checkDescribed judges the question what an ability is, as the run of it. Below this route the
// platform knows ids alone.
func (p *Abilities) checkDescribed(ctx context.Context, r *policy.Request, id string, err error) (policy.Verdict, error) {
	if err == nil {
		err = p.checkMarker(r)
	}
	if err != nil || !validAbility(id) {
		return policy.Verdict{}, err
	}
	return p.judge(ctx, r, &Subject{ID: id})
}

// checkRun judges a run over REST. A run of an ability that does not exist is left to the
// platform.
func (p *Abilities) checkRun(ctx context.Context, r *policy.Request, id string) (policy.Verdict, error) {
	if err := p.checkMarker(r); err != nil {
		return policy.Verdict{}, err
	}
	s := &Subject{ID: id}
	v, err := p.judge(ctx, r, s)
	if err != nil || v.Refused() {
		return v, err
	}
	if s.about != nil {
		switch runs := s.about.runsWith(r.Call.Method); {
		case !runs && r.WithOverride != nil: // without its override the platform refuses the call
			return policy.Verdict{}, nil
		case !runs:
			return invalid(fmt.Sprintf("The ability %s is run with %s.", id, s.about.method())), nil
		}
		v, err := p.checkInput(s.about, func() (any, bool, error) { return writtenInput(r.Call) })
		if err != nil || v.Refused() {
			return v, err
		}
	}
	return p.confirm(ctx, r, s, r.Call.Method, func() (any, bool, error) { return runInput(r.Call) })
}

// checkInput holds the input of a run against the ability's schema.
func (p *Abilities) checkInput(about *ability, input func() (any, bool, error)) (policy.Verdict, error) {
	value, set, err := input()
	if !set || err != nil {
		return policy.Verdict{}, err
	}
	reason, err := p.schemas.violation(about, value)
	if err != nil || reason == "" {
		return policy.Verdict{}, err
	}
	return invalid(fmt.Sprintf("The input of the ability %s is not valid: %s.", about.Name, reason)), nil
}

// judge decides whether the caller may run the ability with the id of s, by whatever way. The
// rules come first. The platform is asked only about an ability that they allow, and only as
// a caller with credentials. A caller without credentials may run an ability that a rule for
// everybody names without wildcard, if the platform lets them. s.about stays nil for an ability
// about which the platform says nothing.
func (p *Abilities) judge(ctx context.Context, r *policy.Request, s *Subject) (policy.Verdict, error) {
	claim, err := r.Claim()
	if err != nil {
		return policy.Verdict{}, err
	}
	rule, allowed := p.decide(s, nil)
	asks := allowed || p.asksReadonly(s)
	if claim == caller.ClaimNothing || !asks && rule.Deny {
		if rule, allowed = p.allows(s, true, p.told(r)); allowed {
			return policy.Verdict{}, nil
		}
		return p.forbid(rule, s), nil
	}
	about, answer, err := p.describe(ctx, r, s.ID)
	if s.unlisted = answer != nil && answer.Status == http.StatusNotFound; !asks {
		p.decide(s, p.told(r))
		return p.forbid(rule, s), nil
	}
	switch {
	case err != nil:
		p.decide(s, p.told(r))
		return policy.Verdict{}, err
	case answer != nil && answer.Status != http.StatusNotFound:
		return policy.InPlatformWords(answer), nil
	}
	s.about = about
	return p.judgeKnown(ctx, r, s)
}

// judgeKnown decides once s is all that can be known.
func (p *Abilities) judgeKnown(ctx context.Context, r *policy.Request, s *Subject) (policy.Verdict, error) {
	rule, allowed := p.allows(s, false, p.told(r))
	if !allowed {
		return p.forbid(rule, s), nil
	}
	return p.admit(ctx, r, rule, s)
}

// asksReadonly tells whether a rule for readonly abilities may fit s once the platform has
// said what it is.
func (p *Abilities) asksReadonly(s *Subject) bool {
	if s.about != nil || s.ID == "" {
		return false
	}
	as := Subject{ID: s.ID, Name: s.Name, by: s.by, about: new(ability)}
	as.about.Meta.Annotations.Readonly = true
	_, allowed := p.decide(&as, nil)
	return allowed
}

// admit refuses callers whom the rule does not name.
func (p *Abilities) admit(ctx context.Context, r *policy.Request, rule Rule, s *Subject) (policy.Verdict, error) {
	if rule.forAnyone() {
		return policy.Verdict{}, nil
	}
	who, answer, err := r.Who(ctx)
	switch {
	case err != nil:
		return policy.Verdict{}, err
	case answer != nil:
		return policy.InPlatformWords(answer), nil
	}
	if admitted, err := rule.by.AdmitsRights(ctx, r, who); admitted || err != nil {
		return policy.Verdict{}, err
	}
	return p.forbid(rule, s), nil
}

// told reports considered rules to the trace of r.
func (p *Abilities) told(r *policy.Request) func(*Rule, policy.Mismatch) {
	return func(rule *Rule, why policy.Mismatch) { r.Considered("abilities", rule, rule.At, why) }
}

// EachRoute implements [policy.Router]. What a site does not list of the doors is left to oddDoors: a root
// need not list each server.
func (p *Abilities) EachRoute(do func(policy.RouteLine)) {
	do(policy.RouteLine{Text: "doors", Routes: p.doors})
}
