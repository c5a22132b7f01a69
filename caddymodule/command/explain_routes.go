package command

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
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
	rule, own := strings.Split(call.Key(route), "/"), strings.Split(call.Key(r.record.Route), "/")
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
	for _, d := range r.directives {
		policies, _ := d["policies"].(map[string]any)
		access, _ := policies["access"].(map[string]any)
		rules, _ := access["rules"].([]any)
		guards, _ := access["guards"].([]any)
		for _, rule := range slices.Concat(rules, guards) {
			rule, _ := rule.(map[string]any)
			routes, _ := rule["routes"].([]any)
			except, _ := rule["except"].([]any)
			for _, route := range slices.Concat(routes, except) {
				route, _ := route.(string)
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
	}
	slices.Sort(all)
	return slices.Compact(all)
}
