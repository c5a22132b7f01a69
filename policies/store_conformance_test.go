package policies_test

import (
	"testing"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/storetest"
)

func TestMemory_Conformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (a, b policies.Store) {
		m, err := policies.NewMemory()
		if err != nil {
			t.Fatal(err)
		}
		return m, m
	})
}
