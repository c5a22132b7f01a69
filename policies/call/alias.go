package call

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
)

// Alias is a rewrite rule of the site that makes a call of a path (docs/platform I.1.4): what
// stands in rest_route of the rule's query. The rest of that query changes no call.
type Alias struct {
	// Pattern is the rule's own, "^api/(.+)". The platform matches it from the beginning of the
	// path below the home address, without the outer slashes.
	Pattern string `json:"pattern"`
	// Route is the route with $1 to $9 for what the groups of the pattern hold, "/$1".
	Route string `json:"route"`
}

// String writes the alias as in the directive.
func (a Alias) String() string { return "alias " + a.Pattern + " " + a.Route }

// Validate says why a cannot be used. A pattern must mean to Go what it means to PHP, and each
// group that the route names must be there in every match.
func (a Alias) Validate() error {
	_, err := a.compile()
	return err
}

// alias is an Alias that is ready.
type alias struct {
	text   string
	fits   expression // of texts whose bytes stand as characters, see wide
	pieces []piece    // of the route
	begins string     // what the texts begin with, in small letters
}

// expression is a *regexp.Regexp.
type expression interface {
	MatchString(text string) bool
	FindStringSubmatch(text string) []string
}

// piece is literal text of a route, or what a group holds.
type piece struct {
	text  string
	group int // 0 for text
}

func (a Alias) compile() (*alias, error) {
	if err := samePCRE(a.Pattern); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", a.Pattern, err)
	}
	text := "^" + wide(a.Pattern)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: RE2 cannot hold it: %w", a.Pattern, err)
	}
	if !ascii(a.Pattern) && folds(tree) {
		return nil, fmt.Errorf("pattern %q: (?i) is possible with ASCII letters only", a.Pattern)
	}
	pieces, err := piecesOf(a.Route)
	if err != nil {
		return nil, fmt.Errorf("route %q: %w", a.Route, err)
	}
	for _, p := range pieces {
		switch {
		case p.group > tree.MaxCap():
			return nil, fmt.Errorf("route %q: the pattern has no group %d", a.Route, p.group)
		case p.group > 0 && !always(tree, p.group):
			return nil, fmt.Errorf("route %q: group %d of the pattern may be absent or stand several times: write one alias for each case", a.Route, p.group)
		}
	}
	fits, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: RE2 cannot hold it: %w", a.Pattern, err)
	}
	return &alias{a.String(), fits, pieces, beginning(tree)}, nil
}

// beginning returns the literal text, in small letters, that an expression for the beginning of a text
// asks for.
func beginning(tree *syntax.Regexp) string {
	if tree.Op != syntax.OpConcat {
		return ""
	}
	for _, sub := range tree.Sub {
		switch sub.Op {
		case syntax.OpBeginText: // the pattern may have its own "^"
		case syntax.OpLiteral:
			return lower(string(sub.Rune))
		default:
			return ""
		}
	}
	return ""
}

// samePCRE refuses what PHP reads otherwise than Go, beside what Go does not read at all.
func samePCRE(pattern string) error {
	switch {
	case pattern == "", pattern == "$":
		return errors.New("the home page is no call")
	case hasControl(pattern):
		return errors.New("a control character")
	case strings.Contains(pattern, "#"):
		return errors.New("the platform ends a pattern at #")
	case strings.Contains(pattern, "{,"):
		return errors.New("releases of PHP differ in {,")
	}
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if i++; between.Alnum(pattern[i]) && strings.IndexByte("dDwWsSbBAznrtf", pattern[i]) < 0 {
			return fmt.Errorf(`\%c has no meaning, or another one than in PHP (no back references)`, pattern[i])
		}
	}
	return nil
}

// piecesOf takes a route apart.
func piecesOf(route string) (pieces []piece, err error) {
	if !strings.HasPrefix(route, "/") && !strings.HasPrefix(route, "$") {
		return nil, errors.New("it begins neither with / nor with $1 to $9")
	}
	rest := route
	for rest != "" {
		text, behind, group := strings.Cut(rest, "$")
		if text != "" {
			pieces = append(pieces, piece{text: text})
		}
		if !group {
			break
		}
		if behind == "" || behind[0] < '1' || behind[0] > '9' || len(behind) > 1 && '0' <= behind[1] && behind[1] <= '9' {
			return nil, errors.New("behind $ stands one digit from 1 to 9")
		}
		pieces, rest = append(pieces, piece{group: int(behind[0] - '0')}), behind[1:]
	}
	for _, p := range pieces {
		if !plainPath(p.text) {
			return nil, errors.New("it has more than plain segments: of the query of a rule only rest_route counts, and is written without its name")
		}
	}
	return pieces, nil
}

// always tells whether a group takes part in every match, and once.
func always(tree *syntax.Regexp, group int) bool {
	if tree.Op == syntax.OpCapture && tree.Cap == group {
		return true
	}
	return (tree.Op == syntax.OpCapture || tree.Op == syntax.OpConcat) &&
		slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return always(sub, group) })
}

// folds tells whether some part of an expression ignores case.
func folds(tree *syntax.Regexp) bool {
	return tree.Flags&syntax.FoldCase != 0 || slices.ContainsFunc(tree.Sub, folds)
}

// fill returns the route that the rule makes of a text that it fits, see wide.
func (a *alias) fill(text string) string {
	groups := a.fits.FindStringSubmatch(text)
	var b strings.Builder
	for _, p := range a.pieces {
		if b.WriteString(p.text); p.group > 0 {
			b.WriteString(narrow(groups[p.group]))
		}
	}
	return b.String()
}

func ascii(s string) bool { return between.ASCII(s) }

func wide(s string) string { return between.Wide(s) }

// narrow undoes wide.
func narrow(s string) string {
	if ascii(s) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		b.WriteByte(byte(c)) // wide makes no greater ones
	}
	return b.String()
}
