package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/policy"
)

// decided are the policies whose rules are compared call by call: what changes of these beside is listed here.
var decided = map[string][]string{
	"access": {"login_only", "rules", "guards", "plugins", "recommended"},
}

// harmless are options, policies and their members that decide on no call: a change of them is told without an effect.
var harmless = []string{"journal", "request_id", "spool_dir", "no_store", "session_cookies", "notify"}

// policies adds what changes in policies. One that is not configured is on, with its defaults.
func (c *comparer) policies(before, after map[string]any, site string) {
	old, now := object(before["policies"]), object(after["policies"])
	for _, name := range namesIn(old, now) {
		was, is := object(old[name]), object(now[name])
		switch {
		case textOf(was) == textOf(is):
			continue
		case is["off"] == true || was["off"] == true:
			text, effect := "the policy "+name+" is off now", diff.MayOpen
			if is["off"] != true {
				text, effect = "the policy "+name+" is no longer off", diff.MayClose
			}
			c.report.beside(Beside{What: "policy", Text: text, Effects: effective(name, effect)}, site)
			continue
		}
		if was, is := modeOf(before, was), modeOf(after, is); was != is {
			c.mode("the policy "+name, was, is, site)
		}
		for _, member := range namesIn(was, is) {
			switch {
			case textOf(was[member]) == textOf(is[member]), member == "mode", slices.Contains(decided[name], member):
			case member == "on_error":
				c.onError(name, word(was[member]), word(is[member]), site)
			case member == "scopes":
				c.scopes(was[member], is[member], site)
			case name == "rate_limit" && member == "limits":
				c.limits(was[member], is[member], site)
			default:
				c.report.beside(Beside{What: "policy", Text: fmt.Sprintf("%s: %s %s", name, member, shown(was[member], is[member])), Effects: effective(name, effective(member, both...)...)}, site)
			}
		}
	}
}

// effective returns effects for what decides on calls, by its name, and none for what does not.
func effective(name string, effects ...diff.Effect) []diff.Effect {
	if slices.Contains(harmless, name) {
		return nil
	}
	return effects
}

// modeOf returns the mode of a policy of a directive, which has that of the directive unless it says so.
func modeOf(directive, policy map[string]any) string {
	return cmp.Or(word(policy["mode"]), word(directive["mode"]), "enforce")
}

// mode adds that what judges enforces or observes now. Of policies that follow the directive it is told once.
func (c *comparer) mode(what, was, is, site string) {
	effect := diff.MayClose
	if is == "observe" {
		effect = diff.MayOpen
	}
	c.report.beside(Beside{What: "mode", Text: fmt.Sprintf("the mode of %s was %s, and is %s", what, was, is), Effects: []diff.Effect{effect}}, site)
}

// onError adds what becomes of calls on which a policy cannot decide.
func (c *comparer) onError(name, was, is, site string) {
	was, is = cmp.Or(was, "refuse"), cmp.Or(is, "refuse")
	if was == is {
		return
	}
	effect := diff.MayClose
	if is == "pass" {
		effect = diff.MayOpen
	}
	c.report.beside(Beside{What: "policy", Text: fmt.Sprintf("on_error of %s was %s, and is %s", name, was, is), Effects: []diff.Effect{effect}}, site)
}

// limits adds what changes in limits of rates. All that fit a call count, so that their order does not.
func (c *comparer) limits(old, now any, site string) {
	was, is := ratesOf(old), ratesOf(now)
	for _, limit := range namesIn(was, is) {
		before, after := word(was[limit]), word(is[limit])
		text, effects := fmt.Sprintf("rate_limit %s: was %s, and is %s", limit, cmp.Or(before, "not limited"), cmp.Or(after, "not limited")), both[1:]
		switch {
		case before == after:
			continue
		case before == "":
		case after == "":
			effects = both[:1]
		default:
			effects = rateEffects(before, after)
		}
		c.report.beside(Beside{What: "policy", Text: text, Effects: effects}, site)
	}
}

