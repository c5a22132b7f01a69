package call

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
)

// Prefixes are the names of the prefix of a site. The first is the one that the site itself
// uses, and that questions take. In JSON one name is a string, several are a list.
type Prefixes []string

var validPrefix = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)

// Validate checks each name: it is one plain segment of a path, and stands once.
func (p Prefixes) Validate() error {
	for i, name := range p {
		switch {
		case name == "" || slices.Contains(p[:i], name):
			return fmt.Errorf("prefix: %q is empty or stands twice", name)
		case !validPrefix.MatchString(name) || between.Dots(name):
			return fmt.Errorf("prefix: %q is not one plain segment of a path, without /", name)
		case strings.Contains(name, "."): // the platform's rewrite rules do not quote it
			return fmt.Errorf("prefix: %q has a dot, which the platform takes for any character", name)
		}
	}
	return nil
}

// First returns the first name, or "" where the site has not changed the prefix.
func (p Prefixes) First() string {
	if len(p) == 0 {
		return ""
	}
	return p[0]
}

// More returns the other names.
func (p Prefixes) More() []string {
	if len(p) == 0 {
		return nil
	}
	return p[1:]
}

// MarshalJSON writes one name as a string.
func (p Prefixes) MarshalJSON() ([]byte, error) {
	if len(p) == 1 {
		return json.Marshal(p[0])
	}
	return json.Marshal([]string(p))
}

// UnmarshalJSON reads a string or a list of strings.
func (p *Prefixes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		if *p = nil; one != "" {
			*p = Prefixes{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(p))
}
