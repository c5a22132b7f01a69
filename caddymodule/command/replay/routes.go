package replay

import (
	"errors"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/keyset"
	"github.com/restwarden/restwarden/policies/review"
)

// mostRoutes bounds the examples of one pattern. With more of them nothing is run.
const mostRoutes = 200

// findRoutes finds examples of the record's route, one for each kind of its routes that the rules of a directive
// tell apart. A group may hold several segments, but one called id holds one number, which no rule names.
func (r *replay) findRoutes() error {
	patterns := withLonger(r.record.Route)
	if len(patterns) > mostRoutes {
		r.routes = patterns
		return nil
	}
	for _, chain := range r.config.Chains() {
		reacher, err := review.NewReacher(chain)
		if err != nil {
			return err
		}
		for _, text := range patterns {
			if err := r.addRoutes(reacher, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *replay) addRoutes(reacher *review.Reacher, text string) error {
	pattern, err := routes.ParsePattern(text)
	if err != nil {
		r.routes = []string{r.record.Route}
		return nil //nolint:nilerr // no rule can name the route
	}
	examples, err := reacher.Examples(pattern)
	if errors.Is(err, keyset.ErrTooMany) {
		r.routes, err = make([]string, mostRoutes+1), nil
	}
	for _, example := range examples {
		if fitsIDs(pattern, example) && !slices.Contains(r.routes, example) {
			r.routes = append(r.routes, example)
		}
	}
	return err
}

// withLonger returns the patterns that a route of the index stands for: each group holds one segment, or two.
// It returns no more than mostRoutes and one.
func withLonger(route string) []string {
	patterns := []string{""}
	for segment := range strings.SplitSeq(route[1:], "/") {
		values := []string{segment}
		switch {
		case isID(segment):
			values = []string{":id"}
		case strings.ContainsAny(segment, ":*"):
			values = []string{"*", "*/*"}
		}
		var longer []string
		for _, pattern := range patterns {
			for _, value := range values {
				if len(longer) <= mostRoutes {
					longer = append(longer, pattern+"/"+value)
				}
			}
		}
		patterns = longer
	}
	return patterns
}

func isID(segment string) bool {
	return segment == ":id" || strings.HasPrefix(segment, ":") && strings.HasSuffix(segment, "_id")
}

// fitsIDs tells whether each id of the pattern is a number in a route.
func fitsIDs(pattern routes.Pattern, route string) bool {
	ids, _ := pattern.Segments()
	for i, segment := range strings.Split(route[1:], "/") {
		if i < len(ids) && isID(ids[i]) && segment != "1" {
			return false
		}
	}
	return true
}
