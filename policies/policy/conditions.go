package policy

import (
	"slices"

	"github.com/restwarden/restwarden/policies/condition"
)

// ConditionsOption reads the block behind a line `allow`; nil where there is none.
func ConditionsOption(o Option) (*condition.Conditions, error) {
	switch {
	case len(o.Block) == 0:
		return nil, nil
	case o.Name == "deny":
		return nil, o.Errorf("%s takes no block", o.Name)
	}
	c := new(condition.Conditions)
	for _, line := range o.Block {
		if err := conditionOption(c, line); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func conditionOption(c *condition.Conditions, o Option) error {
	if len(o.Block) > 0 {
		return o.Errorf("%s takes no block", o.Name)
	}
	word := o.Name
	if o.Quoted { // it is the name of a member
		word = ""
	}
	list := map[string]*[]string{"only": &c.Only, "optional": &c.Optional, "from": &c.From}[word]
	switch {
	case slices.Contains(condition.Words, word) && len(o.Args) > 0 && slices.Contains(condition.Signs, o.Args[0]):
		return o.Errorf("%s is a word of conditions: write a member of this name in quotes", o.Name)
	case list != nil && *list != nil, word == "between" && c.Between != "":
		return o.Once(true)
	case list != nil && len(o.Args) == 0:
		return o.Missing("needs what it is about")
	case list != nil:
		*list = o.Args
		return placed(o, condition.Conditions{From: c.From})
	case word == "between":
		return betweenOption(c, o)
	}
	m, err := condition.ParseComparison(o.Name, o.Args)
	if err != nil {
		return o.Errorf("%w", err)
	}
	c.Members = append(c.Members, m)
	return nil
}

// AroundOption reads a line `from` or `between`. The result has it beside what was read before.
func AroundOption(from []string, between string, o Option) (condition.Conditions, error) {
	c := condition.Conditions{From: from, Between: between}
	return c, conditionOption(&c, o)
}

func betweenOption(c *condition.Conditions, o Option) error {
	switch len(o.Args) {
	case 0:
		return o.Missing("needs hours such as 08:00-18:00")
	case 1:
		c.Between = o.Args[0]
	case 2:
		c.Between = o.Args[0] + " " + o.Args[1]
	default:
		return o.Errorf("between takes hours such as 08:00-18:00, and a zone")
	}
	return placed(o, condition.Conditions{Between: c.Between})
}

// placed checks the condition of one line, so that an error names that line.
func placed(o Option, c condition.Conditions) error {
	if err := c.Compile(false); err != nil {
		return o.Errorf("%w", err)
	}
	return nil
}

// compileConditions checks the conditions of the rule.
func (r *Rule) compileConditions() error {
	if r.Conditions == nil {
		return nil
	}
	if r.Deny {
		return errDenyConditions
	}
	return r.Conditions.Compile(!r.target.writes())
}

// writes tells whether a call of the target may be one that writes.
func (t *Target) writes() bool {
	return len(t.methods) == 0 || slices.ContainsFunc(t.methods, func(m string) bool { return m != "GET" && m != "HEAD" && m != "OPTIONS" })
}

// UnmetAround returns the first condition of the rule about the client and the time that does not hold for r, as its
// line, or "". It looks at nothing that the client has sent.
func (m Match) UnmetAround(r *Request) (line string) {
	if m.Rule.Conditions == nil {
		return ""
	}
	return m.Rule.Conditions.Around(r.Client, r.Whole.Site.Now())
}

// Unmet returns the first condition of the rule about the parameters of r that does not hold, as its line, or "". The
// error is a *call.Refusal, also where any place has another value for a ":name" than the path.
func (m Match) Unmet(r *Request) (line string, err error) {
	if m.Rule.Conditions == nil {
		return "", nil
	}
	names := m.Route.Names()
	for _, name := range names { // ProtectNames looks at what the platform would take
		values, err := r.Call.Values(name)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(values, func(v any) bool { return v != nil && !m.isGroup(r.Call, name, v) }) {
			return "", errOutsidePath
		}
	}
	return m.Rule.Conditions.Of(r.Call, func(name string) bool {
		return slices.Contains(names, name) || r.Whole.Site.IsCredential(name)
	})
}
