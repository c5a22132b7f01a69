//go:build wordpress

package wordpress

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestScope: on the real platform a scope binds its credential wherever it stands, and nothing else.
func TestScope(t *testing.T) {
	s := setUps(t)
	for _, g := range s.gatesOf(modeScoped) {
		t.Run(g.setUp(), func(t *testing.T) {
			t.Parallel()
			author, editor, admin := g.Site.Accounts["author"], g.Site.Accounts["editor"], g.Site.Accounts["administrator"]
			browser, err := login(t.Context(), g, author)
			if err != nil {
				t.Fatal(err)
			}
			byMail := "Authorization: " + basic(author.Login+"@example.test", author.Application)
			key, signed := "Authorization: "+basic("ck_standin", "cs_standin"), `Authorization: OAuth oauth_consumer_key="ck_standin", oauth_nonce="x"`
			order := "/wp-json/wc/v3/orders/" + strconv.Itoa(g.Site.Orders[0])
			const inQuery, form = "consumer_key=ck_standin&consumer_secret=cs_standin", "Content-Type: application/x-www-form-urlencoded"
			const closed = "refused rest_credential_scope"
			for _, tt := range []struct {
				name string
				request
				want string // status, or what the gateway decides
			}{
				{"a key reads orders", request{path: "/wp-json/wc/v3/orders?per_page=1", headers: []string{key}}, "200"},
				{"by rest_route", request{path: "/?rest_route=/wc/v3/orders", headers: []string{key}}, "pass"},
				{"a key reads customers", request{path: "/wp-json/wc/v3/customers", headers: []string{key}}, closed},
				{"a key in the query", request{path: "/wp-json/wc/v3/customers?" + inQuery}, closed},
				{"a key in a form", request{method: "POST", path: "/wp-json/wp/v2/posts", body: inQuery, headers: []string{form}}, closed},
				{"a signature", request{path: "/wp-json/wc/v3/customers", headers: []string{signed}}, closed},
				{"a key deletes", request{method: "DELETE", path: order, headers: []string{key}}, closed},
				{"a key beside a password", request{method: "DELETE", path: order + "?" + inQuery, as: &admin}, closed},
				{"more than a status", request{method: "PUT", path: order, body: `{"status":"completed","billing":{}}`, headers: []string{key}}, closed},
				{"the older interface", request{path: "/wc-api/v3/orders?" + inQuery}, closed},
				{"its variables", request{path: "/?wc-api-version=3&wc-api-route=/orders", headers: []string{key}}, closed},
				{"another key", request{path: "/wp-json/wc/v3/customers", headers: []string{"Authorization: " + basic("ck_other", "cs")}}, "pass"},
				{"a user reads posts", request{path: "/wp-json/wp/v2/posts", as: &author}, "200"},
				{"a user reads pages", request{path: "/wp-json/wp/v2/pages", as: &author}, closed},
				{"a user by e-mail", request{path: "/wp-json/wp/v2/pages", headers: []string{byMail}}, closed},
				{"a user in capitals", request{path: "/wp-json/wp/v2/pages", headers: []string{"Authorization: " + basic(strings.ToUpper(author.Login), author.Application)}}, closed},
				{"a user in a browser", request{path: "/wp-json/wp/v2/pages", headers: browser.header}, closed},
				{"without a nonce", request{path: "/wp-json/wp/v2/pages", headers: browser.header[1:]}, closed},
				{"a user writes", request{method: "POST", path: "/wp-json/wp/v2/posts", body: `{"title":"x"}`, as: &author}, closed},
				{"a password reads posts", request{path: "/wp-json/wp/v2/posts", as: &editor}, "200"},
				{"a password reads pages", request{path: "/wp-json/wp/v2/pages", as: &editor}, closed},
				{"a wrong password", request{path: "/wp-json/wp/v2/pages", headers: []string{"Authorization: " + basic(editor.Login, "x")}}, "401"},
				{"another password", request{path: "/wp-json/wp/v2/pages", as: &admin}, "200"},
				{"nobody", request{path: "/wp-json/wp/v2/pages"}, "200"},
				{"xmlrpc.php", request{method: "POST", path: "/xmlrpc.php", body: "<methodCall/>", headers: []string{"Content-Type: text/xml"}}, closed},
				{"a page", request{path: "/"}, "200"},
			} {
				a, err := fetch(t.Context(), g, tt.request)
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(a.status, " ", a.decision); !strings.Contains(got+" ", tt.want) {
					t.Errorf("%s: %s, want %s", tt.name, a, tt.want)
				}
			}
			s.checkScopedAnswers(t, g, key)
		})
	}
}

// checkScopedAnswers is that answers inside of a scope are those without one, byte for byte, but for what it hides.
func (s *stack) checkScopedAnswers(t *testing.T, g *gate, key string) {
	t.Helper()
	bare := s.gate(g.Site.Name, modeBare)
	editor := g.Site.Accounts["editor"]
	holes := request{path: "/wp-json/wp/v2/posts?_fields=_links.wp:term.1", as: &editor}
	for _, at := range []*gate{bare, g} { // the platform makes an object of the list
		a, err := fetch(t.Context(), at, holes)
		if want := map[bool]string{true: `"1":{"taxonomy":"post_tag","embeddable":true,"href":"http`, false: `"href":"[redacted]"`}[at == bare]; err != nil || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %v, %s, want %s", at.Name, err, a, want)
		}
	}
	for _, r := range []request{
		{path: "/wp-json/wp/v2/posts?_embed", as: &editor},
		{path: "/wp-json/wc/v3/orders/" + strconv.Itoa(g.Site.Orders[0]), headers: []string{key}},
	} {
		through, err := fetch(t.Context(), g, r)
		if err != nil {
			t.Fatal(err)
		}
		past, err := fetch(t.Context(), bare, r)
		if err != nil {
			t.Fatal(err)
		}
		if r.as != nil { // what is embedded is of calls that the scope does not allow
			if through.status != 200 || !strings.Contains(string(through.body), `"rest_forbidden"`) {
				t.Errorf("%s: %s", r.path, through)
			}
			continue
		}
		want := hidden.ReplaceAllString(string(past.body), `"status":"[redacted]"`)
		if got := string(through.body); got != want || through.status != 200 {
			t.Errorf("%s: %d, %q, want %q", r.path, through.status, got, want)
		}
	}
}

// hidden is the field that the scope of the key hides.
var hidden = regexp.MustCompile(`"status":"[^"]*"`)
