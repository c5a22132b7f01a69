package review

import (
	"cmp"
	"slices"

	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
)

// Opening says what a line does that opens calls to anyone while the gateway runs.
type Opening struct {
	// Passes tells whether it lets any call of an anonymous caller pass that nothing else does.
	Passes bool
	// Checkout tells whether it lets such a call of the shop's checkout pass, and Beside names the first other one, "" if there is none. A
	// lockdown that is not hard leaves the checkout open.
	Checkout bool
	Beside   string
	// Stops are the lines that refuse calls of it, each once, with the calls: "POST /acme/v1/x".
	Stops []Stop
	// Without are the lines by which calls of it pass without it.
	Without []Stop
}

// Stop is a line that the calls of another one do not come to.
type Stop struct {
	By   *policy.Rule // nil where no line asks for a login
	Call string       // the first such call, "POST /acme/v1/x"
}

// Open says what a line does at a site, with what is in force. The error is keyset.ErrTooMany.
func Open(c *policy.Chain, line *policy.SwitchedLine, f policy.InForce) (Opening, error) {
	a := keyset.New("")
	f = f.Lines([]*policy.SwitchedLine{line}, f.Closes())
	deciders, _ := NewDeciders(c, f, a, 0, nil)
	var found Opening
	for i := range line.Rules() {
		target := line.Rules()[i].Target()
		for _, route := range target.Routes() {
			err := a.Walk(keyset.KeysOf(route), nil, func(place *keyset.Place) bool {
				for _, method := range policy.MethodsApart {
					one := CallOf(method, place.Key())
					if target.Matches(one) {
						found.add(deciders.Fate(&Holder{}, one, place.State.Matches()), method+" "+place.Route(), c.Site().InCheckout(one))
					}
				}
				return true
			})
			if err != nil {
				return Opening{}, err
			}
		}
	}
	return found, nil
}

// add adds what becomes of a call.
func (o *Opening) add(f Fate, call string, checkout bool) {
	switch {
	case f.Passes && f.PassedBy != nil && f.PassedBy.Origin() == policy.OriginSwitch:
		o.Passes, o.Checkout = true, o.Checkout || checkout
		if !checkout {
			o.Beside = cmp.Or(o.Beside, call)
		}
	case f.Passes:
		o.Without = addStop(o.Without, Stop{f.PassedBy, call})
	}
	if f.Refused {
		o.Stops = addStop(o.Stops, Stop{f.RefusedBy, call})
	}
}

// addStop adds a stop whose line is none of those before.
func addStop(all []Stop, s Stop) []Stop {
	if slices.ContainsFunc(all, func(known Stop) bool { return known.By == s.By }) {
		return all
	}
	return append(all, s)
}
