package option

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/policy"
)

// Lines are the places of the lines that a site has given to the snippet with its directive, in
// order: "Caddyfile:21". Elsewhere in the directive such a line stands at "{block}:1", the next
// one at "{block}:2". So directives that say the same are equal, wherever their sites stand.
type Lines []string

const block = "{block}:"

var blockLine = regexp.MustCompile(`\{block\}:[0-9]+`)

// TakeLines puts marks in place of the places of the lines that a site has given to the snippet
// with directive, and returns the places.
func TakeLines(directive *policy.Option) (taken Lines) {
	marks := map[string]string{}
	var take func([]policy.Option)
	take = func(lines []policy.Option) {
		for i := range lines {
			if o := &lines[i]; o.Imported != directive.Imported && strings.HasSuffix(directive.Imported, o.Imported) {
				if marks[o.Pos] == "" {
					taken = append(taken, o.Pos)
					marks[o.Pos] = block + strconv.Itoa(len(taken))
				}
				o.Pos = marks[o.Pos]
			}
			take(lines[i].Block)
		}
	}
	take(directive.Block)
	return taken
}

// In returns text with places for marks.
func (l Lines) In(text string) string {
	if !strings.Contains(text, block) {
		return text
	}
	return blockLine.ReplaceAllStringFunc(text, func(mark string) string {
		if n, err := strconv.Atoi(mark[len(block):]); err == nil && n > 0 && n <= len(l) {
			return l[n-1]
		}
		return mark
	})
}
