package abilities

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// checkMessage judges a message that runs something.
func (p *Abilities) checkMessage(ctx context.Context, r *policy.Request, m *message.Message) (policy.Verdict, error) {
	if m.URI != "" {
		return p.checkResource(ctx, r, m)
	}
	if !mcp.IsAdapters(m.Name) {
		v, err := p.checkTool(ctx, r, m)
		if err != nil || v.Refused() || m.Ability == "" {
			return v, err
		}
		return p.checkExecutor(ctx, r, m) // a server's own tool of that name runs the other one
	}
	if m.Ability != "" {
		return p.checkExecutor(ctx, r, m)
	}
	if s := (&Subject{by: mcp.Dashed(m.Name)}); p.deniesTool(s) {
		return p.judgeKnown(ctx, r, s)
	}
	return p.checkList(ctx, r, m)
}

// deniesTool tells whether a rule denies a tool of the default server whatever ability it is
// to run, since none before it allows any.
func (p *Abilities) deniesTool(s *Subject) bool {
	for i := range p.Rules {
		switch r := &p.Rules[i]; {
		case r.fits(s):
			return true // only rules that deny fit it
		case !r.Deny && r.Kind == KindTool && Glob(r.Pattern, s.by), !r.Deny && (r.Kind == KindAbility || r.Kind == KindReadonly):
			return false
		}
	}
	return false
}

// checkResource judges a resource by its address, and by the rules about the ability that the
// platform lists with this address.
func (p *Abilities) checkResource(ctx context.Context, r *policy.Request, m *message.Message) (policy.Verdict, error) {
	s := &Subject{URI: m.URI}
	claim, err := r.Claim()
	if err != nil {
		return policy.Verdict{}, err
	}
	rule, allowed := p.decide(s, nil)
	if allowed && claim == caller.ClaimNothing && innerRoot(r.Call.Key) == "" && !rule.names(s) {
		p.decide(s, p.told(r))
		return p.forbid(rule, s), nil
	}
	if claim == caller.ClaimNothing || innerRoot(r.Call.Key) != "" || !allowed && (rule.Deny || p.deniesAbilities()) {
		return p.judgeKnown(ctx, r, s)
	}
	list, answer, err := Listed(ctx, r, claim)
	switch {
	case !allowed: // the list only tells what to say
		s.unlisted = err == nil && answer == nil && len(list.at(s.URI)) == 0
		return p.judgeKnown(ctx, r, s)
	case err != nil:
		return policy.Verdict{}, err
	case answer != nil:
		return policy.InPlatformWords(answer), nil
	}
	if !s.Resolve(list) {
		return policy.Verdict{}, call.Ambiguous("message_tool")
	}
	s.unlisted = s.ID == "" && !p.deniesAbilities()
	v, err := p.judgeKnown(ctx, r, s)
	if err != nil || v.Refused() {
		return v, err
	}
	return p.confirm(ctx, r, s, m.Method+" "+m.URI, func() (any, bool, error) { return nil, false, nil })
}

// deniesAbilities tells whether a rule may deny the ability of any resource: no address may then
// be called unknown, or the others would be known to exist.
func (p *Abilities) deniesAbilities() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Deny && r.Kind == KindAbility })
}

// checkExecutor judges the tools that run or describe the ability that they name, as a run
// over REST is judged. The platform also runs abilities there that it does not list
// (docs/platform IV.3): such a one needs a rule that names it without wildcard.
func (p *Abilities) checkExecutor(ctx context.Context, r *policy.Request, m *message.Message) (policy.Verdict, error) {
	s := &Subject{ID: m.Ability, by: mcp.Dashed(m.Name)}
	v, err := p.judge(ctx, r, s)
	if err != nil || v.Refused() {
		return v, err
	}
	if s.about == nil {
		if rule, _ := p.decide(s, nil); !rule.names(s) {
			v := p.forbid(rule, s)
			v.Note = "The platform does not list the ability, so that only a rule with exactly its id allows it."
			return v, nil
		}
	}
	if !m.Runs() {
		return policy.Verdict{}, nil
	}
	return p.checkArguments(ctx, r, s, m)
}

// checkArguments holds the input of a message against the schema, if the platform has said
// one. What is right by then may have to wait for a person.
func (p *Abilities) checkArguments(ctx context.Context, r *policy.Request, s *Subject, m *message.Message) (policy.Verdict, error) {
	arguments := func() (any, bool, error) { return input(m.Input) }
	if s.about != nil {
		if v, err := p.checkInput(s.about, arguments); err != nil || v.Refused() {
			return v, err
		}
	}
	return p.confirm(ctx, r, s, m.Method+" "+m.Name, arguments)
}

// input decodes the input of a message.
func input(raw []byte) (v any, set bool, err error) {
	if raw == nil {
		return nil, false, nil
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	err = d.Decode(&v)
	return v, true, err
}

// checkTool judges a tool or a prompt by its name. The name is that of the one ability in the
// platform's list whose dashed id it is. Two such abilities leave it open which one runs.
func (p *Abilities) checkTool(ctx context.Context, r *policy.Request, m *message.Message) (policy.Verdict, error) {
	s := &Subject{Name: m.Name}
	if rule := p.surelyDenied(s.Name); rule != nil {
		p.decide(s, p.told(r))
		return p.forbid(*rule, s), nil
	}
	if innerRoot(r.Call.Key) != "" { // its tools are no abilities, and it has keys of its own
		return p.judgeNamed(ctx, r, s, m)
	}
	claim, err := r.Claim()
	if err != nil {
		return policy.Verdict{}, err
	}
	if claim == caller.ClaimNothing {
		rule, allowed := p.allows(s, true, p.told(r))
		if allowed {
			return p.confirm(ctx, r, s, "", nil)
		}
		return p.forbid(rule, s), nil
	}
	list, answer, err := Listed(ctx, r, claim)
	switch {
	case err != nil:
		p.decide(s, p.told(r))
		return policy.Verdict{}, err
	case answer != nil:
		return policy.InPlatformWords(answer), nil
	}
	if !s.Resolve(list) {
		return policy.Verdict{}, call.Ambiguous("message_tool")
	}
	s.unlisted = s.ID == ""
	return p.judgeNamed(ctx, r, s, m)
}

// judgeNamed decides on a tool or a prompt of which all is known.
func (p *Abilities) judgeNamed(ctx context.Context, r *policy.Request, s *Subject, m *message.Message) (policy.Verdict, error) {
	v, err := p.judgeKnown(ctx, r, s)
	if err != nil || v.Refused() {
		return v, err
	}
	return p.confirm(ctx, r, s, m.Method+" "+m.Name, func() (any, bool, error) { return input(m.Arguments) })
}

// surelyDenied returns the rule that denies a name whatever ability it is of, or nil. It saves
// the question for the list.
func (p *Abilities) surelyDenied(name string) *Rule {
	for i := range p.Rules {
		r := &p.Rules[i]
		switch {
		case r.Deny && (r.Kind == KindAbility && Glob(mcp.Dashed(r.Pattern), name) || r.Kind == KindTool && Glob(r.Pattern, name)):
			return r
		case Glob(mcp.Dashed(r.Pattern), name), mcp.MayOffer(r.Pattern, name): // the list may say of which ability the name is
			return nil
		}
	}
	return nil
}
