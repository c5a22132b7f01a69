package scope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Odd implements [review.Reviewer]: W11 and W21 to W23.
func (p *Scopes) Odd(about *review.About) (odd []review.Odd) {
	for _, s := range p.Scopes {
		if s.observes() {
			odd = append(odd, review.Odd{
				Code: "W11", At: s.At, Note: true, Do: "remove its mode once the log shows no good call among them",
				Text: fmt.Sprintf("%s only observes, so that its refusals are counted and logged, but not carried out", s),
			})
		}
		odd = append(odd, p.useless(s, about)...)
	}
	odd = append(odd, p.twice()...)
	odd = append(odd, p.unnamed()...)
	for _, s := range p.Scopes {
		odd = append(odd, p.widens(s)...)
	}
	return odd
}

// useless returns W21 for a scope whose lines nothing can use.
func (p *Scopes) useless(s *Scope, about *review.About) []review.Odd {
	o := review.Odd{Code: "W21", At: s.At, Do: "remove it, or mend it"}
	var all []routes.Pattern
	closed := true
	for i := range s.Allow {
		a := &s.Allow[i]
		all = append(all, a.rule.Target().Routes()...)
		closed = closed && len(s.Passwords)+len(s.Users) == 0 && about.ClosedToKey(p, p.Holders(s.Name)[0], a.Methods, a.Routes)
	}
	switch {
	case s.ended(p.now()):
		o.Text, o.Do = fmt.Sprintf("the last day of %s was %s, so that it allows nothing", s, s.Until), "give it another last day, or remove it together with its credential"
	case len(all) == 0:
		return nil
	case closed:
		o.Text = fmt.Sprintf("no rule lets a shop key make any call that %s allows", s)
	case about.Site != nil && len(about.Site.Lacks(all)) == len(all):
		o.Text = fmt.Sprintf("the REST root of the site lists none of the routes of %s", s)
	default:
		return nil
	}
	return []review.Odd{o}
}

// twice returns W22 for each credential that two scopes name.
func (p *Scopes) twice() (odd []review.Odd) {
	for _, kind := range []struct {
		word  string
		names func(*Scope) []string
	}{
		{"key", func(s *Scope) []string { return s.Keys }},
		{"password", func(s *Scope) []string { return s.Passwords }},
		{"user", func(s *Scope) []string { return s.Users }},
	} {
		first := map[string]*Scope{}
		for _, s := range p.Scopes {
			for _, name := range kind.names(s) {
				folded := strings.ToLower(name)
				if kind.word == "key" {
					folded = name
				}
				if other, named := first[folded]; named {
					odd = append(odd, review.Odd{
						Code: "W22", At: s.At, Do: "name it in one of them",
						Text: fmt.Sprintf("the %s %s is in %s%s and in %s, so that it may do only what both allow", kind.word, name, other, policy.Prefixed(" at ", other.At), s),
					})
				} else {
					first[folded] = s
				}
			}
		}
	}
	return odd
}

// unnamed returns W22 where some keys have a scope and the others none.
func (p *Scopes) unnamed() []review.Odd {
	if !p.keys.any || len(p.keys.others) > 0 {
		return nil
	}
	i := slices.IndexFunc(p.Scopes, func(s *Scope) bool { return len(s.Keys) > 0 })
	return []review.Odd{{
		Code: "W22", At: p.Scopes[i].At, Do: "add a scope with key *, at first with mode observe",
		Text: "keys of the shop that no scope names may do everything",
	}}
}

// widens returns W23 for a scope that can widen itself, or whose credential has a door beside it.
func (p *Scopes) widens(s *Scope) (odd []review.Odd) {
	if found := p.spelledOut(s); len(found) > 0 {
		odd = append(odd, review.Odd{
			Code: "W23", At: s.At, Do: "remove the line, or allow GET alone",
			Text: fmt.Sprintf("%s allows to write to %s, by which its credential can make another one, raise its user or send data elsewhere", s, strings.Join(found, " and ")),
		})
	}
	if s.OtherDoors == open {
		odd = append(odd, review.Odd{
			Code: "W23", At: s.At, Do: "remove other_doors unless Jetpack needs xmlrpc.php",
			Text: fmt.Sprintf("%s has other_doors open, so that its credential does what it likes by xmlrpc.php", s),
		})
	}
	if len(s.Hide) > 0 {
		odd = append(odd, review.Odd{
			Code: "W23", At: s.At, Note: true, Do: "allow no other route, and no tool of agents, that tells of these records",
			Text: fmt.Sprintf("%s hides fields, by which lists can still be sorted and searched", s),
		})
	}
	if len(s.Users) > 0 && !s.observes() {
		odd = append(odd, review.Odd{
			Code: "W23", At: s.At, Note: true, Do: "give such a user a role without access to wp-admin",
			Text: fmt.Sprintf("%s names a user, whom it does not bind in wp-admin and admin-ajax.php", s),
		})
	}
	return odd
}
