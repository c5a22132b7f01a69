package drift

import (
	"slices"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// maxJudged bounds the routes that are reasoned about after one change.
const maxJudged = 1000

// Anonymous tells which of names, routes of a root, an anonymous caller reaches with a
// method that the route takes, by the rules of a chain as review.Prove reads them. Of
// undecided that cannot be known. Both are in the order of names, which is sorted.
func Anonymous(c *policy.Chain, root *discover.Root, names []string) (reached, undecided []string) {
	r, err := review.NewReacher(c)
	if err != nil || root.Index == nil {
		return nil, names
	}
	passes, unknown, judged := map[string]bool{}, map[string]bool{}, 0
	methods := methodsOf(root, names)
	for _, route := range root.Index.Routes() {
		name := route.Called()
		if _, asked := methods[name]; !asked || passes[name] {
			continue
		}
		if judged++; judged > maxJudged {
			unknown[name] = true
			continue
		}
		found, err := r.Of(route, methods[name], []caller.Caller{{}})
		if err != nil {
			unknown[name] = true
			continue
		}
		for i := range found {
			reach := &found[i][0]
			passes[name] = passes[name] || reach.Passes != "" && !reach.Unknown
			unknown[name] = unknown[name] || reach.Unknown
		}
	}
	for _, name := range names {
		switch {
		case passes[name]:
			reached = append(reached, name)
		case unknown[name]:
			undecided = append(undecided, name)
		}
	}
	return reached, undecided
}

// methodsOf returns the methods that each of names takes.
func methodsOf(root *discover.Root, names []string) map[string][]string {
	methods := make(map[string][]string, len(names))
	for _, name := range names {
		methods[name] = nil
	}
	for i := range root.Listed {
		name := root.Listed[i].Called()
		if known, asked := methods[name]; asked {
			own, _ := root.Listed[i].Dispatched()
			known = append(known, own...)
			slices.Sort(known)
			methods[name] = slices.Compact(known)
		}
	}
	return methods
}
