package routes

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Dotted tells whether a literal segment of the pattern holds a dot.
func (p Pattern) Dotted() bool {
	return slices.ContainsFunc(p.segments, func(s string) bool { return !IsWildcard(s) && strings.Contains(s, ".") })
}

// Bent tells whether a route with this key fits one of the patterns only since the platform takes a
// dot of the pattern for any byte, "/" too: it takes what is registered for an expression
// (docs/platform I.1.3). No client writes a route so. Of the old address of the checkout API both
// spellings count, and of escapes what a server behind the gateway may make of them.
func Bent(patterns []Pattern, key, route string) bool {
	if bent(patterns, key) || key != route && bent(patterns, route) {
		return true
	}
	return strings.IndexByte(route, '%') >= 0 && bentDecoded(patterns, route)
}

// bentDecoded is bent for what a route is once, or several times, decoded.
func bentDecoded(patterns []Pattern, route string) bool {
	for range between.MaxDecoded {
		decoded := phpvars.Decode(route)
		if decoded == route {
			break
		}
		if route = decoded; bent(patterns, Key(route)) || bent(patterns, route) {
			return true
		}
	}
	return false
}

func bent(patterns []Pattern, route string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.bent(route) })
}

func (p Pattern) bent(route string) bool {
	bent := false
	for _, s := range p.segments {
		if route == "" || route[0] != '/' {
			return false
		}
		route = route[1:]
		end := len(s)
		if IsWildcard(s) {
			if end = strings.IndexByte(route, '/'); end < 0 {
				end = len(route)
			}
			if end == 0 {
				return false
			}
		} else {
			fits, byDot := literally(s, route)
			if !fits {
				return false
			}
			bent = bent || byDot
		}
		route = route[end:]
	}
	return bent && (route == "" || p.rest && route[0] == '/')
}

// literally tells whether a route begins with a literal segment where each dot is any byte, and
// whether one of them is another byte.
func literally(segment, route string) (fits, byDot bool) {
	if len(route) < len(segment) {
		return false, false
	}
	for i := range len(segment) {
		switch b := route[i]; {
		case b == segment[i], 'A' <= b && b <= 'Z' && b|0x20 == segment[i]:
		case segment[i] == '.':
			byDot = true
		default:
			return false, false
		}
	}
	return true, byDot
}
