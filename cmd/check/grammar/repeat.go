package grammar

import (
	"fmt"
	"strings"
)

// Repetition is a request that repeats a small unit as often as there is room for: what a
// reader does for each unit, it does very often.
type Repetition struct {
	*Request
	Kind   string // one of Kinds
	Place  string // where the units stand
	Unit   string // the first bytes of them
	Answer string // what the platform answers; "" for whatever it likes
}

// String names the request.
func (r *Repetition) String() string {
	return fmt.Sprintf("%s, %s, %s: %q", r.Kind, strings.Split(r.Target[:min(len(r.Target), shownOfUnits)], "?")[0], r.Place, r.Unit)
}

const shownOfUnits = 24

// Doors are the targets that requests of each kind go to.
type Doors map[string][]string

// Kinds are the kinds of requests that repeat units.
var Kinds = []string{"page", "call", "form", "batch", "message", "answer"}

// Repetitions makes a request for every unit in every place of every kind, at every door of
// that kind, in an order that is always the same.
func Repetitions(doors Doors) (all []*Repetition) {
	for _, kind := range Kinds {
		for _, door := range doors[kind] {
			if kind == "answer" {
				for _, u := range answers {
					all = append(all, answered(door, u.text(depthOf(u), mostOfAnswer)))
				}
			}
			for _, p := range placesOf(kind) {
				all = append(all, p.repetitions(kind, door)...)
			}
		}
	}
	return all
}

// repetitions makes a request for every unit of a place.
func (p *region) repetitions(kind, door string) (all []*Repetition) {
	for _, u := range p.units {
		for _, name := range p.fieldNames() {
			all = append(all, p.repeat(kind, door, name, u.text(depthOf(u), p.most)))
		}
	}
	return all
}

// placesOf are the places that requests of a kind have.
func placesOf(kind string) (fit []*region) {
	for i := range places {
		if strings.Contains(places[i].kinds, kind) {
			fit = append(fit, &places[i])
		}
	}
	return fit
}

// Repetition makes a request of a kind at random: several units, in one place or in two.
func (g *Generator) Repetition(kind string, doors Doors) *Repetition {
	door := pick(g, doors[kind]...)
	if kind == "answer" {
		return answered(door, g.mixed(answers, g.upTo(mostOfAnswer)))
	}
	fit := placesOf(kind)
	p := pick(g, fit...)
	r := p.repeat(kind, door, pick(g, p.fieldNames()...), g.mixed(p.units, g.upTo(p.most)))
	if second := pick(g, fit...); second != p && second.most == mostOfHead && g.oneIn(2) && len(r.Target) < mostOfHead {
		second.put(r.Request, pick(g, second.fieldNames()...), g.mixed(second.units, g.upTo(second.most)))
		r.Place += " and " + second.name
	}
	return r
}

// upTo returns a size, mostly a large one: what is small is read and kept in other ways.
func (g *Generator) upTo(most int) int {
	return pick(g, most, most, most/2, most/2-100, most/8, most/32)
}

// mixed repeats one or two units together.
func (g *Generator) mixed(units []unit, most int) string {
	depth := pick(g, 0, 1, 10, 59, 60, 61, 400)
	u := pick(g, units...)
	if g.oneIn(2) {
		return u.text(depth, most)
	}
	other := pick(g, units...)
	return unit{end: u.text(depth, 1) + other.text(depth, 1)}.text(0, most)
}

// depthOf is the deepest nesting that PHP takes for a variable, and the gateway too.
func (p *region) repeat(kind, door, field, units string) *Repetition {
	r := &Repetition{Request: &Request{Method: "GET", Target: door}, Kind: kind, Place: p.name}
	r.Unit = units[:min(len(units), shownOfUnits)]
	p.put(r.Request, field, units)
	return r
}

func answered(door, units string) *Repetition {
	r := &Repetition{Request: &Request{Method: "GET", Target: door}, Kind: "answer", Place: "answer", Answer: "[" + strings.TrimSuffix(units, ",") + "]"}
	r.Unit = units[:min(len(units), shownOfUnits)]
	return r
}
