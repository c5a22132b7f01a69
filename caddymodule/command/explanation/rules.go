package explanation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/policy"
)

// fewRules is how many rules of a policy are shown even if they do not matter.
const fewRules = 12

// policies writes a line for each policy that was asked, and below it the rules that the
// policy considered. Policies that say nothing share a line. Of many rules those for other
// routes are only counted.
func (e Explanation) policies(b *strings.Builder) {
	if len(e.Policies) == 0 {
		return
	}
	b.WriteString("\n" + e.Palette.Strong("What the policies say") + "\n")
	var quiet []string
	pass := func() {
		if len(quiet) > 0 {
			fmt.Fprintf(b, "  %s: %s\n", strings.Join(quiet, ", "), e.Palette.Good("pass"))
			quiet = nil
		}
	}
	for i := range e.Policies {
		p := &e.Policies[i]
		rules := e.rulesOf(p)
		if p.Verdict == "pass" && len(rules) == 0 {
			quiet = append(quiet, p.Name)
			continue
		}
		pass()
		fmt.Fprintf(b, "  %s: %s\n", p.Name, e.verdict(p))
		b.WriteString(terminal.Aligned("    ", e.rules(rules)))
	}
	pass()
}

func (e Explanation) verdict(p *dryrun.Policy) string {
	words := map[string]string{
		"pass":         e.Palette.Good("passes"),
		"refuse":       e.Palette.Bad("refuses"),
		"would_refuse": e.Palette.Odd("would refuse, only observes"),
		"undecided":    e.Palette.Odd("cannot decide"),
	}
	text := cmp.Or(words[p.Verdict], p.Verdict)
	if p.Name == "call" && p.Verdict == "undecided" { // no certain reading is what call refuses
		text = words["refuse"]
	}
	if more := cmp.Or(p.Error, p.Code); more != "" && e.Answer != dryrun.Unknown { // Missing says it there
		text += ", " + more
	}
	return text
}

// rulesOf returns the rules that a policy considered, and the one that decided if it is
// none of them: login_only is no line of rules.
func (e Explanation) rulesOf(p *dryrun.Policy) []dryrun.Rule {
	rules := p.Rules
	var last dryrun.Rule
	switch {
	case e.Decision != nil && e.Decision.Policy == p.Name:
		last = dryrun.Rule{Rule: e.Decision.Rule, Origin: e.Decision.Origin, At: e.Decision.At, Imported: e.Decision.Imported, Matched: true}
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
	if last.Rule == "" || last.Rule == p.Name || p.Name == "call" {
		return rules
	}
	return append(slices.Clip(rules), last)
}

// rules has a row for each rule: whether it matched, its place, why it did not, the rule.
func (e Explanation) rules(rules []dryrun.Rule) (rows [][]string) {
	if !e.Verbose {
		rules = oneForEach(rules)
	}
	left, builtIns := 0, 0
	for _, r := range rules {
		builtIn := r.Origin == policy.OriginBuiltIn
		if !r.Matched && !e.Verbose && (r.Why == "route" || r.Why == mixed) && (builtIn || len(rules) > fewRules) {
			left++
			if builtIn {
				builtIns++
			}
			continue
		}
		rows = append(rows, e.ruleRow(&r))
	}
	if left > 0 {
		text := fmt.Sprintf("%d more, of them %d built-in", left, builtIns)
		if left == builtIns {
			text = fmt.Sprintf("%d built-in rules", left)
		}
		rows = append(rows, []string{e.Palette.Faint("no"), "", e.Palette.Faint(mismatches["route"]), e.Palette.Faint(text)})
	}
	return rows
}

func (e Explanation) ruleRow(r *dryrun.Rule) []string {
	name := r.Rule
	if e.Verbose {
		name = r.Text()
	}
	row := []string{"no", routing.Place(r.At, r.Imported), mismatches[r.Why], name}
	if r.Matched {
		row[0], row[2] = "yes", "matches"
		return row
	}
	for i := range row {
		row[i] = e.Palette.Faint(row[i])
	}
	return row
}

// mismatches are the words of dryrun.Rule.Why for people.
var mismatches = map[string]string{
	"method":   "for other methods",
	"route":    "for other routes",
	mixed:      "for other methods or routes",
	"id":       "for other abilities",
	"message":  "for other messages of agents",
	"except":   "the route is its exception",
	"replaced": "replaced by a rule of yours",
}
