package scopes

import (
	"slices"
	"strings"
)

// Call is a call, or a part of a batch, as the platform would run it.
type Call struct {
	Method  string
	Route   string
	Members []Member
	Client  string // address
}

// Carried is a credential and how it is sent.
type Carried struct {
	*Credential
	Way      Way
	Spelling Spelling
}

// Door is what a request is for.
type Door int

// The doors.
const (
	REST   Door = iota
	Page        // the shop's older interface among them
	XMLRPC      // a message to xmlrpc.php
)

// Meaning is what a request means.
type Meaning struct {
	Door    Door
	Carried []Carried
	Calls   []*Call // a call; of a batch first its own, then its parts
	Wire    string  // the method of the request line, where that is another one than of Calls[0]
	// Beside is another door to which the address of a call leads as well.
	Beside Door
	// Uncertain tells that the request has no certain reading, whatever it carries.
	Uncertain bool
	// HeldBack tells that the request has a body in JSON and is a GET whose method is overridden.
	HeldBack bool
	// Worded tells that a parameter stands for a word of the route that a line has.
	Worded bool
	// Lines of Authorization: two are refused on a page where keys have a scope.
	Lines int
	// Repeated tells that a header that decides stands twice, which no call may have.
	Repeated bool
}

// Verdict is what has to become of a request.
type Verdict struct {
	Passes bool     // it may pass
	Codes  []string // it may be refused with one of these
	Why    string
	// Bound are the scopes that bind it, for what they hide.
	Bound []*Scope
}

// Either tells whether the documentation leaves two outcomes.
func (v *Verdict) Either() bool { return v.Passes && len(v.Codes) > 0 }

// The codes of refusals.
const (
	outside     = "rest_credential_scope"
	ambiguous   = "rest_ambiguous_request"
	unavailable = "rest_policy_unavailable"
	// Platform401 stands for the platform's own refusals, with status 401 or 403.
	Platform401 = "platform"
)

// Judge is the model: what has to become of a request at a directive with some scopes.
func Judge(scopes []*Scope, m *Meaning) Verdict {
	bound, asked := m.bound(scopes)
	enforced := slices.DeleteFunc(slices.Clone(bound), func(s *Scope) bool { return s.Observe })
	refused := func(why string, codes ...string) Verdict { return Verdict{Codes: codes, Why: why, Bound: enforced} }
	switch {
	case m.Door == XMLRPC && closed(scopes):
		return refused("xmlrpc.php", outside, ambiguous)
	case m.Door != REST && enforcing(scopes) && m.Lines > 1:
		return refused("two lines of Authorization", outside, ambiguous)
	case m.Door != REST && m.Uncertain:
		return refused("dot segments", ambiguous, outside)
	case m.Door != REST:
		return m.page(scopes)
	}
	allowed := !slices.ContainsFunc(enforced, func(s *Scope) bool { return !s.allows(m) })
	switch {
	case m.Beside == XMLRPC && closed(scopes) && m.sends():
		return refused("a call by xmlrpc.php", outside, ambiguous)
	case m.Beside == Page && slices.ContainsFunc(m.Carried, func(c Carried) bool { return c.keyed(scopes) }):
		return refused("a call by the shop's older interface", outside, ambiguous)
	case m.Uncertain || m.Repeated || m.HeldBack && m.Worded:
		return refused("no certain reading", ambiguous, outside)
	case enforcing(scopes) && m.misspelled() && allowed:
		return refused("a key that is misspelled", ambiguous)
	case enforcing(scopes) && m.misspelled():
		return refused("a key that is misspelled", ambiguous, outside)
	case m.HeldBack && slices.ContainsFunc(enforced, func(s *Scope) bool { return s.looks(m) }):
		return refused("a body that some servers drop", ambiguous, outside)
	case asked && m.Beside == XMLRPC && allowed: // that script answers no question
		return Verdict{Passes: true, Codes: []string{unavailable}, Why: "asked at another door", Bound: enforced}
	case asked && m.Beside == XMLRPC:
		return refused("asked at another door", outside, unavailable)
	case !allowed && asked && len(m.Carried) > 1:
		return refused("outside, of two", outside, unavailable)
	case !allowed:
		return refused("outside", outside)
	case len(bound) == 0:
		return Verdict{Passes: true, Why: "no scope"}
	}
	return Verdict{Passes: true, Why: "inside", Bound: enforced}
}

