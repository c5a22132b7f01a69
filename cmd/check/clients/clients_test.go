//go:build clients

package clients

import (
	"maps"
	"strconv"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/libraries"
	"github.com/restwarden/restwarden/cmd/check/testkit/wire"
)

// TestClients_Shop: a day of an ERP comes out the same through the gateway and without it, byte
// for byte: lists with their pages, single orders, a batch, refunds, what is deleted.
func TestClients_Shop(t *testing.T) {
	failing := map[string]string{"read what is gone": "woocommerce_rest_shop_order_invalid_id"}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			s := newShops(t, w, "11.1")
			var bare *run
			t.Run("bare", func(t *testing.T) {
				bare = s.session(t, "woocommerce.mjs", "")
				if got := libraries.Failed(bare.steps); !maps.Equal(got, failing) || len(bare.exchanges) != len(bare.steps) {
					t.Fatalf("%d steps, %d exchanges; failed %v, want %v", len(bare.steps), len(bare.exchanges), got, failing)
				}
			})
			for name, rules := range map[string]string{"alone": "", "login_only": "login_only\n"} {
				t.Run(name, func(t *testing.T) {
					through := s.session(t, "woocommerce.mjs", gateway(rules+w.rules))
					if err := wire.Compare(bare.exchanges, through.exchanges, clock); err != nil {
						t.Error(err)
					}
					t.Attr("checks", strconv.Itoa(len(through.exchanges)))
				})
			}
		})
	}
}

// Steps of the session with a subscription.
const (
	ofOrder        = "update of an order"
	ofSubscription = "update of a subscription"
	inBatch        = "batch with a subscription"
)

// outcome is what a session with a subscription comes to behind a directive.
type outcome struct {
	directive string
	failing   map[string]string // codes by step
	kind      string            // of the record afterwards
}

// TestClients_Subscription: an update that is aimed at a subscription turns it into an order on
// an old release. The gateway refuses it, with an error that the library reports as the
// platform's (docs/policies/order_type.md, Refusals), and the client goes on.
func TestClients_Subscription(t *testing.T) {
	const invalid, forbidden, unavailable = "woocommerce_rest_shop_order_invalid_id", "rest_forbidden", "rest_policy_unavailable"
	for _, w := range ways {
		refused := map[string]string{ofSubscription: invalid, inBatch: invalid}
		if w.rules == credential { // only the platform can check the caller
			refused = map[string]string{ofSubscription: forbidden, inBatch: forbidden}
		}
		tests := map[string]outcome{
			"bare":       {"", map[string]string{}, "shop_order"},
			"alone":      {gateway(w.rules), refused, "shop_subscription"},
			"login_only": {gateway("login_only\n" + w.rules), refused, "shop_subscription"},
		}
		if w.rules == credential {
			failing := map[string]string{ofOrder: unavailable, ofSubscription: unavailable, inBatch: unavailable}
			tests["no credential"] = outcome{gateway(""), failing, "shop_subscription"}
		}
		s := newShops(t, w, "10.7")
		for name, tt := range tests {
			t.Run(w.name+" "+name, func(t *testing.T) {
				r := s.session(t, "subscription.mjs", tt.directive)
				if got := libraries.Failed(r.steps); !maps.Equal(got, tt.failing) {
					t.Errorf("failed %v, want %v", got, tt.failing)
				}
				for _, step := range r.steps {
					if e := step.Error; e != nil && (e.Status == 0 || e.Message == "") {
						t.Errorf("%s: an error with status %d, message %q", step.Name, e.Status, e.Message)
					}
				}
				record, found := r.site.Record(r.info.Subscriptions[0])
				if !found || record.Type != tt.kind {
					t.Errorf("the record is a %q, want %q", record.Type, tt.kind)
				}
			})
		}
	}
}

// TestClients_Discovery: wpapi learns the routes of a site from its index. Under login_only it
// cannot, and goes on with the routes of the core (docs/login-only.md).
func TestClients_Discovery(t *testing.T) {
	const plugin = "a route of a plugin"
	s := newShops(t, way{}, "11.1")
	var bare *run
	for _, tt := range []struct {
		name, directive string
		failing         map[string]string
	}{
		{"bare", "", map[string]string{plugin: "woocommerce_rest_cannot_view"}},
		{"alone", gateway(""), map[string]string{plugin: "woocommerce_rest_cannot_view"}},
		{"login_only", gateway("login_only\n"), map[string]string{plugin: "Error: namespace wc/v3 is not recognized", "posts": "rest_not_logged_in"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := s.session(t, "discover.mjs", tt.directive)
			if got := libraries.Failed(r.steps); !maps.Equal(got, tt.failing) {
				t.Errorf("failed %v, want %v", got, tt.failing)
			}
			switch tt.name {
			case "bare":
				bare = r
			case "alone":
				if err := wire.Compare(bare.exchanges, r.exchanges, clock); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
