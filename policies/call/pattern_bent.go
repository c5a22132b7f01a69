package call

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Dotted tells whether a literal segment of the pattern holds a dot.
func (p Pattern) Dotted() bool {
	for _, s := range p.segments {
		if !isWildcard(s) && strings.IndexByte(s, '.') >= 0 {
			return true
		}
	}
	return false
}

// Bent tells whether c, or a part of it, fits one of the patterns only since the platform takes a
// dot of the pattern for any byte, "/" too: it takes what is registered for an expression
// (docs/platform I.1.3). No client writes a route so. Of the old address of the checkout API both
// spellings count, and of escapes what a server behind the gateway may make of them.
func (c *Call) Bent(patterns []Pattern) bool {
	if bent(patterns, c.Key) || c.Key != c.Route && bent(patterns, c.Route) {
		return true
	}
	if strings.IndexByte(c.Route, '%') >= 0 && bentDecoded(patterns, c.Route) {
		return true
	}
	for _, part := range c.Parts {
		if part.Bent(patterns) {
			return true
		}
	}
	return false
}

// maxDecoded bounds how often something on the way decodes a text.
const maxDecoded = 8

// bentDecoded is bent for what a route is once, or several times, decoded.
func bentDecoded(patterns []Pattern, route string) bool {
	for range maxDecoded {
		decoded := phpvars.Decode(route)
		if decoded == route {
			break
		}
		if route = decoded; bent(patterns, keyOf(route)) || bent(patterns, route) {
			return true
		}
	}
	return false
}

func bent(patterns []Pattern, route string) bool {
	for i := range patterns {
		if patterns[i].bent(route) {
			return true
		}
	}
	return false
}

func (p Pattern) bent(route string) bool {
	bent := false
	for _, s := range p.segments {
		if route == "" || route[0] != '/' {
			return false
		}
		route = route[1:]
		end := len(s)
		if isWildcard(s) {
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
