package scope

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// checkInside judges the REST call that a tool of agents runs inside the platform (docs/platform IV.5): the scopes of the
// request decide on it as on one that a client sends. One without a certain reading is refused.
func (p *Scopes) checkInside(r *policy.Request, scopes []*Scope) (first policy.Verdict, err error) {
	if len(scopes) == 0 || r.HTTP.ContentLength == 0 || r.IsPart || !message.ToTools(r) {
		return first, nil
	}
	m, _, err := message.Mentioning(r, message.NamesRESTTool)
	if m == nil || err != nil {
		return observedBy(scopes, err)
	}
	in, inside, err := message.InsideOf(m)
	if err == nil && inside {
		err = in.Certain()
	}
	if err != nil || !inside {
		return observedBy(scopes, err)
	}
	c := &call.Call{Kind: call.Single, Method: in.Method, Route: in.Key, Key: in.Key}
	for _, s := range scopes {
		first = worse(first, p.judgeInside(s, c, m, r.Replaces(c)))
	}
	return first, nil
}

// judgeInside judges an inner call by one scope. Conditions about parameters are about a client's own call. replaces are the
// parameters by which the call would be about something else than its route says.
func (p *Scopes) judgeInside(s *Scope, c *call.Call, m *mcp.Message, replaces []string) policy.Verdict {
	match, allowed := p.line(s, c)
	switch {
	case !allowed:
		return s.refuse("None of its lines allows the REST call that the tool runs inside.")
	case writesBatch(c):
		return s.refuse("The tool runs a batch inside, whose parts cannot be judged.")
	case match.Rule.Conditions != nil:
		return s.refuse("The tool runs a REST call inside, where the conditions of the line cannot be judged.")
	case givesName(m, slices.Concat(match.Route.Names(), replaces)):
		return s.refuse("The tool hands on a parameter that the line takes from the route.")
	}
	return policy.Verdict{}
}

// givesName tells whether what a message hands on beside route and method may have one of names.
func givesName(m *mcp.Message, names []string) (gives bool) {
	if len(names) == 0 {
		return false
	}
	certain := message.EachArgument(m, func(name []byte, value jsontext.Value) {
		if string(name) == "route" || string(name) == "method" || value.Kind() == 'n' || jsonscan.EmptyList(value) {
			return
		}
		gives = !jsonscan.Each(value, func(name []byte, _ jsontext.Value) {
			gives = gives || slices.Contains(names, string(name))
		}) || gives
	})
	return gives || certain != nil
}

// observedBy is what scopes make of an error: where all of them only observe, it refuses nothing.
func observedBy(scopes []*Scope, err error) (policy.Verdict, error) {
	if err != nil && observe(scopes) {
		return observed(err), nil
	}
	return policy.Verdict{}, err
}
