package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
)

// order is that of effects in a report.
var order = []Effect{Opened, MayOpen, Closed, MayClose}

// Rank is the place of an effect in a report: what opens comes first.
func Rank(e Effect) int { return slices.Index(order, e) }

// byDanger orders changes: what opens first, then by danger; the rest makes the order certain.
func byDanger(a, b Change) int {
	return cmp.Or(
		cmp.Compare(Rank(a.Effect), Rank(b.Effect)),
		cmp.Compare(a.Danger(), b.Danger()),
		slices.CompareFunc(a.Sets, b.Sets, func(s, t Set) int { return strings.Compare(s.Route, t.Route) }),
		slices.Compare(a.Methods, b.Methods), slices.Compare(a.Who, b.Who),
		strings.Compare(a.Old.Text, b.Old.Text), strings.Compare(a.New.Text, b.New.Text), strings.Compare(a.Old.At+a.New.At, b.Old.At+b.New.At),
	)
}

// Danger is the lower the more dangerous a change is: who writes goes before who reads, and whom nobody knows before others.
func (c *Change) Danger() int {
	known := 1
	if c.Example.Who == 0 {
		known = 0
	}
	if (&call.Call{Method: c.Example.Method}).Writes() {
		return known
	}
	return known + 2
}

// methodsOf returns the methods of a set as a Change has them. HEAD is left out where GET, which covers it in a rule, stands.
func methodsOf(set policy.MethodSet) (methods []string) {
	for i, m := range policy.MethodsApart {
		if set.Has(i) && (m != "HEAD" || !slices.Contains(methods, "GET")) {
			methods = append(methods, m)
		}
	}
	if set == 1<<len(policy.MethodsApart)-1 {
		return nil
	}
	return methods
}

// exampleOf returns the most dangerous method of a set.
func exampleOf(set policy.MethodSet) string {
	found := ""
	for i, m := range policy.MethodsApart {
		if writes := (&call.Call{Method: m}).Writes(); set.Has(i) && (found == "" || writes && !(&call.Call{Method: found}).Writes()) {
			found = m
		}
	}
	return found
}
