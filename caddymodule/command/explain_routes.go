package command

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// mostRoutes bounds the examples of one pattern. With more of them nothing is run.
const mostRoutes = 200

// routes are examples of the record's route, one for each way in which rules can tell its
// routes apart: rules compare whole segments with the words that they name, and a group
// may also hold several segments. A group called id holds one number, which no rule names.
func (r *replay) routes() []string {
	words := r.words()
	all := []string{""}
	for segment := range strings.SplitSeq(r.record.Route[1:], "/") {
		values := []string{segment}
		switch {
		case segment == ":id" || strings.HasPrefix(segment, ":") && strings.HasSuffix(segment, "_id"):
			values = []string{"1"}
		case strings.ContainsAny(segment, ":*"):
			values = slices.Concat([]string{"1", "x", "x/x"}, words)
		}
		var longer []string
		for _, route := range all {
			for _, value := range values {
				if len(longer) <= mostRoutes {
					longer = append(longer, route+"/"+value)
				}
			}
		}
		all = longer
	}
	return all
}

// builtInWords are the segments that the built-in rules name.
var builtInWords = []string{"batch", "me", "store-auth", "troubleshooting", "upload-logo", "users", "v1", "v2", "wp", "cms"}

// mayFit tells whether a rule's route may be one of the record's. Both begin with a namespace
// as a rule, and other plugins have other ones.
func (r *replay) mayFit(route string) bool {
	rule, own := strings.Split(routes.Key(route), "/"), strings.Split(routes.Key(r.record.Route), "/")
	for i := 1; i < min(len(rule), len(own)); i++ {
		switch {
		case strings.ContainsAny(rule[i]+own[i], ":*"):
			return true
		case rule[i] != own[i]:
			return false
		}
	}
	return true
}

// words are the segments that the built-in rules name, and those rules of all directives that
// may be for the record's route.
func (r *replay) words() []string {
	all := slices.Clone(builtInWords)
	for _, g := range r.directives {
		for _, route := range ruleRoutes(g) {
			if !r.mayFit(route) {
				continue
			}
			for segment := range strings.SplitSeq(strings.Trim(route, "/"), "/") {
				if segment != "" && !strings.ContainsAny(segment, ":*") {
					all = append(all, segment)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ruleRoutes are the routes that the rules of a directive name.
func ruleRoutes(g *gateway.Gateway) (routes []string) {
	c, err := g.Policy(access.Entry)
	if err != nil {
		return nil // the directive was loaded
	}
	own := c.Policy.(*access.Access)
	for i := range own.Rules {
		routes = append(routes, own.Rules[i].Routes...)
	}
	for i := range own.Guards {
		routes = slices.Concat(routes, own.Guards[i].Routes, own.Guards[i].Except)
	}
	return routes
}
