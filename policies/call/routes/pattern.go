package routes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Pattern is a route as rules write it: "/" the root, "*" one segment, ":name"
// one segment that the platform reads as the parameter name, "**" the rest
// (also nothing). It matches Call.Key.
type Pattern struct {
	text     string
	segments []string
	rest     bool   // ends in "**"
	start    string // its first segments up to a wildcard, without slashes around them
}

// ParsePattern reads a pattern. It refuses a text that could never match or would be a
// hole: one without a leading slash, with empty segments, with "**" before the end, with
// white space or wildcards inside a segment, or with a literal number as a segment, since
// the platform may take the id from elsewhere (docs/platform I.3).
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	if !strings.HasPrefix(text, "/") {
		return p, fmt.Errorf("route %q does not begin with /", text)
	}
	if text == "/" {
		return p, nil
	}
	segments := strings.Split(strings.TrimSuffix(text[1:], "/"), "/")
	for i, s := range segments {
		if s = strings.ToLower(s); s == "" || s[0] != ':' { // names of parameters differ by case
			segments[i] = s
		}
		if s == "**" {
			if i != len(segments)-1 {
				return p, fmt.Errorf("route %q: ** is only possible at the end", text)
			}
			p.rest = true
			segments = segments[:i]
			break
		}
		if err := checkSegment(s); err != nil {
			return p, fmt.Errorf("route %q: %w", text, err)
		}
	}
	for i, all := 0, platforms.All(); i < len(all); i++ {
		if len(segments) > 0 && segments[0] == all[i].Prefix {
			return p, fmt.Errorf("route %q: routes are written without the prefix, as /%s", text, strings.Join(segments[1:], "/"))
		}
	}
	if len(segments) > 0 {
		p.segments = strings.Split(platforms.Versioned("/" + strings.Join(segments, "/"))[1:], "/")
	}
	p.start = p.literalStart()
	return p, nil
}

// literalStart returns the first segments up to a wildcard, without slashes around them.
func (p Pattern) literalStart() string {
	literal := slices.IndexFunc(p.segments, IsWildcard)
	if literal < 0 {
		literal = len(p.segments)
	}
	return strings.Join(p.segments[:literal], "/")
}

// IsWildcard tells whether a segment of a pattern, "*" or ":name", matches any segment.
func IsWildcard(s string) bool { return s == "*" || strings.HasPrefix(s, ":") }

func checkSegment(s string) error {
	switch {
	case s == "":
		return errors.New("empty segment")
	case s == "*":
		return nil
	case s == ":":
		return errors.New("a parameter needs a name")
	case strings.Trim(s, "0123456789") == "":
		return fmt.Errorf("a literal number (%s) cannot be guarded, the platform may take the id from elsewhere; use * or :id", s)
	}
	for _, c := range strings.TrimPrefix(s, ":") {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.~", c) {
			return fmt.Errorf("%q in segment %q cannot match", c, s)
		}
	}
	return nil
}

// MustPattern is ParsePattern for patterns written in the program.
func MustPattern(text string) Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		panic(err)
	}
	return p
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Spelling returns the one spelling of all patterns that name the same segments: names in small letters, but for those of
// parameters, without a slash at the end, and with the version of the checkout API.
func (p Pattern) Spelling() string {
	if segments := slices.Clone(p.segments); p.rest {
		return "/" + strings.Join(append(segments, "**"), "/")
	}
	return "/" + strings.Join(p.segments, "/")
}

// Literal tells whether the pattern names exactly one route.
func (p Pattern) Literal() bool {
	return !p.rest && !slices.ContainsFunc(p.segments, IsWildcard)
}

// Segments returns the segments of the pattern: literal text, "*" or ":name". rest is true
// if any segments, or none, may follow. The slice belongs to the pattern.
func (p Pattern) Segments() (segments []string, rest bool) { return p.segments, p.rest }

// Names returns the names of the pattern's parameters.
func (p Pattern) Names() []string {
	var names []string
	for _, s := range p.segments {
		if s[0] == ':' {
			names = append(names, s[1:])
		}
	}
	return names
}

// Match tells whether key, a folded route, fits the pattern.
func (p Pattern) Match(key string) bool {
	rest := strings.TrimPrefix(key, "/")
	if !strings.HasPrefix(rest, p.start) {
		return false // as nearly all
	}
	for _, s := range p.segments {
		if rest == "" {
			return false
		}
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		if s != segment && !IsWildcard(s) || segment == "" {
			return false
		}
	}
	return rest == "" || p.rest
}

// Covers tells whether p matches every key that other matches.
func (p Pattern) Covers(other Pattern) bool {
	if len(other.segments) < len(p.segments) || !p.rest && (other.rest || len(other.segments) > len(p.segments)) {
		return false
	}
	for i, s := range p.segments {
		if s != other.segments[i] && !IsWildcard(s) {
			return false
		}
	}
	return true
}

// Group returns the segment of key at the parameter name, or "" where the pattern has no
// such parameter. The key must match the pattern.
func (p Pattern) Group(key, name string) string {
	rest := strings.TrimPrefix(key, "/")
	for _, s := range p.segments {
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		if s[0] == ':' && s[1:] == name {
			return segment
		}
	}
	return ""
}

// OfAll tells whether the pattern fits the routes of every plugin.
func (p Pattern) OfAll() bool {
	return p.rest && !slices.ContainsFunc(p.segments, func(s string) bool { return !IsWildcard(s) })
}
