package call

import (
	"slices"
	"testing"
)

// addPlatform adds a row to the table until the test ends.
func addPlatform(t *testing.T, p *Platform) {
	t.Helper()
	before := platforms
	t.Cleanup(func() { platforms = before })
	platforms = append(slices.Clone(before), *p)
}

// made is a platform that does not exist.
var made = Platform{
	Name: "made", Prefix: "made-api", Core: "mp/v9",
	Shop: []string{"till/v1", "till/v2", "till/v3"}, Checkout: "till/desk/v4",
	Analytics: "till-numbers", Abilities: "mp-abilities/v1", MCP: "till/mcp",
	ErrorPrefix: "till_rest_", NonceHeader: "X-Mp-Nonce", NonceParam: "_mpnonce",
	AuthCookie: "made_", KeyMarker: "made-api/till",
	AjaxScript: "/back/ajax", UploadScript: "/back/upload",
	AllowedNonce: "X-MP-Nonce", ExposedHeaders: "X-MP-Total",
}

// TestPlatform_Third: a third platform is one row of the table.
func TestPlatform_Third(t *testing.T) {
	addPlatform(t, &made)
	if got := ListPlatforms("or"); got != "cms, wordpress or made" {
		t.Error(got)
	}
	p, ok := PlatformByName("made")
	if names := PlatformNames(); !ok || p.Core != made.Core || len(Platforms()) != 3 || names[2] != "made" {
		t.Errorf("%v, %v", p, names)
	}
	runReads(t, NewReader(Site{Platform: p}), []readTest{
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
		{"POST", "/made-api/till/desk/batch", jsonType, `{"requests":[{"path":"/till/desk/cart"}]}`, "batch POST /till/desk/batch | POST /till/desk/cart"},
		{"POST", "/made-api/till/v3/orders/batch", jsonType, `{"delete":[7]}`, "batch POST /till/v3/orders/batch | DELETE /till/v3/orders/7 id 7"},
		{"POST", "/back/ajax", formType, "rest_route=/mp/v9/users", "POST /mp/v9/users"},
		{"POST", "/back/upload", formType, "rest_route=/mp/v9/users", "POST /mp/v9/users"},
		{"POST", "/wp-admin/admin-ajax.php", formType, "rest_route=/mp/v9/users", "POST /mp/v9/users"},
	})
	runReads(t, NewReader(Site{Platform: wordpress()}), []readTest{
		{"GET", "/made-api/mp/v9/users", "", "", "GET /mp/v9/users foreign"},
		{"GET", "/cms-json/cms/v2/users", "", "", "GET /cms/v2/users foreign"},
		{"GET", "/wp-json/wp/v2/users", "", "", "GET /wp/v2/users"},
	})
	runReads(t, NewReader(Site{Platform: wordpress(), Prefix: "made-api"}), []readTest{
		{"GET", "/made-api/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/cms-json/cms/v2/users", "", "", "GET /cms/v2/users foreign"},
	})
	if _, err := ParsePattern("/made-api/mp/v9/users"); err == nil {
		t.Error("a pattern with the prefix is taken")
	}
	for text, key := range map[string]string{"/till/desk/cart": "/till/desk/v4/cart", "/till/desk/v4/cart": "/till/desk/cart", "/wc/store/:id": "/wc/store/7"} {
		if p := MustPattern(text); !p.Match(keyOf(key)) || p.String() != text {
			t.Errorf("%s does not match %s", text, key)
		}
	}
}

// TestPlatform_Order: prefixes of other platforms stand in the order of the table.
func TestPlatform_Order(t *testing.T) {
	addPlatform(t, &made)
	for name, want := range map[string][]string{
		"cms": {"wp-json", "made-api"}, "wordpress": {"cms-json", "made-api"}, "made": {"cms-json", "wp-json"},
	} {
		p, _ := PlatformByName(name)
		if got := NewReader(Site{Platform: p}).foreign; !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
