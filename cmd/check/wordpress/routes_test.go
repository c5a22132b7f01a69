//go:build wordpress

package wordpress

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// endpoint is one method of one route of the REST index, with a path that fits.
type endpoint struct{ method, pattern, path string }

// endpoints reads the REST index of a site, past the gateway.
func endpoints(ctx context.Context, bare *gate) ([]endpoint, error) {
	a, err := fetch(ctx, bare, request{path: "/index.php?rest_route=/"})
	if err != nil {
		return nil, err
	}
	var index struct {
		Routes map[string]struct {
			Methods []string `json:"methods"`
		} `json:"routes"`
	}
	if err := json.Unmarshal(a.body, &index); err != nil {
		return nil, fmt.Errorf("REST index: %w: %s", err, a)
	}
	var all []endpoint
	for _, pattern := range slices.Sorted(maps.Keys(index.Routes)) {
		path, err := samplePath(pattern)
		if err != nil {
			return nil, err
		}
		for _, method := range append(index.Routes[pattern].Methods, "OPTIONS", "HEAD") {
			all = append(all, endpoint{method, pattern, path})
		}
	}
	return all, nil
}

// samples are values of named groups; each group gets the first that fits.
var samples = []string{"101", "post", "core/paragraph", "Post", "twentytwentythree", "twentytwentythree//index", "a1b2c3d4-0000-4000-8000-000000000000", "_wp_x", "a"}

// samplePath fills the named groups of a route's pattern.
func samplePath(pattern string) (string, error) {
	var path strings.Builder
	rest := pattern
	for {
		before, group, found := strings.Cut(rest, "(?P<")
		path.WriteString(before)
		if !found {
			break
		}
		end := closing(group)
		_, expression, ok := strings.Cut(group[:end], ">")
		if !ok {
			return "", fmt.Errorf("pattern %q", pattern)
		}
		path.WriteString(sampleFor(expression))
		rest = strings.TrimPrefix(group[end+1:], "?")
	}
	return strings.NewReplacer("(?:", "", ")?", "", `\`, "").Replace(path.String()), nil
}

func sampleFor(expression string) string {
	re, err := regexp.Compile("^(?:" + strings.NewReplacer("(?!", "(?:", "++", "+").Replace(expression) + ")$")
	if err == nil {
		for _, sample := range samples {
			if re.MatchString(sample) {
				return sample
			}
		}
	}
	return "post"
}

// closing returns where the parenthesis ends that s is inside of.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			continue
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return len(s) - 1
}
