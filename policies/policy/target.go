package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/typo"
)

// Target is the set of calls that a rule, a limit or a matcher names: methods and routes.
type Target struct {
	methods []string
	routes  []routes.Pattern
}

// KnownMethods are the methods that the platform knows.
var KnownMethods = call.KnownMethods

var errNoRoute = errors.New("no route named")

// NewTarget checks methods (empty means all) and routes.
func NewTarget(methods, patterns []string) (Target, error) {
	t := Target{methods: methods}
	for _, m := range methods {
		if !slices.Contains(KnownMethods, m) {
			return t, unknownMethod(m)
		}
	}
	if len(patterns) == 0 {
		return t, errNoRoute
	}
	for _, text := range patterns {
		p, err := routes.ParsePattern(text)
		if err != nil {
			return t, err
		}
		t.routes = append(t.routes, p)
	}
	return t, nil
}

func unknownMethod(m string) error {
	if slices.Contains(mcp.Methods, m) {
		return fmt.Errorf("%q is a method of agents' messages, which only rate_limit takes; abilities says what agents may run", m)
	}
	return fmt.Errorf("%q is neither a method (in upper case) nor a route (with a leading /)%s",
		m, Prefixed(": ", typo.Hint(m, KnownMethods...)))
}

// Matches tells whether c is in the target. A batch is if it or one of its parts is.
func (t *Target) Matches(c *call.Call) bool {
	return t.Route(c) != nil || slices.ContainsFunc(c.Parts, func(part *call.Call) bool { return t.Route(part) != nil })
}

// Uncertain returns the refusal of a call that fits a route of the target only by a dot, or nil; see
// [call.Call.Bent].
func (t *Target) Uncertain(c *call.Call) *call.Refusal {
	if c.Bent(t.routes) {
		return errRouteDot
	}
	return nil
}

// Routes returns the routes of the target.
func (t *Target) Routes() []routes.Pattern { return t.routes }

// MethodsApart are the methods that targets tell apart. The last one stands for every method
// that no target names.
var MethodsApart = append(slices.Clip(KnownMethods), "PROPFIND")

// MethodSet is a set of MethodsApart.
type MethodSet uint16

// MethodSet returns the methods of the target.
func (t *Target) MethodSet() (set MethodSet) {
	for i, m := range MethodsApart {
		if t.HasMethod(m) {
			set |= 1 << i
		}
	}
	return set
}

// Has tells whether the method of a number is in the set.
func (s MethodSet) Has(i int) bool { return s&(1<<i) != 0 }

// Route returns the first route that c fits, or nil if c is not in the target.
func (t *Target) Route(c *call.Call) *routes.Pattern {
	if !t.HasMethod(c.Method) {
		return nil
	}
	return t.AnyMethod(c)
}

// AnyMethod returns the first route that c fits, whatever its method, or nil.
func (t *Target) AnyMethod(c *call.Call) *routes.Pattern {
	for i := range t.routes {
		if t.routes[i].Match(c.Key) {
			return &t.routes[i]
		}
	}
	return nil
}

// WhyNot says why Route has found no route for c.
func (t *Target) WhyNot(c *call.Call) Mismatch {
	if !t.HasMethod(c.Method) {
		return OtherMethod
	}
	return OtherRoute
}

// HasMethod tells whether t names the method m. GET names HEAD, too.
func (t *Target) HasMethod(m string) bool {
	return len(t.methods) == 0 || slices.Contains(t.methods, m) ||
		m == "HEAD" && slices.Contains(t.methods, "GET")
}
