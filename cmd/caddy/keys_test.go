package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// queryKey logs in by a shop key "ck_…:cs_…" in the query.
func queryKey(pair string) edit {
	key, secret, _ := strings.Cut(pair, ":")
	return func(r *http.Request) {
		r.URL.RawQuery += "&consumer_key=" + key + "&consumer_secret=" + secret
	}
}

// TestKeys_PlainPermalinks: where the query form is the normal one, the shop takes its keys
// there from 11.1 on, and the clients of such a shop pass from their first call on
// (docs/project/interface 4, addresses, rule 3; docs/project/interface 9, rule 4).
func TestKeys_PlainPermalinks(t *testing.T) {
	for name, c := range map[string]struct {
		release, directive string
		works              bool
		nobody             int  // status of an anonymous call
		closed             bool // nobody but users reads the REST root
	}{
		"11.1 learned":        {"11.1", "login_only", true, 401, false},
		"11.1 named":          {"11.1", "login_only\nrelease 11.1", true, 401, false},
		"11.1 allow users":    {"11.1", "allow users /shop/v3/**", true, 403, false},
		"11.1, closed root":   {"11.1", "login_only", true, 401, true},
		"10.8":                {"10.8", "login_only", false, 401, false},
		"10.8 wrongly as new": {"10.8", "login_only\nrelease 11.1", false, 401, false},
	} {
		for _, login := range []func(string) edit{withKey, queryKey} {
			w := newWorld(t, site.Options{Release: c.release, Permalinks: "plain", LoginOnly: c.closed}, c.directive)
			key, wrong := login(w.info.Keys.ReadWriteKey), login("ck_nobody:cs_nothing")
			t.Run(name, func(t *testing.T) {
				w.t = t
				const orders = "GET /?rest_route=/shop/v3/orders"
				if !c.works {
					w.gate(orders, "", key).stopped()
					return
				}
				w.gate(orders, "", key).want(http.StatusOK).passed()
				w.gate("PUT /?rest_route=/shop/v3/orders/<order>", `{"customer_note":"x"}`, key, w.named).want(http.StatusOK).passed()
				w.gate(orders, "", wrong).want(c.nobody).stopped()
				w.gate(orders, "").want(c.nobody).stopped().unasked()
			})
		}
	}
}

// named puts the ids of the world into the address of a request.
func (w *world) named(r *http.Request) {
	r.URL.RawQuery = w.ids()(r.URL.RawQuery)
}
