package scope

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/policy"
)

// CheckPage closes the doors beside REST that take the same credentials: those of the shop's older interface to every
// key that has a scope, and xmlrpc.php, whose messages are not read, to everybody who sends one, on a site where a
// password or a user has a scope (docs/platform/shop-callers.md, III.8).
func (p *Scopes) CheckPage(r *policy.Request) (policy.Verdict, error) {
	scopes := p.closeXMLRPC(r)
	if p.keys.any {
		for _, c := range r.KeysOfPage() {
			if c.Unclean {
				scopes = append(scopes, p.byKey()...)
			} else {
				scopes = append(scopes, p.keys.of(c.Key)...)
			}
		}
	}
	return refuseDoor(scopes), nil
}

// checkDoors is CheckPage for what is read as a call: the scripts of the doors run all the same, whatever route a
// request names. byKey are the scopes that bind its shop keys.
func (p *Scopes) checkDoors(r *policy.Request, byKey []*Scope) policy.Verdict {
	closed := p.closeXMLRPC(r)
	if len(byKey) > 0 && namesOlder(r) {
		closed = append(closed, byKey...)
	}
	return refuseDoor(closed)
}

// refuseDoor refuses what is closed by a scope, and first by one that does not only observe.
func refuseDoor(by []*Scope) (first policy.Verdict) {
	for _, s := range by {
		first = worse(first, s.refuse("The request is for another door than REST, which takes the same credentials."))
	}
	return first
}

func (p *Scopes) closeXMLRPC(r *policy.Request) []*Scope {
	if !p.passwords.any && !p.users.any || !sendsXMLRPC(r) {
		return nil
	}
	return slices.DeleteFunc(p.byLogin(), func(s *Scope) bool { return s.OtherDoors == open })
}

// namesOlder tells whether a request may be one for the shop's older interface, by its path or by a variable.
func namesOlder(r *policy.Request) bool {
	return onPath(r, "wc-api") || slices.ContainsFunc(olderVars, func(name string) bool {
		_, inQuery := r.Whole.Call.QueryVariable(name)
		_, inForm, err := r.Whole.Call.FormVariable(name)
		return inQuery || inForm || err != nil
	})
}

// olderVars are the variables that lead to the shop's older interface.
var olderVars = []string{"wc-api", "wc-api-version", "wc-api-route"}

// byKey returns the scopes of keys, and byLogin those of passwords and users.
func (p *Scopes) byKey() []*Scope {
	return p.where(func(s *Scope) bool { return len(s.Keys) > 0 })
}

func (p *Scopes) byLogin() []*Scope {
	return p.where(func(s *Scope) bool { return len(s.Passwords)+len(s.Users) > 0 })
}

func (p *Scopes) where(is func(*Scope) bool) (scopes []*Scope) {
	for _, s := range p.Scopes {
		if is(s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// sendsXMLRPC tells whether a request may be a message to xmlrpc.php, as some server finds the script.
func sendsXMLRPC(r *policy.Request) bool {
	switch r.HTTP.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return onPath(r, "xmlrpc.php")
}

// onPath tells whether the path of a request, before or after rewrites, has a text, however it is encoded.
func onPath(r *policy.Request, text string) bool {
	has := func(u *url.URL) bool {
		return u != nil && strings.Contains(strings.ToLower(between.DecodeAll(u.Path)), text)
	}
	return has(r.HTTP.URL) || has(r.ClientURL)
}
