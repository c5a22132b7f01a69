package diff

import (
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
)

// touched returns the patterns of the rules of access in which two chains differ; all tells that they differ in more. No
// other calls can change: where none of these rules matches, both sides have the same rules in the same order.
func touched(before, after *policy.Chain) (within []routes.Pattern, all bool) {
	old, was := said(before)
	now, is := said(after)
	if was != is {
		return nil, true
	}
	from := 0
	for from < min(len(old), len(now)) && policy.Meaning(old[from]) == policy.Meaning(now[from]) {
		from++
	}
	old, now = old[from:], now[from:]
	for len(old) > 0 && len(now) > 0 && policy.Meaning(old[len(old)-1]) == policy.Meaning(now[len(now)-1]) {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	for _, rules := range [...][]policy.Rule{old, now} {
		for i := range rules {
			within = append(within, rules[i].Target().Routes()...)
		}
	}
	return within, false
}

// said returns the rules of access of a chain, and all else that it says.
func said(c *policy.Chain) (rules []policy.Rule, rest string) {
	var others []any
	for _, m := range c.Policies() {
		settings := m.Settings
		settings.At = ""
		p := m.Policy
		if own, ok := p.(*access.Access); ok {
			rules = own.Rules
			p = &access.Access{LoginOnly: own.LoginOnly, Guards: own.Guards, Plugins: own.Plugins, Recommended: own.Recommended}
		}
		others = append(others, m.Name, settings, p)
	}
	return rules, policy.Meaning([]any{c.Mode(), others})
}
