package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/index"
)

// TestNewInstalled_Linear: a root of twice as many routes takes about twice as much: each of them is read once.
func TestNewInstalled_Linear(t *testing.T) {
	allocations := func(n int) float64 {
		var routes strings.Builder
		for i := range n {
			fmt.Fprintf(&routes, `,"/acme/v1/r%d":{"methods":["GET"],"endpoints":[{"methods":["GET","POST","DELETE"],"args":[]}]}`, i)
		}
		root, err := index.ParseRoot([]byte(`{"namespaces":["acme/v1"],"routes":{` + routes.String()[1:] + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() {
			if x := NewInstalled(root); len(x.tools) != n {
				t.Fatal(len(x.tools))
			}
		})
	}
	if few, many := allocations(200), allocations(400); many > 2.5*few {
		t.Errorf("%.0f allocations for 200 routes, %.0f for 400", few, many)
	}
}
