package review

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/policy"
)

// Decider is a Policy that refuses calls by a pure function of method, route and caller. The
// function is the one by which it judges requests. A proof asks it, in the order of the chain.
type Decider interface {
	// Decider adds the patterns that the policy tells apart to at, and returns its function for
	// one proof. claimed are the routes of the proof: a policy that can tell the literal ones among
	// them apart does so.
	Decider(at *Patterns, claimed []routes.Pattern) Decide
}

// Admitter is a Policy with rules that admit callers beside those of a Router.
type Admitter interface {
	// EachRule calls do for each of them.
	EachRule(do func(*policy.Rule))
}

// Decide returns what becomes of calls that the policies before let pass.
type Decide func(*Asked) Fate

// ReadingGuard is a Policy that refuses all requests which have no certain reading, so that none
// of them is a call of which a proof speaks.
type ReadingGuard interface {
	// GuardsReading tells whether it does.
	GuardsReading() bool
}

// Asked is a region of calls: those with one method on all routes that the same patterns match.
type Asked struct {
	Holder
	Call    *call.Call   // has one key of the region
	Matched Matched      // patterns of the policy that is asked
	Rule    policy.Match // of access, as in [policy.Request.Matched]
	InForce policy.InForce
}

// Fate is what becomes of the calls of a region.
type Fate struct {
	Passes, Refused bool // some call is, or may be
	// PassedBy and RefusedBy are the first lines that say so; nil for none.
	PassedBy, RefusedBy *policy.Rule
	// SurePasses and SureRefused tell of which the region certainly has a call. Where neither is
	// so, only the platform knows.
	SurePasses, SureRefused bool
	// ByMessage tells that each call may fare in both ways, by its body.
	ByMessage bool
	// Why says in one sentence what decides where calls may fare in both ways.
	Why string
	// Depends names, in a text for programs, what else than the region decides on its calls that may pass. Where two chains
	// say the same, each such call fares alike in both.
	Depends string
	// Rule is that of access which applies; see [policy.Request.Matched].
	Rule policy.Match
}

// Passes is the fate of calls that all pass. by may be nil.
func Passes(by *policy.Rule) Fate { return Fate{Passes: true, PassedBy: by, SurePasses: true} }

// Refuses is the fate of calls none of which passes.
func Refuses(by *policy.Rule) Fate { return Fate{Refused: true, RefusedBy: by, SureRefused: true} }

// Add adds calls that may pass, or be refused, by a line.
func (f *Fate) Add(passes bool, by *policy.Rule) {
	switch {
	case passes && !f.Passes:
		f.Passes, f.PassedBy = true, by
	case !passes && !f.Refused:
		f.Refused, f.RefusedBy = true, by
	}
}

// Then returns the fate of calls with f of which a policy is asked that says g.
func (f Fate) Then(g Fate) Fate {
	if g.Rule.Rule != nil {
		f.Rule = g.Rule
	}
	f.Passes = f.Passes && g.Passes
	f.PassedBy = cmp.Or(f.PassedBy, g.PassedBy)
	f.Refused = f.Refused || g.Refused
	f.RefusedBy = cmp.Or(f.RefusedBy, g.RefusedBy)
	f.SurePasses = f.SurePasses && g.SurePasses
	f.SureRefused = f.SureRefused || g.SureRefused
	f.ByMessage = f.Passes && (f.ByMessage || g.ByMessage)
	f.Why = cmp.Or(f.Why, g.Why)
	f.Depends += g.Depends
	return f
}

// between returns the fate of calls of somebody who may have any rights: least is that of one without, and most that of
// one who has them all. More rights never refuse a call.
func between(least, most Fate) Fate {
	f := Fate{
		Passes: most.Passes, PassedBy: most.PassedBy, SurePasses: least.SurePasses,
		Refused: least.Refused, RefusedBy: least.RefusedBy, SureRefused: most.SureRefused,
		ByMessage: most.ByMessage, Why: cmp.Or(most.Why, least.Why), Rule: most.Rule, Depends: least.Depends + most.Depends,
	}
	if f.Passes && f.Refused && least.RefusedBy != nil {
		f.Depends += least.RefusedBy.String()
	}
	if f.Passes && f.Refused && f.Why == "" {
		f.Why = fmt.Sprintf("%s asks for a right that the caller may have or not.", least.RefusedBy)
	}
	return f
}

// Patterns are the patterns that one policy tells apart, under numbers of its own from 0 on.
type Patterns struct {
	all      *keyset.Automaton
	from, to int       // the numbers of the policy in all
	told     *[]Region // see Deciders.Told
}

// Region is a set of keys that policies tell apart: those of a pattern, those below a key that end with a segment, or one
// key.
type Region struct {
	Pattern    *routes.Pattern
	Key, Below string // Below is the segment; "" for the key alone
}

// Add adds a pattern. Several may have one number.
func (p *Patterns) Add(route routes.Pattern, number int) {
	p.all.Add(route, p.number(number))
	*p.told = append(*p.told, Region{Pattern: &route})
}

// AddBelow adds the keys below a key that end with a segment and have one more, or several, before
// it.
func (p *Patterns) AddBelow(key, last string, number int) {
	p.all.AddBelow(key, last, p.number(number))
	*p.told = append(*p.told, Region{Key: key, Below: last})
}

// Apart tells one key from all others, without a number.
func (p *Patterns) Apart(key string) {
	p.all.Apart(key)
	*p.told = append(*p.told, Region{Key: key})
}

func (p *Patterns) number(own int) int {
	p.to = max(p.to, p.from+own+1)
	return p.from + own
}

// of returns those of numbers that are the policy's. numbers are in order.
func (p *Patterns) of(numbers []int) Matched {
	from, _ := slices.BinarySearch(numbers, p.from)
	to, _ := slices.BinarySearch(numbers, p.to)
	return Matched{numbers[from:to], p.from}
}

// Matched are the numbers of the patterns of a policy that match, in order.
type Matched struct {
	numbers []int
	from    int
}

// MatchedOf are the patterns of a policy that has an automaton of its own.
func MatchedOf(numbers []int) Matched { return Matched{numbers: numbers} }

// All returns the numbers.
func (m Matched) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, n := range m.numbers {
			if !yield(n - m.from) {
				return
			}
		}
	}
}

// Has tells whether a pattern of a number matches.
func (m Matched) Has(number int) bool {
	_, found := slices.BinarySearch(m.numbers, m.from+number)
	return found
}

// CallOf is a call with this key.
func CallOf(method, key string) *call.Call {
	return &call.Call{Kind: call.Single, Method: method, Route: key, Key: key}
}
