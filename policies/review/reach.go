package review

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
)

// Reached is what one caller reaches of one route of a site with one method. A route of the
// index stands for many: rules may let some of them pass and refuse others.
type Reached struct {
	// Passes is a route that reaches the platform, and Refused one that does not, both as a
	// client sends them; "" where there is none.
	Passes, Refused string
	// PassedBy and RefusedBy are the rules that decide on them. PassedBy is nil where nothing
	// but the default does.
	PassedBy, RefusedBy *policy.Rule
	// Unknown tells that the route cannot be reasoned about.
	Unknown bool
}

// All tells whether every call of the route passes, and None whether no call does.
func (r *Reached) All() bool { return !r.Unknown && r.Refused == "" }

// None tells whether no call of the route passes.
func (r *Reached) None() bool { return !r.Unknown && r.Passes == "" }

// Reacher tells who reaches what, by the same reasoning, and within the same limits, as
// Prove. It is for one goroutine.
type Reacher struct {
	prover *prover
	part   bool // some routes do not count
}

// NewReacher returns the Reacher of a chain. Where there are patterns, written as in a rule,
// only the routes within them count.
func NewReacher(c *policy.Chain, within ...string) (*Reacher, error) {
	part := len(within) > 0
	if !part {
		within = []string{"/**"}
	}
	target, err := policy.NewTarget(nil, within)
	if err != nil {
		return nil, err
	}
	return &Reacher{newProver(c, &Claim{}, &target), part}, nil
}

// NewHolderReacher returns the Reacher of a chain for one caller with a credential, who may have a shop key.
func NewHolderReacher(c *policy.Chain, who caller.Caller, has caller.Credential) (*Reacher, error) {
	target, err := policy.NewTarget(nil, []string{"/**"})
	if err != nil {
		return nil, err
	}
	return &Reacher{newProver(c, &Claim{Caller: who, Credential: has}, &target), false}, nil
}

// Of returns what each of callers, who have no shop key but that of the Reacher, reaches of a route with each of
// methods, in the order methods, then callers. GET covers HEAD, as in a rule. Where no call of the route counts, Passes and
// Refused are both "". The error is keyset.ErrTooMany.
func (r *Reacher) Of(route *index.Route, methods []string, callers []caller.Caller) ([][]Reached, error) {
	found := make([][]Reached, len(methods))
	for i := range found {
		found[i] = make([]Reached, len(callers))
	}
	opaque, err := r.walk(route, func(place *keyset.Place) {
		for i, method := range methods {
			for j := range callers {
				r.visit(place, method, &callers[j], &found[i][j])
				if method == http.MethodGet {
					r.visit(place, http.MethodHead, &callers[j], &found[i][j])
				}
			}
		}
	})
	for i := range found {
		for j := range found[i] {
			reach := &found[i][j]
			reach.Unknown = opaque && reach.Passes != "" && (r.part || reach.Refused != "")
		}
	}
	return found, err
}

// Refused returns routes, as a client sends them, that a caller without a shop key does not
// reach of a route with a method: one of each kind, where the rules see no difference within a
// kind. The error is keyset.ErrTooMany.
func (r *Reacher) Refused(route *index.Route, method string, by caller.Caller) (refused []string, err error) {
	_, err = r.walk(route, func(place *keyset.Place) {
		if f := r.judge(place, method, &by); !f.Passes {
			refused = append(refused, place.Route())
		}
	})
	return refused, err
}

// Parts describes what a caller without a shop key reaches of a route with a method: a line for
// each kind of its routes, "+ GET /a/x" with the rule that lets calls of the kind pass, or "- GET /a/y"
// with the rule that refuses them, sorted. Equal rules and patterns have equal lines. The error
// is keyset.ErrTooMany.
func (r *Reacher) Parts(route *index.Route, method string, by caller.Caller) (parts []string, err error) {
	methods := []string{method}
	if method == http.MethodGet {
		methods = append(methods, http.MethodHead)
	}
	_, err = r.walk(route, func(place *keyset.Place) {
		for _, method := range methods {
			part := func(sign string, by *policy.Rule) {
				decides := byDefault
				if by != nil {
					decides = by.String()
				}
				parts = append(parts, strings.Join([]string{sign, method, place.Route(), decides}, " "))
			}
			f := r.judge(place, method, &by)
			if f.Passes {
				part("+", f.PassedBy)
			}
			if f.Refused {
				part("-", f.RefusedBy)
			}
		}
	})
	slices.Sort(parts)
	return parts, err
}

// byDefault stands in a line of Parts for the rule, where none decides.
const byDefault = "allow anyone /**"

// Examples returns routes of a pattern: one of each kind that the rules tell apart. The error is
// keyset.ErrTooMany.
func (r *Reacher) Examples(pattern routes.Pattern) (examples []string, err error) {
	err = r.walkSpace(keyset.KeysOf(pattern), nil, func(place *keyset.Place) {
		examples = append(examples, place.Route())
	})
	return examples, err
}

// walk visits a place of each kind that counts.
func (r *Reacher) walk(route *index.Route, visit func(*keyset.Place)) (opaque bool, err error) {
	var skip func(*keyset.State) bool
	if r.part {
		skip = func(s *keyset.State) bool { return !s.Marked() }
	}
	space, opaque := SpaceOf(plain(r.prover.site.Dots(), route))
	return opaque, r.walkSpace(space, skip, visit)
}

func (r *Reacher) walkSpace(space keyset.Space, skip func(*keyset.State) bool, visit func(*keyset.Place)) error {
	seen := map[*keyset.State]bool{}
	return r.prover.Walk(space, skip, func(place *keyset.Place) bool {
		if !seen[place.State] && (!r.part || place.State.Within()) {
			seen[place.State] = true
			visit(place)
		}
		return true
	})
}

// SpaceOf returns the routes that an entry of the index stands for. Those of an opaque one
// are all that may be among them: what no call of them reaches, none of the entry's does.
func SpaceOf(route *index.Route) (space keyset.Space, opaque bool) {
	prefix, opaque := route.Opaque()
	if !opaque {
		return route, false
	}
	first, _, whole := strings.Cut(strings.TrimPrefix(prefix, "/"), "/")
	if below, err := routes.ParsePattern("/" + first + "/**"); err == nil && whole && first != "" {
		return keyset.KeysOf(below), true
	}
	return keyset.KeysOf(routes.MustPattern("/**")), true
}

// judge judges the calls of a kind, for which a place stands.
func (r *Reacher) judge(place *keyset.Place, method string, by *caller.Caller) Fate {
	p := r.prover
	p.claim.Caller = *by
	p.holder = Holder{Caller: *by, Credential: p.claim.carried()}
	return p.deciders.Fate(&p.holder, CallOf(method, place.Key()), place.State.Matches())
}

// visit adds what is reached at a place.
func (r *Reacher) visit(place *keyset.Place, method string, by *caller.Caller, reach *Reached) {
	f := r.judge(place, method, by)
	if f.Passes && reach.Passes == "" {
		reach.Passes, reach.PassedBy = place.Route(), f.PassedBy
	}
	if f.Refused {
		reach.Refused, reach.RefusedBy = cmp.Or(reach.Refused, place.Route()), cmp.Or(reach.RefusedBy, f.RefusedBy)
	}
}
