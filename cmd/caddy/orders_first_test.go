package main

import (
	"fmt"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestOrders_First: what the first update of a record by a caller whom nobody knows costs in
// questions, where everything needs a login.
func TestOrders_First(t *testing.T) {
	key := func(w *world, of string) []edit {
		return []edit{withKey(map[string]string{
			"good": w.info.Keys.ReadWriteKey, "reads": w.info.Keys.ReadKey, "writes": w.info.Keys.WriteKey, "unknown": "ck_none:cs_none",
		}[of])}
	}
	user := func(w *world, login string) []edit { return []edit{w.as(login)} }
	session := func(w *world, login string) []edit {
		cookie, nonce := w.session(login)
		return []edit{cookie, nonce}
	}
	for name, test := range map[string]struct {
		as     func(*world, string) []edit
		of     string
		record string
		status int
		asked  int
	}{
		"key, order":             {key, "good", "order", 200, 1},
		"key, trash":             {key, "good", "trash", 200, 2},
		"key, subscription":      {key, "good", "subscription", 400, 4},
		"key, no record":         {key, "good", "none", 400, 4},
		"key that reads":         {key, "reads", "order", 401, 1},
		"key that writes":        {key, "writes", "order", 401, 2},
		"unknown key":            {key, "unknown", "order", 401, 1},
		"user, order":            {user, "admin", "order", 200, 2},
		"user, trash":            {user, "admin", "trash", 200, 2},
		"user, subscription":     {user, "admin", "subscription", 400, 3},
		"user without the right": {user, "customer", "order", 403, 2},
		"session, order":         {session, "manager", "order", 200, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, site.Options{Release: "10.7"}, "login_only")
			id := map[string]func() int{"order": w.newOrder, "trash": w.newOrder, "subscription": w.newSubscription, "none": func() int { return 99_999 }}[test.record]()
			at := fmt.Sprintf("/cms-json/shop/v3/orders/%d", id)
			if test.record == "trash" {
				w.bare("DELETE "+at, "", w.as("admin")).want(200)
			}
			edits := test.as(w, test.of)
			if r := w.gate("PUT "+at, "{}", edits...).want(test.status); r.asked != test.asked {
				t.Errorf("%d questions, want %d", r.asked, test.asked)
			}
		})
	}
}
