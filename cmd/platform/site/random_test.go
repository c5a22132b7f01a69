package site_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestRandom: with the same source and clock two sites are the same one, also in what they make
// later; with another source no secret is the same.
func TestRandom(t *testing.T) {
	now := time.Now()
	open := func(seed byte) (*client, site.Info) {
		c := newClient(t, site.Options{Now: func() time.Time { return now }, Random: rand.NewChaCha8([32]byte{seed})})
		return c, c.site.Info()
	}
	one, first := open(1)
	two, second := open(1)
	_, other := open(2)
	if !reflect.DeepEqual(first, second) {
		t.Errorf("%+v, then %+v", first, second)
	}
	if first.Keys.ReadKey == other.Keys.ReadKey || first.Users["admin"] == other.Users["admin"] {
		t.Errorf("another source makes the same secrets: %+v", other.Keys)
	}
	order := func(c *client) any {
		return c.rest("POST", "/shop/v3/orders", `{"status":"pending"}`, c.as("admin")).want(201).get("order_key")
	}
	if a, b := order(one), order(two); a != b || a == "" {
		t.Errorf("order keys %v, then %v", a, b)
	}
}
