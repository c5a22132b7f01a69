package platforms

import (
	"slices"
	"testing"
)

// Add adds a row to the table until the test ends.
func Add(t *testing.T, p *Platform) {
	t.Helper()
	before := platforms
	t.Cleanup(func() { platforms = before })
	platforms = append(slices.Clone(before), *p)
}
