package gateway

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/policies/policy"
)

// maxTags bounds the tags of a directive.
const maxTags = 20

var tags = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (g *Gateway) tagOption(o policy.Option) error {
	if len(o.Args) == 0 || len(o.Block) > 0 {
		return o.Missing("takes one or more names, such as shops")
	}
	g.Tag = o.Args
	return option.Placed(o, validateTags(g.Tag))
}

// distinct returns tags of several directives in order, each once.
func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func validateTags(names []string) error {
	if len(names) > maxTags {
		return fmt.Errorf("tag: %d names, and %d are the most", len(names), maxTags)
	}
	for i, name := range names {
		switch {
		case !tags.MatchString(name):
			return fmt.Errorf("tag: %q is no name: letters, digits, dots, hyphens and underscores, 64 at most, a letter or digit first", name)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("tag: %s stands twice", name)
		}
	}
	return nil
}
