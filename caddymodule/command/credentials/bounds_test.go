package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// callOf is a call with a credential.
func callOf(kind, name, address string, claimed bool) *records.Call {
	c := record.Credential{Kind: kind, Claimed: claimed}
	if kind == "key" {
		c.Key = name
	} else {
		c.Login = name
	}
	return &records.Call{Time: json.RawMessage("1767225600"), Call: record.Call{Site: "a", Credential: c, ClientIP: address, Method: "GET", Route: "/wc/v3/orders", Status: 200}}
}

// reported reads calls twice.
func reported(t *testing.T, calls []*records.Call) (*Collector, *Report) {
	t.Helper()
	c := New(Options{})
	for _, of := range calls {
		c.Learn(of)
	}
	for _, of := range calls {
		if err := c.Add(of); err != nil {
			t.Fatal(err)
		}
	}
	return c, c.Report(nil)
}

// TestCollector_Strangers: names that strangers send take no place, and the key keeps its own.
func TestCollector_Strangers(t *testing.T) {
	t.Parallel()
	calls := []*records.Call{callOf("key", "a1b2c3d", "203.0.113.7", false)}
	for i := range 3 * maxClaimed {
		calls = append(calls, callOf("key", fmt.Sprintf("%07d", i), "192.0.2.1", true), callOf("key", "a1b2c3d", fmt.Sprint(i), true))
	}
	c, report := reported(t, calls)
	s := &report.Sites[0]
	if len(s.Credentials) != 1 || s.Credentials[0].Calls != 1 || s.Credentials[0].Strange != 3*maxClaimed || s.Credentials[0].Addresses.Count != 1 {
		t.Errorf("%+v", s)
	}
	if s.Claimed != (Claimed{maxClaimed, true, 3 * maxClaimed}) || len(c.rows) != 1 {
		t.Errorf("%+v, %d rows", s.Claimed, len(c.rows))
	}
}

// TestCollector_Order: of too many credentials and addresses the same are kept in any order, and no user takes the place of a key.
func TestCollector_Order(t *testing.T) {
	t.Parallel()
	var calls []*records.Call
	for i := range 3 * maxCredentials {
		calls = append(calls, callOf("user", fmt.Sprint("user", i), "203.0.113.1", false))
	}
	for i := range 5 * maxAddresses {
		calls = append(calls, callOf("key", "a1b2c3d", fmt.Sprint("203.0.113.", i), false))
	}
	var first string
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		_, report := reported(t, calls)
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		s := &report.Sites[0]
		if string(text) != first || len(s.Credentials) != maxCredentials || s.Credentials[0].Key != "a1b2c3d" || report.Read.Beyond != int64(2*maxCredentials+1) {
			t.Errorf("%d credentials, the first is %+v; %d beyond", len(s.Credentials), s.Credentials[0], report.Read.Beyond)
		}
		if a := s.Credentials[0].Addresses; a.Count != maxAddresses || !a.More || s.Credentials[0].Calls != 5*maxAddresses {
			t.Errorf("%+v", s.Credentials[0])
		}
		random.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	}
}

// TestCollector_TooMany: more different calls than can be kept are an error.
func TestCollector_TooMany(t *testing.T) {
	t.Parallel()
	c := New(Options{})
	of := callOf("key", "a1b2c3d", "203.0.113.7", false)
	c.Learn(of)
	for i := range maxRows {
		c.rows[subject{route: fmt.Sprint(i)}] = &row{}
	}
	if err := c.Add(of); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}

// TestForms: an id is a "*", and no pattern is wider than a form of the route.
func TestForms(t *testing.T) {
	t.Parallel()
	wordpress, _ := platforms.ByName("wordpress")
	p := &proposal{platform: wordpress}
	for route, want := range map[string]string{
		"/": "[/]", "/wc/v3/orders/:id/refunds/:refund": "[/wc/v3/orders/*/refunds/*]", "/a/v1[/:id]": "[/a/v1/* /a/v1]", "/a/v1/(b|c)": "[/a/v1/b /a/v1/c]",
		"/wp-abilities/v1/abilities/:name": "[/wp-abilities/v1/abilities/*/*]", "/wp-abilities/v1/abilities": "[/wp-abilities/v1/abilities]",
		"unknown": "[]", "wc/v3": "[]", "/a/x*y": "[]", "/a/**": "[]", "": "[]", "/a/:id-:slug": "[]",
	} {
		if got := fmt.Sprint(p.forms(route)); got != want {
			t.Errorf("%s: %s, want %s", route, got, want)
		}
	}
}
