package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// narrow returns W25 for one rule, at most one for each of its routes. routes are those of x.
func (p *Access) narrow(r *policy.Rule, x *index.Index, routes []*index.Route) (odd []review.Odd) {
	for _, own := range r.Target().Routes() {
		for _, site := range routes {
			missed, wide := missedBy(own, site.Name(), x)
			if missed == "" || p.reaches(r, missed) {
				continue
			}
			odd = append(odd, review.Odd{
				Code: "W25", At: r.At, Do: "write " + wide,
				Text: fmt.Sprintf("%s misses calls such as %s, which the site's route %s takes, since one segment of the rule may hold a slash there", r, missed, site.Name()),
			})
			break
		}
	}
	return odd
}

// missedBy returns a route that the site's pattern of this name takes and own does not, because
// of a slash in what is one segment of own, and the pattern to write in place of own. It returns
// "" where own misses none.
func missedBy(own routes.Pattern, name string, x *index.Index) (missed, wide string) {
	segments, rest := own.Segments()
	parts := strings.Split(strings.TrimPrefix(name, "/"), "/")
	if rest || len(parts) != len(segments) {
		return "", ""
	}
	for _, sample := range []string{"ab", "11"} { // in place of every name
		for i := range parts {
			if !routes.IsWildcard(segments[i]) || !routes.IsWildcard(parts[i]) {
				continue
			}
			if text := filled(segments, parts, i, sample); text != "" {
				if found, ok := x.Pattern(text); ok && found == name {
					return text, "/" + strings.Join(append(slices.Clone(segments[:i]), "**"), "/")
				}
			}
		}
	}
	return "", ""
}

// filled returns a route of the parts of a pattern, with two segments at place i. It is "" where
// the segments of a rule do not fit the parts.
func filled(segments, parts []string, i int, sample string) string {
	made := slices.Clone(parts)
	for j := range made {
		switch {
		case routes.IsWildcard(parts[j]) && routes.IsWildcard(segments[j]):
			made[j] = sample
		case routes.IsWildcard(parts[j]):
			made[j] = segments[j]
		case !routes.IsWildcard(segments[j]) && !strings.EqualFold(parts[j], segments[j]):
			return ""
		}
	}
	made[i] = sample + "/" + sample
	return "/" + strings.Join(made, "/")
}

// reaches tells whether another rule of the owner's names a route, in the same way as r or by a
// pattern of plain segments.
func (p *Access) reaches(r *policy.Rule, route string) bool {
	key := routes.Key(route)
	for i := range p.Rules {
		other := &p.Rules[i]
		if other.Origin() != policy.OriginOwn || len(other.Methods) > 0 && !slices.Equal(other.Methods, r.Methods) {
			continue
		}
		same := other.Deny == r.Deny && other.Allow == r.Allow
		for _, route := range other.Target().Routes() {
			if _, rest := route.Segments(); (same || !rest) && route.Match(key) {
				return true
			}
		}
	}
	return false
}
