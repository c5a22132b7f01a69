package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/diff"
)

// decided are the policies whose rules Compare compares call by call: what changes of these beside is listed here.
var decided = map[string][]string{
	"access": {"login_only", "rules", "guards", "plugins", "recommended"},
}

// answers are the policies that change answers, and refuse nothing.
var answers = []string{"redact", "no_store", "session_cookies", "strip_query"}

// policies adds what changes in policies.
func (c *comparer) policies(before, after map[string]any, site string) {
	for _, name := range namesIn(before, after) {
		old, now := object(before[name]), object(after[name])
		if textOf(old) == textOf(now) {
			continue
		}
		effects := both
		if slices.Contains(answers, name) {
			effects = nil
		}
		switch {
		case now["off"] == true && old["off"] != true, before[name] != nil && after[name] == nil && name != "access":
			c.report.beside(Beside{What: "policy", Text: "the policy " + name + " is no longer configured, or off", Effects: effects[:min(1, len(effects))]}, site)
			continue
		case before[name] == nil && now["off"] != true && name != "access":
			c.report.beside(Beside{What: "policy", Text: "the policy " + name + " is new", Effects: effects[min(1, len(effects)):]}, site)
			continue
		}
		for _, member := range namesIn(old, now) {
			switch {
			case textOf(old[member]) == textOf(now[member]), slices.Contains(decided[name], member):
			case member == "mode":
				c.mode("the policy "+name, old[member], now[member], site)
			case member == "on_error":
				c.onError(name, old[member], now[member], site)
			case member == "scopes":
				c.scopes(old[member], now[member], site)
			default:
				c.report.beside(Beside{What: "policy", Text: fmt.Sprintf("%s: %s %s", name, member, shown(old[member], now[member])), Effects: effects}, site)
			}
		}
	}
}

// mode adds that what judges enforces or observes now.
func (c *comparer) mode(what string, old, now any, site string) {
	was, is := cmp.Or(word(old), "enforce"), cmp.Or(word(now), "enforce")
	effect := diff.MayClose
	if is == "observe" {
		effect = diff.MayOpen
	}
	c.report.beside(Beside{What: "mode", Text: fmt.Sprintf("the mode of %s was %s, and is %s", what, was, is), Effects: []diff.Effect{effect}}, site)
}

// onError adds what becomes of calls on which a policy cannot decide.
func (c *comparer) onError(name string, old, now any, site string) {
	was, is := cmp.Or(word(old), "refuse"), cmp.Or(word(now), "refuse")
	effect := diff.MayClose
	if is == "pass" {
		effect = diff.MayOpen
	}
	c.report.beside(Beside{What: "policy", Text: fmt.Sprintf("on_error of %s was %s, and is %s", name, was, is), Effects: []diff.Effect{effect}}, site)
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
			c.report.beside(Beside{What: "scope", Text: "the scope " + name + " is new: it binds its credentials, also at the doors beside REST", Effects: both[1:]}, site)
			continue
		case b == nil:
			c.report.beside(Beside{What: "scope", Text: "the scope " + name + " is gone: it binds nobody, and closes no door beside REST", Effects: both[:1]}, site)
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
	text := ""
	for _, one := range missing(y, x) {
		text += " + " + one
	}
	for _, one := range missing(x, y) {
		text += " - " + one
	}
	if text == "" {
		return "has another order"
	}
	return "changes:" + text
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
