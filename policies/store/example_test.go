package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// A signature is accepted once: the second request with it is a replay.
func ExampleStore_SetOnce() {
	var s store.Store
	s, err := store.NewMemory()
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		first, err := s.SetOnce(context.Background(), "signature abc", 5*time.Minute)
		fmt.Println(first, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// A limit of two calls in a minute refuses the third.
func ExampleStore_Take() {
	var s store.Store
	s, err := store.NewMemory()
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		taken, err := s.Take(context.Background(), "192.0.2.7", store.Rate{Count: 2, Per: time.Minute})
		fmt.Println(taken.Allowed, taken.Remaining, err)
	}
	// Output:
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}
