package scopes

import (
	"slices"
	"strings"
)

// Locked is what has to become of a request while a lockdown closes the site, where v would
// without one: docs/status closes REST to nobody, but for the checkout.
func Locked(v Verdict, m *Meaning) Verdict {
	const nobody = "rest_not_logged_in"
	checkout := !slices.ContainsFunc(m.Calls, func(c *Call) bool { return !strings.HasPrefix(c.Route, "/wc/store/") })
	switch {
	case m.Door != REST || len(m.Carried) == 1 && m.Carried[0].loggedIn():
		return v
	case checkout:
		// A wrong name or password gets one answer, also on open routes (docs/identity). The shop takes the key in
		// Authorization for one only where the address has small letters.
		if slices.ContainsFunc(m.Carried, func(c Carried) bool { return c.Way == InBasic || c.Way == InBasicAlone }) {
			v.Codes = append(slices.Clone(v.Codes), Platform401)
		}
		return v
	}
	if v.Passes && !slices.ContainsFunc(m.Carried, func(c Carried) bool { return !c.nobody(m.Calls[0]) }) {
		v = Verdict{Why: "nobody in a lockdown"}
	}
	v.Codes = append(slices.Clone(v.Codes), nobody, unavailable, Platform401)
	return v
}

// loggedIn tells whether the platform takes a credential on any call, if it comes alone.
func (c *Carried) loggedIn() bool {
	return c.User != "" && !c.isKey() && c.Way != InCookieAlone
}

// nobody tells whether the platform takes a credential for nobody's on a call. That of a signature is not said: the
// platform itself has to check it.
func (c *Carried) nobody(of *Call) bool {
	switch w := c.Way; {
	case w.signed():
		return false
	case w == InForm, w == InQueryAlone, w == InBasicAlone:
		return true
	case w == InCookieAlone: // it counts on the index of a namespace
		return of.Route != "/wp/v2"
	}
	return c.Forged || c.User == "" && c.Kind != Key && c.Kind != Login || c.Kind == Login && c.User == "" && !c.isKey()
}
