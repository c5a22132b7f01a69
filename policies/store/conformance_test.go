package store_test

import (
	"testing"

	"github.com/restwarden/restwarden/policies/store"
	"github.com/restwarden/restwarden/policies/store/storetest"
)

func TestMemory_Conformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (a, b store.Store) {
		m, err := store.NewMemory()
		if err != nil {
			t.Fatal(err)
		}
		return m, m
	})
}
