package routing

import (
	"slices"
	"strings"
)

// impliesHosts tells whether each host that fits one of these patterns fits one of those.
func impliesHosts(these, those []string) bool {
	return len(these) > 0 && !slices.ContainsFunc(these, func(h string) bool {
		return !slices.ContainsFunc(those, func(of string) bool { return fitsHost(h, of) })
	})
}

// fitsHost tells whether each host that fits the pattern h fits the pattern of. A star is
// one label.
func fitsHost(h, of string) bool {
	if strings.EqualFold(h, of) {
		return true
	}
	return strings.Contains(of, "*") && !strings.ContainsAny(h+of, "{") &&
		slices.EqualFunc(strings.Split(h, "."), strings.Split(of, "."), func(label, pattern string) bool {
			return pattern == "*" || strings.EqualFold(label, pattern)
		})
}

// disjointHosts tells whether no host fits one of these patterns and one of those.
func disjointHosts(these, those []string) bool {
	return !slices.ContainsFunc(these, func(a string) bool {
		return slices.ContainsFunc(those, func(b string) bool { return meet(a, b) })
	})
}

// meet tells whether a host may fit both patterns. It runs for each pair of a configuration's
// sites, so it allocates nothing for two plain hosts.
func meet(a, b string) bool {
	switch {
	case strings.EqualFold(a, b), strings.Contains(a, "{"), strings.Contains(b, "{"):
		return true
	case !strings.Contains(a, "*") && !strings.Contains(b, "*"):
		return false
	}
	return slices.EqualFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) bool {
		return a == "*" || b == "*" || strings.EqualFold(a, b) // a label such as "a*" is no wildcard for Caddy, but the host may hold it
	})
}

// isLiteral tells whether a pattern is one host.
func isLiteral(h string) bool { return !strings.ContainsAny(h, "*{") }
