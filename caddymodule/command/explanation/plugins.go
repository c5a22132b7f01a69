package explanation

import (
	"fmt"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// oneForEach makes one rule of those that a line has for one plugin: the row that matched, or
// their number. A line for a plugin stands for many rules.
func oneForEach(rules []dryrun.Rule) (list []dryrun.Rule) {
	type line struct{ rule, at, imported string }
	place, count := map[line]int{}, map[line]int{}
	for _, r := range rules {
		key := line{r.Rule, r.At, r.Imported}
		i, known := place[key]
		switch {
		case r.Line == "":
			list = append(list, r)
			continue
		case !known:
			place[key] = len(list)
			list = append(list, r)
		case r.Matched:
			list[i] = r
		case !list[i].Matched:
			list[i].Why = both(list[i].Why, r.Why)
		}
		count[key]++
	}
	for key, i := range place {
		if r := &list[i]; r.Matched {
			r.Rule = r.Text()
		} else {
			r.Rule = fmt.Sprintf("%s, %d rules", r.Rule, count[key])
			if count[key] == 1 {
				r.Rule = key.rule + ", 1 rule"
			}
		}
	}
	return list
}

// mixed is why several rules do not match, some by the method and some by the route.
const mixed = "mixed"

// both is why two rules do not match: the reason that says more about the call, if one does.
func both(a, b string) string {
	for _, why := range []string{"replaced", "except"} {
		if a == why || b == why {
			return why
		}
	}
	if a != b {
		return mixed
	}
	return a
}

// row names the rule that decided. The one of a plugin stands among those that matched.
func (e Explanation) row(rule, at string) string {
	for i := range e.Policies {
		for j := range e.Policies[i].Rules {
			if r := &e.Policies[i].Rules[j]; r.Matched && r.Rule == rule && r.At == at {
				return r.Text()
			}
		}
	}
	return rule
}
