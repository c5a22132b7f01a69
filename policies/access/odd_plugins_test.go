package access

import (
	"fmt"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOdd_RiskOrder: a rule of several namespaces names risks in the order of the catalogue,
// as one for all of them does.
func TestOdd_RiskOrder(t *testing.T) {
	every := riskyCalls().all
	var risky []routes.Pattern
	for _, risk := range slices.Backward(every) {
		risky = append(risky, routes.MustPattern(risk.row.Route))
	}
	near := riskyCalls().near(risky)
	if len(near) < len(every) {
		t.Errorf("%d of %d calls", len(near), len(every))
	}
	for i := range near {
		if i > 0 && near[i].place <= near[i-1].place {
			t.Fatalf("call %d stands behind %d", near[i].place, near[i-1].place)
		}
		if !slices.ContainsFunc(riskyCalls().near([]routes.Pattern{routes.MustPattern(near[i].row.Route)}), func(c riskyCall) bool { return c.row == near[i].row }) {
			t.Errorf("%s does not find itself", near[i].row.Route)
		}
	}
}

// TestOdd_CatalogueIsReadOnce: a line costs by what the catalogue has below its first segment, and
// nothing of what the catalogue has of other routes.
func TestOdd_CatalogueIsReadOnce(t *testing.T) {
	const rules = 20
	s, p := policytest.NewSite(t), new(Access)
	for i := range rules {
		policytest.Configure(t, p, policytest.Line(fmt.Sprintf("allow anyone POST /site-%d/v1/status", i)))
	}
	policytest.Provision(t, s, p)
	p.oddPlugins(nil, s.Platform)
	if n := testing.AllocsPerRun(10, func() { p.oddPlugins(nil, s.Platform) }); n > 10*rules {
		t.Errorf("%.0f allocations for %d rules", n, rules)
	}
}
