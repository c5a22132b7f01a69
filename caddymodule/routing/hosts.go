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
	if !strings.Contains(of, "*") || strings.ContainsAny(h+of, "{") {
		return false
	}
	labels, patterns := strings.Split(h, "."), strings.Split(of, ".")
	if len(labels) != len(patterns) {
		return false
	}
	for i := range labels {
		if patterns[i] != "*" && !strings.EqualFold(labels[i], patterns[i]) {
			return false
		}
	}
	return true
}

// disjointHosts tells whether no host fits one of these patterns and one of those.
func disjointHosts(these, those []string) bool {
	for _, a := range these {
		for _, b := range those {
			if meet(a, b) {
				return false
			}
		}
	}
	return true
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
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		// a label such as "a*" is no wildcard for Caddy, but the host may hold it
		if as[i] != "*" && bs[i] != "*" && !strings.EqualFold(as[i], bs[i]) {
			return false
		}
	}
	return true
}

// isLiteral tells whether a pattern is one host.
func isLiteral(h string) bool { return !strings.ContainsAny(h, "*{") }