// sends tells whether the request line is that of a message.
func (m *Meaning) sends() bool {
	if m.Wire != "" {
		return writes(m.Wire)
	}
	return writes(m.Calls[0].Method)
}

// keyed tells whether c is a shop key of a scope, to which the shop's older interface is closed.
func (c Carried) keyed(scopes []*Scope) bool {
	return c.isKey() && (enforcing(scopes) && c.misspelled() || slices.ContainsFunc(c.bound(scopes), func(s *Scope) bool { return !s.Observe }))
}

// bound returns the scopes that bind m, each once, and whether only the platform can say so.
func (m *Meaning) bound(scopes []*Scope) (list []*Scope, asked bool) {
	for _, c := range m.Carried {
		for _, s := range c.bound(scopes) {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		asked = asked || c.asked(scopes)
	}
	return list, asked
}

// page judges a request that is no call. It is closed to a key of a scope that stands in
// Authorization, in the query or in a signature.
func (m *Meaning) page(scopes []*Scope) Verdict {
	for _, c := range m.Carried {
		if !c.isKey() || c.Way == InForm || c.Way == InMCP {
			continue
		}
		if enforcing(scopes) && c.misspelled() {
			return Verdict{Codes: []string{outside, ambiguous}, Why: "a page with a key that is misspelled"}
		}
		if slices.ContainsFunc(c.bound(scopes), func(s *Scope) bool { return !s.Observe }) {
			return Verdict{Codes: []string{outside}, Why: "a page with a key"}
		}
	}
	return Verdict{Passes: true, Why: "a page"}
}

// closed tells whether xmlrpc.php is closed.
func closed(scopes []*Scope) bool {
	return slices.ContainsFunc(scopes, func(s *Scope) bool {
		return len(s.Passwords)+len(s.Users) > 0 && !s.Observe && !s.Open
	})
}

// enforcing tells whether keys have a scope that does more than observe.
func enforcing(scopes []*Scope) bool {
	return slices.ContainsFunc(scopes, func(s *Scope) bool { return len(s.Keys) > 0 && !s.Observe })
}

func (m *Meaning) misspelled() bool {
	return slices.ContainsFunc(m.Carried, func(c Carried) bool { return c.misspelled() })
}

// allows tells whether a scope is for all calls of a request, also for the one that a server
// runs which drops what overrides the method.
func (s *Scope) allows(m *Meaning) bool {
	calls := m.Calls
	if m.Wire != "" {
		sent := *m.Calls[0]
		sent.Method = m.Wire
		calls = append(slices.Clone(calls), &sent)
	}
	return !slices.ContainsFunc(calls, func(c *Call) bool { return !s.Allows(c) })
}

// looks tells whether a scope decides by a parameter in JSON that a request has.
func (s *Scope) looks(m *Meaning) bool {
	return slices.ContainsFunc(m.Calls, func(c *Call) bool {
		i := slices.IndexFunc(s.Allow, func(l Line) bool { return l.matches(c) })
		return i >= 0 && slices.ContainsFunc(c.Members, func(m Member) bool { return m.Place == JSON && s.Allow[i].names(m) })
	})
}

// names tells whether a line has a condition about a parameter.
func (l *Line) names(m Member) bool {
	return l.Only != nil || slices.ContainsFunc(l.Compare, func(c Comparison) bool { return c.Member == m.Path })
}

// Allows tells whether a scope is for a call. The first line of its route and method decides.
func (s *Scope) Allows(c *Call) bool {
	if s.Ended || !within(s.From, c.Client) || s.Between.Shut {
		return false
	}
	for _, l := range s.Allow {
		if l.matches(c) {
			return l.holds(c)
		}
	}
	return false
}

func (l *Line) matches(c *Call) bool {
	method := c.Method
	if method == "HEAD" && !slices.Contains(l.Methods, "HEAD") {
		method = "GET"
	}
	return (l.Methods == nil || slices.Contains(l.Methods, method)) &&
		slices.ContainsFunc(l.Routes, func(route string) bool { return covers(route, c) })
}

// Hidden returns the fields that the answer to a call has redacted.
func (v *Verdict) Hidden(c *Call) (fields []string) {
	for _, s := range v.Bound {
		for _, h := range s.Hide {
			if fits(h.Route, strings.ToLower(c.Route)) {
				fields = append(fields, h.Fields...)
			}
		}
	}
	return fields
}
