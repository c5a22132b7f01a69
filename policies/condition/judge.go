package condition

import (
	"net/netip"
	"slices"
	"time"

	"github.com/restwarden/restwarden/policies/call"
)

// Around returns the first condition about the client and the time that does not hold, as its line, or "". It looks at
// nothing that the client has sent.
func (c *Conditions) Around(client netip.Addr, now time.Time) (unmet string) {
	client = client.Unmap().WithZone("")
	switch {
	case c.networks != nil && !slices.ContainsFunc(c.networks, func(n netip.Prefix) bool { return n.Contains(client) }):
		return c.fromLine()
	case !c.hours.has(now):
		return c.betweenLine()
	}
	return ""
}

// Of returns the first condition about the parameters of a call that does not hold, as its line, or "". known tells
// of a parameter that `only` need not name. The error is a *call.Refusal: what the call carries is not certain.
func (c *Conditions) Of(of *call.Call, known func(name string) bool) (unmet string, err error) {
	if c.Only != nil && of.Writes() {
		other, err := of.CarriesOther(c.only, func(name string) bool { return slices.Contains(global, name) || known(name) })
		if other || err != nil {
			return "only " + quotedList(c.Only, " "), err
		}
	}
	for i := range c.Members {
		m := &c.Members[i]
		values, err := of.Values(m.path...)
		if err != nil || !m.holds(values) {
			return m.String(), err
		}
	}
	return "", nil
}

// global are the parameters that the platform takes with every call, and that change the form of the answer, or how
// the call is named, alone (docs/platform I.2, I.3).
var global = []string{"_fields", "_embed", "_envelope", "_jsonp", "_method", "_locale", "rest_route"}