// rateEffects says what another rate does.
func rateEffects(before, after string) []diff.Effect {
	was, err := policy.ParseRate(before)
	is, unread := policy.ParseRate(after)
	switch {
	case err != nil || unread != nil || was.Per != is.Per:
		return both
	case was.Count < is.Count:
		return both[:1]
	}
	return both[1:]
}

// ratesOf returns the rates of limits by what they are for: "POST /wp/v2/comments".
func ratesOf(v any) map[string]any {
	found := map[string]any{}
	said, _ := v.([]any)
	list := slices.Clone(said)
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(textOf(a), textOf(b)) })
	for _, one := range list {
		limit := maps.Clone(object(one))
		rate := limit["rate"]
		delete(limit, "rate")
		name := limitName(limit)
		for found[name] != nil { // two limits of one kind
			name += " too"
		}
		found[name] = rate
	}
	return found
}

// limitName says what a limit is for.
func limitName(limit map[string]any) string {
	var words []string
	for _, member := range []string{"methods", "routes"} {
		list, _ := limit[member].([]any)
		var texts []string
		for _, v := range list {
			texts = append(texts, word(v))
		}
		if delete(limit, member); len(texts) > 0 {
			words = append(words, strings.Join(texts, map[string]string{"methods": ",", "routes": " "}[member]))
		}
	}
	if len(limit) > 0 {
		words = append(words, textOf(limit))
	}
	return strings.Join(words, " ")
}

func word(v any) string {
	text, _ := v.(string)
	return text
}

// scopes adds what changes of scopes, beside what their lines allow.
func (c *comparer) scopes(old, now any, site string) {
	before, after := byName(old), byName(now)
	for _, name := range namesIn(before, after) {
		a, b := object(before[name]), object(after[name])
		switch {
		case a == nil:
			effects := both[1:]
			if len(before) > 0 { // it may take a credential out of another one
				effects = both
			}
			c.report.beside(Beside{What: "scope", Text: "the scope " + name + " is new: it binds its credentials, also at the doors beside REST", Effects: effects}, site)
			continue
		case b == nil:
			effects := both[:1]
			if len(after) > 0 {
				effects = both
			}
			c.report.beside(Beside{What: "scope", Text: "the scope " + name + " is gone: it binds nobody, and closes no door beside REST", Effects: effects}, site)
			continue
		}
		for _, member := range namesIn(a, b) {
			if member != "allow" && textOf(a[member]) != textOf(b[member]) {
				c.report.beside(Beside{What: "scope", Text: fmt.Sprintf("scope %s: %s %s", name, member, shown(a[member], b[member])), Effects: both}, site)
			}
		}
	}
}

// byName returns the objects of a list by their names.
func byName(v any) map[string]any {
	found := map[string]any{}
	list, _ := v.([]any)
	for _, one := range list {
		found[word(object(one)["name"])] = one
	}
	return found
}

// shown says how a value changes. Of lists it shows the elements that come and go.
func shown(old, now any) string {
	x, isList := old.([]any)
	y, alsoList := now.([]any)
	if !isList && !alsoList {
		if old == nil || now == nil {
			return changed(old, now) + ": " + textOf(cmp.Or(old, now))
		}
		return fmt.Sprintf("was %s, and is %s", textOf(old), textOf(now))
	}
	come, gone := missing(y, x), missing(x, y)
	if len(come)+len(gone) == 0 {
		return "has another order"
	}
	var b strings.Builder
	b.WriteString("changes:")
	for _, one := range come {
		b.WriteString(" + " + one)
	}
	for _, one := range gone {
		b.WriteString(" - " + one)
	}
	return b.String()
}

// missing returns those of some elements, as JSON, that are not among others.
func missing(some, others []any) (list []string) {
	for _, v := range some {
		if text := textOf(v); !slices.ContainsFunc(others, func(o any) bool { return textOf(o) == text }) {
			list = append(list, text)
		}
	}
	return list
}
