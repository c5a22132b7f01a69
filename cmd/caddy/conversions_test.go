package main

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

const (
	ambiguous = "rest_ambiguous_request"
	invalidID = "shop_rest_shop_order_invalid_id"
)

// asDoor sends exactly the request of d.
func asDoor(d doors.Door) edit {
	return func(r *http.Request) {
		r.Header.Del("Content-Type")
		client.Lines(d.Headers...)(r)
	}
}

// TestConversions_Bare: on the bare platform each door does convert, so that the tests
// below refuse real conversions.
func TestConversions_Bare(t *testing.T) {
	w := newPlatform(t, site.Options{Release: "10.7", Platform: "cms"})
	for _, d := range doors.All() {
		sub := w.newSubscription()
		d = d.At(w.info.Orders[0], sub)
		r := w.bare(d.Line(), d.Body, asDoor(d), w.as("admin"))
		if converted := w.record(sub).Type == "shop_order"; converted == d.Kept {
			t.Errorf("%s: converted %t (%d %.200s)", d, converted, r.status, r.body)
		}
	}
}

// conversions runs a test on a platform that converts, over each of these protocols, without and
// with a credential of order_type.
func conversions(t *testing.T, over []string, options string, test func(t *testing.T, w *world, credential bool)) {
	t.Helper()
	for n := range 2 * len(over) {
		protocol, own := over[n/2], n%2 > 0
		t.Run(protocol+map[bool]string{false: ", callers' credentials", true: ", own credential"}[own], func(t *testing.T) {
			p := newPlatform(t, site.Options{Release: "10.7", Platform: "cms", ToolServer: true})
			p.protocol = protocol
			block := "order_type {\n" + options + "\n}"
			if own {
				block = "order_type {\n" + options + "\ncredential " + p.info.Keys.ReadKey + "\n}"
			}
			p.start(block)
			test(t, p, own)
		})
	}
}

// answers are the answers that a caller may get at a door in the pretty form, without and
// with a credential. A caller who may not read gets the platform's own refusal.
var answers = map[string][2]string{
	"administrator":  {"400 " + invalidID, "400 " + invalidID},
	"manager":        {"400 " + invalidID, "400 " + invalidID},
	"cookie":         {"400 " + invalidID, "400 " + invalidID},
	"read-write key": {"400 " + invalidID, "400 " + invalidID},
	"read key":       {"401 shop_rest_authentication_error", "401 shop_rest_authentication_error"},
	"write key":      {"401 shop_rest_authentication_error", "400 " + invalidID},
	"editor":         {"403 shop_rest_cannot_", "400 " + invalidID},
	"customer":       {"403 shop_rest_cannot_", "403 shop_rest_cannot_"},
	"OAuth 1":        {"503 rest_policy_unavailable", "403 rest_forbidden"},
	"anonymous":      {"401 shop_rest_cannot_", "401 shop_rest_cannot_"},
}

// allows tells whether the answer that a caller got at d is right.
func allows(d doors.Door, r reply, caller string, own bool) bool {
	want := answers[caller][0]
	if own {
		want = answers[caller][1]
	}
	got := outcome(r)
	switch {
	case d.Kept, got == want, d.Odd && got == "400 "+ambiguous, strings.HasSuffix(want, "cannot_") && strings.HasPrefix(got, want):
		return true
	case d.Method == http.MethodHead:
		return strings.HasPrefix(want, strings.TrimSpace(got))
	case !d.ByQuery():
		return false
	case strings.HasSuffix(caller, "key"): // keys count in the pretty form only
		return got == "401 invalid_username" || below(d) && got == unavailable
	case caller == "OAuth 1":
		return strings.HasPrefix(got, "401 shop_rest_cannot_") || below(d) && got == unavailable
	}
	return own && below(d) && got == unavailable
}

const unavailable = "503 rest_policy_unavailable"

// below tells whether the query form stands on another path than the root. That may be a
// site of a network, where the credential may find nothing.
func below(d doors.Door) bool { return strings.HasPrefix(d.Target, "/shop/") }

// outcome names the outcome of a request in short.
func outcome(r reply) string {
	if r.reached > 0 {
		return fmt.Sprintf("passed %d", r.status)
	}
	return fmt.Sprintf("%d %s", r.status, r.code())
}

// TestConversions: through the gateway no door changes a record that is not an order, for
// any caller. A caller with all rights learns that the id is invalid.
func TestConversions(t *testing.T) {
	conversions(t, protocols, "", func(t *testing.T, w *world, own bool) {
		t.Helper()
		callers := w.callers()
		for _, name := range slices.Sorted(maps.Keys(callers)) {
			sub := w.newSubscription()
			before := w.record(sub)
			for _, d := range doors.All() {
				d = d.At(w.info.Orders[0], sub)
				r := w.gate(d.Line(), d.Body, asDoor(d), callers[name])
				if !reflect.DeepEqual(before, w.record(sub)) {
					t.Errorf("%s: %s: the subscription changed (%d %.200s)", name, d, r.status, r.body)
					sub = w.newSubscription()
					before = w.record(sub)
				}
				if !allows(d, r, name, own) {
					t.Errorf("%s: %s: %s (%.150s)", name, d, outcome(r), r.body)
				}
			}
		}
	})
}

// newSubscription makes a subscription on the platform itself.
func (w *world) newSubscription() int {
	w.t.Helper()
	return w.bare("POST /cms-json/shop/v3/subscriptions", `{"billing_period":"month","next_payment_date":"2027-01-01"}`, w.as("admin")).want(201).id()
}
