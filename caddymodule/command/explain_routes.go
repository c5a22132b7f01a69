package command

import (
	"slices"
	"strings"
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

// words are the segments that the rules of all directives and the built-in ones name.
func (r *replay) words() []string {
	all := slices.Clone(builtInWords)
	for _, d := range r.directives {
		policies, _ := d["policies"].(map[string]any)
		access, _ := policies["access"].(map[string]any)
		rules, _ := access["rules"].([]any)
		for _, rule := range rules {
			rule, _ := rule.(map[string]any)
			routes, _ := rule["routes"].([]any)
			for _, route := range routes {
				route, _ := route.(string)
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
