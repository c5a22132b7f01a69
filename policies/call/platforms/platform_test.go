package platforms_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// made is a platform that does not exist.
var made = platforms.Platform{
	Name: "made", Prefix: "made-api", Core: "mp/v9",
	Shop: []string{"till/v1", "till/v2", "till/v3"}, Checkout: "till/desk/v4",
	Analytics: "till-numbers", Abilities: "mp-abilities/v1", MCP: "till/mcp",
	ErrorPrefix: "till_rest_", NonceHeader: "X-Mp-Nonce", NonceParam: "_mpnonce",
	AuthCookie: "made_", KeyMarker: "made-api/till",
	AjaxScript: "/back/ajax", UploadScript: "/back/upload",
	AllowedNonce: "X-MP-Nonce", ExposedHeaders: "X-MP-Total",
}

type readTest struct{ method, target, contentType, body, want string }

// readAll reads requests, and compares the readings.
func readAll(t *testing.T, rd *call.Reader, tests []readTest) {
	t.Helper()
	for _, test := range tests {
		r := httptest.NewRequest(test.method, test.target, strings.NewReader(test.body))
		if test.contentType != "" {
			r.Header.Set("Content-Type", test.contentType)
		}
		c := rd.Read(r, nil)
		if got := described(c); got != test.want {
			t.Errorf("%s %s %s: %s, want %s", test.method, test.target, test.body, got, test.want)
		}
		c.Close()
	}
}

// described writes what c is in one line.
func described(c *call.Call) string {
	if c.Kind == call.Refused {
		return fmt.Sprint(c.Refusal.Status, " ", c.Refusal.Reason)
	}
	s := c.Method + " " + c.Route
	if c.Foreign {
		s += " foreign"
	}
	if id, ok, _ := c.ObjectID(); ok {
		s += " id " + id
	}
	if c.Kind == call.Batch {
		s = "batch " + s
	}
	for _, part := range c.Parts {
		s += " | " + described(part)
	}
	return s
}

// TestPlatform_Third: a third platform is one row of the table.
func TestPlatform_Third(t *testing.T) {
	platforms.Add(t, &made)
	if got := platforms.List("or"); got != "cms, wordpress or made" {
		t.Error(got)
	}
	p, ok := platforms.ByName("made")
	if names := platforms.Names(); !ok || p.Core != made.Core || len(platforms.All()) != 3 || names[2] != "made" {
		t.Errorf("%v, %v", p, names)
	}
	wordpress, _ := platforms.ByName("wordpress")
	readAll(t, call.NewReader(call.Config{Platform: p}), []readTest{
		{"GET", "/made-api/mp/v9/users", "", "", "GET /mp/v9/users"},
		{"GET", "/?rest_route=/mp/v9/users", "", "", "GET /mp/v9/users"},
		{"GET", "/wp-json/wp/v2/users", "", "", "GET /wp/v2/users foreign"},
		{"GET", "/cms-json/cms/v2/users", "", "", "GET /cms/v2/users foreign"},
		{"GET", "/cms-json/wp-json/users", "", "", "400 path"},
		{"GET", "/wp-json/x/made-api/users", "", "", "400 path"},
		{"GET", "/made-api%2Fmp/v9/users", "", "", "400 path"},
		{"GET", "/made-api/mp/v9/templates/theme//home", "", "", "GET /mp/v9/templates/theme//home"},
		{"GET", "/made-api/mp/v8/templates/theme//home", "", "", "400 route"},
		{"GET", "/made-api/mp/v9/users?x=made-api/till/", "", "", "400 key_marker"},
		{"PUT", "/made-api/till/v2/orders/7", "", "", "PUT /till/v2/orders/7 id 7"},
		{"PUT", "/made-api/till-numbers/orders/7", "", "", "PUT /till-numbers/orders/7 id 7"},
		{"GET", "/made-api/till/desk/order/7", "", "", "GET /till/desk/order/7 id 7"},
		{"POST", "/made-api/till/desk/batch", client.JSON, `{"requests":[{"path":"/till/desk/cart"}]}`, "batch POST /till/desk/batch | POST /till/desk/cart"},
		{"POST", "/made-api/till/v3/orders/batch", client.JSON, `{"delete":[7]}`, "batch POST /till/v3/orders/batch | DELETE /till/v3/orders/7 id 7"},
		{"POST", "/back/ajax", client.Form, "rest_route=/mp/v9/users", "POST /mp/v9/users"},
		{"POST", "/back/upload", client.Form, "rest_route=/mp/v9/users", "POST /mp/v9/users"},
		{"POST", "/wp-admin/admin-ajax.php", client.Form, "rest_route=/mp/v9/users", "POST /mp/v9/users"},
	})
	readAll(t, call.NewReader(call.Config{Platform: wordpress}), []readTest{
		{"GET", "/made-api/mp/v9/users", "", "", "GET /mp/v9/users foreign"},
		{"GET", "/cms-json/cms/v2/users", "", "", "GET /cms/v2/users foreign"},
		{"GET", "/wp-json/wp/v2/users", "", "", "GET /wp/v2/users"},
	})
	readAll(t, call.NewReader(call.Config{Platform: wordpress, Prefix: "made-api"}), []readTest{
		{"GET", "/made-api/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/cms-json/cms/v2/users", "", "", "GET /cms/v2/users foreign"},
	})
	if _, err := routes.ParsePattern("/made-api/mp/v9/users"); err == nil {
		t.Error("a pattern with the prefix is taken")
	}
	for text, key := range map[string]string{"/till/desk/cart": "/till/desk/v4/cart", "/till/desk/v4/cart": "/till/desk/cart", "/wc/store/:id": "/wc/store/7"} {
		if p := routes.MustPattern(text); !p.Match(routes.Key(key)) || p.String() != text {
			t.Errorf("%s does not match %s", text, key)
		}
	}
}

// TestPlatform_Order: prefixes of other platforms stand in the order of the table.
func TestPlatform_Order(t *testing.T) {
	platforms.Add(t, &made)
	for name, want := range map[string][]string{
		"cms": {"wp-json", "made-api"}, "wordpress": {"cms-json", "made-api"}, "made": {"cms-json", "wp-json"},
	} {
		p, _ := platforms.ByName(name)
		if got := platforms.ForeignPrefixes(name, []string{p.Prefix}); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
