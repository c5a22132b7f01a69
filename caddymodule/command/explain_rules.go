package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// fewRules is how many rules of a policy are shown even if they do not matter.
const fewRules = 12

// policies has a row for each policy that was asked, and below it the rules that the policy
// considered. Of many rules those for other routes are only counted.
func (e explanation) policies() (rows [][]string) {
	passed := []string{}
	for i := range e.Policies {
		p := &e.Policies[i]
		rules := e.rulesOf(p)
		if p.Verdict == "pass" && len(rules) == 0 && !e.verbose {
			passed = append(passed, p.Name)
			continue
		}
		rows = append(rows, []string{p.Name, e.verdict(p)})
		rows = append(rows, e.rules(rules)...)
	}
	if len(passed) > 0 {
		rows = append(rows, []string{strings.Join(passed, ", "), "pass"})
	}
	return rows
}

func (e explanation) verdict(p *dryrun.Policy) string {
	words := map[string]string{
		"pass":         e.palette.Good("passes"),
		"refuse":       e.palette.Bad("refuses"),
		"would_refuse": e.palette.Odd("would refuse, only observes"),
		"undecided":    e.palette.Odd("cannot decide"),
	}
	text := cmp.Or(words[p.Verdict], p.Verdict)
	for _, more := range []string{p.Code, p.Error} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// rulesOf returns the rules that a policy considered, and the one that decided if it is
// none of them: login_only is no line of rules.
func (e explanation) rulesOf(p *dryrun.Policy) []dryrun.Rule {
	rules := p.Rules
	var last dryrun.Rule
	switch {
	case e.Decision != nil && e.Decision.Policy == p.Name:
		last = dryrun.Rule{Rule: e.Decision.Rule, At: e.Decision.At, Imported: e.Decision.Imported, Matched: true}
	case e.Decision == nil && e.Decided != nil && p.Name == "access":
		last = *e.Decided
		last.Matched = true
	default:
		return rules
	}
	for i := range rules {
		if rules[i].Rule == last.Rule && rules[i].At == last.At {
			return rules
		}
	}
	if last.Rule == "" || last.Rule == p.Name {
		return rules
	}
	return append(rules[:len(rules):len(rules)], last)
}

func (e explanation) rules(rules []dryrun.Rule) (rows [][]string) {
	left := 0
	for _, r := range rules {
		if !r.Matched && !e.verbose && (len(rules) > fewRules && r.Why == "route" || strings.HasPrefix(r.Rule, "built-in:") && r.Why == "route") {
			left++
			continue
		}
		mark, why := "no  ", mismatches[r.Why]
		if r.Matched {
			mark, why = "yes ", "matches"
		}
		rule := "  " + mark + r.Rule
		if !r.Matched {
			rule = e.palette.Faint(rule)
		}
		rows = append(rows, []string{"", rule, why, e.palette.Faint(place(r.At, r.Imported))})
	}
	if left > 0 {
		rows = append(rows, []string{"", e.palette.Faint(fmt.Sprintf("  no  %d other rules", left)), "for other routes"})
	}
	return rows
}

// mismatches are the words of dryrun.Rule.Why for people.
var mismatches = map[string]string{
	"method":   "for other methods",
	"route":    "for other routes",
	"id":       "for other abilities",
	"except":   "the route is its exception",
	"replaced": "replaced by a rule of yours",
}
