// Package abilities is the policy abilities: which named operations of the platform agents may run, at every
// door that leads to them.
package abilities

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:  "abilities",
	Words: []string{"abilities"},
	New:   func() policy.Policy { return new(Abilities) },
	Codes: []policy.Code{policy.CodeForbidden, policy.CodeInvalidParam, policy.CodeConfirm, policy.CodeTooMany, policy.CodePlatform},
}

// Abilities decides which named operations of the platform agents may run: over REST
// (docs/project/interface E11; docs/platform I.9, III.11), and by the servers of tools that lead to
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
	doors     []routes.Pattern
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
		err := p.Rules[i].compile()
		if err == nil {
			err = p.Rules[i].by.CheckNames(site)
		}
		if err != nil {
			return policy.Option{Pos: p.Rules[i].At}.Errorf("%w", err)
		}
	}
	p.open = !slices.ContainsFunc(p.Rules, func(r Rule) bool { return !r.Deny })
	p.doors = nil
	for _, text := range p.Doors {
		pattern, err := routes.ParsePattern(text)
		if err != nil {
			return fmt.Errorf("doors: %w", err)
		}
		if pattern.OfAll() {
			return fmt.Errorf("doors: %s would take every call for a message of an agent, and refuse people's: name the servers of tools", text)
		}
		p.doors = append(p.doors, pattern)
	}
	return errors.Join(p.checkIdle(), p.checkConfirm(), typo.CheckOption("refuse", p.Refuse, refuseError, refuseResult),
		typo.CheckOption("audit", p.Audit, auditHashes, auditArguments, auditOff))
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

// EachRule implements review.Admitter.
func (p *Abilities) EachRule(do func(*policy.Rule)) {
	for i := range p.Rules {
		do(&p.Rules[i].by)
	}
}

// EachRoute implements [policy.Router]. What a site does not list of the doors is left to oddDoors: a root
// need not list each server.
func (p *Abilities) EachRoute(do func(policy.RouteLine)) {
	do(policy.RouteLine{Text: "doors", Routes: p.doors})
}
