package call

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// TestSeparator: a PHP with arg_separator.input ";&" splits queries at ";" too
// (docs/platform I.1.5). What such a PHP would read otherwise is refused where it decides.
func TestSeparator(t *testing.T) {
	rd := NewReader(Config{Platform: wordpress(), Variables: []string{"consumer_key"}})
	runReads(t, rd, []readTest{
		{"GET", "/?x=1;rest_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?;rest.route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?a=1&amp;rest_route=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route=/wp/v2/users;x=1", "", "", "400 variables"},
		{"GET", "/x;rest_route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/?s=a;b&amp;id=7&amp;_method=DELETE;consumer_key=x", "", "", "page"},
		{"GET", "/confirm/?user=7&amp;id=7&amp;key=a;b", "", "", "page"},
		{"GET", "/wp-json/wp/v2/posts?search=a;b&amp;per_page=5", "", "", "GET /wp/v2/posts"},
		{"POST", "/wp-json/wp/v2/posts?x=1;_method=DELETE", "", "", "400 variables"},
		{"POST", "/wp-json/wp/v2/posts?_method=PUT;x", "", "", "400 variables"},
		{"PUT", "/wp-json/wc/v3/orders/7?x=1;id=9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"PUT", "/wp-json/wc/v3/orders/7?id=7;9", "", "", "PUT /wc/v3/orders/7 id?"},
		{"PUT", "/wp-json/wc/v3/orders/7?x=1;consumer_key=ck_1", "", "", "400 variables"},
		{"GET", "/wp-json/wp/v2/posts?" + strings.Repeat(";", 1000) + "&a=1", "", "", "400 variables"},
		{"POST", "/batch?x", jsonType, "", "page"},
		{"POST", "/wp-json/batch/v1", jsonType, `{"requests":[{"path":"/wp/v2/posts/1?a=1;_method=DELETE"}]}`, "400 variables"},
		// $_POST is split at "&" alone, but where PHP converts it; the core splits the body of PUT as a
		// query, also of a PUT that is a POST on the wire.
		{"POST", "/", formType, "x=1;rest_route=/wp/v2/users", "400 variables"},
		{"POST", "/", formType, "x=" + strings.Repeat("y", 70_000) + ";rest_route=/wp/v2/users", "400 variables"},
		{"POST", "/", formType, "x=1;y=rest_route;z", "page"},
		{"POST", "/wp-json/wc/v3/orders/7", formType, "x=1;id=9", "POST /wc/v3/orders/7 id?"},
		{"POST", "/wp-json/wc/v3/orders/7", formType, "x=1;y&id=9", "POST /wc/v3/orders/7 id 9"},
		{"PUT", "/wp-json/wc/v3/orders/7", formType, "x=1;id=9", "PUT /wc/v3/orders/7 id?"},
		{"POST", "/x/?%20%5Fmethod=PUT", formType, "p=7&=x&rest_route=%2Fwc%2Fv3%2Forders%2F133&s=x&amp;id%00=+231", "PUT /wc/v3/orders/133 id?"},
		{"PUT", "/wp-json/wc/v3/orders/7", formType, "id=9", "PUT /wc/v3/orders/7 id 9"},
	})
}

// TestSeparator_Variables: a variable next to a ";" counts as one without a value, and a rule
// that looks at it refuses.
func TestSeparator_Variables(t *testing.T) {
	rd := NewReader(Config{Platform: wordpress()})
	c := rd.Read(request(http.MethodGet, "/wp-json/wp/v2/posts?a=1;_embed=1&b=2;c", "", ""), nil)
	for name, want := range map[string]bool{"_embed": true, "a": true, "b": true, "c": true, "d": false} {
		if v, set := c.QueryVariable(name); v != "" || set != want {
			t.Errorf("%s: %q, %v", name, v, set)
		}
		if _, _, err := c.Param(name); (err != nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzSeparator: where Separated says no, both kinds of PHP read the variable alike.
func FuzzSeparator(f *testing.F) {
	for _, seed := range []string{
		"", "a=1", "x;a=1", "a=1;x", "a;b=1&a=2", "x=1&amp;a=7", ";;a", "a[x]=1;a[y]=2", "x;a[", "%20a=1;", "x=a;a%00=2", ";+a=1&b",
	} {
		f.Add(seed, "a")
	}
	f.Add("x;rest.route=/a", platforms.RouteVar)
	f.Add(";", ";")
	f.Fuzz(func(t *testing.T, raw, name string) {
		if phpvars.Pairs(raw)+strings.Count(raw, ";") > phpvars.MaxPairs || name == "" || strings.ContainsAny(name, "[]. \x00") {
			return
		}
		one, hasOne := phpvars.Query(raw).Get(name)
		other, hasOther := phpvars.Query(strings.ReplaceAll(raw, ";", "&")).Get(name)
		same := hasOne == hasOther && valueText(one) == valueText(other)
		if !same && !phpvars.Separated(raw, name) {
			t.Fatalf("%q: %s is %v (%v), and %v (%v) where \";\" separates", raw, name, one, hasOne, other, hasOther)
		}
	})
}
