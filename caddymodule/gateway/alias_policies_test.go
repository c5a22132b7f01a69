package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// TestAlias_Policies: a call by a rewrite rule of the site meets the same policies as the pretty
// one, and goes on as it came.
func TestAlias_Policies(t *testing.T) {
	p := newDeletingShop(t)
	shop := p.answering()
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		route := strings.TrimPrefix(r.URL.Path, "/wp-json")
		said := ""
		switch user, _, _ := r.BasicAuth(); {
		case strings.HasPrefix(r.Header.Get("Authorization"), "OAuth") && isQuestion(r):
			w.WriteHeader(http.StatusUnauthorized)
			said = `{"code":"woocommerce_rest_authentication_error","message":"no","data":{"status":401}}`
		case user == "ck_1" && isQuestion(r):
			w.WriteHeader(http.StatusUnauthorized)
			said = `{"code":"invalid_username","message":"no","data":{"status":401}}`
		case route == "/wc/v3/orders/13/notes/0", route == "/wc/v3/orders/7/notes/0" && user == "":
			w.WriteHeader(http.StatusNotFound)
			said = `{"code":"woocommerce_rest_order_invalid_id","message":"no","data":{"status":404}}`
		case route == "/wc/v3/orders/7/notes/0":
			w.WriteHeader(http.StatusNotFound)
			said = `{"code":"woocommerce_rest_invalid_id","message":"no","data":{"status":404}}`
		default:
			return shop(w, r)
		}
		_, _ = io.WriteString(w, said)
		return true
	})
	const (
		signed = `Authorization: OAuth oauth_consumer_key="ck_1", oauth_signature="x", oauth_nonce="1", oauth_timestamp="1", oauth_signature_method="HMAC-SHA1"`
		byKey  = "Authorization: Basic Y2tfMTpjc18x"
		nobody = "Accept: */*"
	)
	g := administered(t, "", caddyrun.Site{Body: "\trestwarden wordpress {\n\t\tlogin_only\n\t\talias ^api/(.+) /$1\n\t\tallow anyone GET /wp/v2/posts\n\t\tallow anyone POST /wc/store/v1/cart\n" +
		"\t\trate_limit 1/1h GET /wp/v2/tags\n\t\tabilities {\n\t\t\tconfirm shop/delete\n\t\t}\n\t}\n\t" + p.proxied() + "\n"})
	for _, test := range []struct {
		line, body, header string
		status             int
		contains           string
	}{
		{"GET /api/wp/v2/posts", "", nobody, 200, "ran"},
		{"GET /api/wp/v2/users", "", nobody, 401, "rest_not_logged_in"},
		{"GET /api/wp/v2/users", "", asAdmin, 200, "ran"},
		{"PUT /api/wc/v3/orders/13", "{}", asAdmin, 400, "woocommerce_rest_shop_order_invalid_id"},
		{"PUT /api/wc/v3/orders/7?id=13", "{}", asAdmin, 400, "woocommerce_rest_shop_order_invalid_id"},
		{"PUT /api/wc/v3/orders/7", "{}", asAdmin, 200, "ran"},
		{"GET /api/wp/v2/tags", "", asAdmin, 200, "ran"},
		{"GET /wp-json/wp/v2/tags", "", asAdmin, 429, "rest_too_many_requests"},
		{"POST /api/wp-abilities/v1/abilities/shop/delete/run", someInput, asAdmin, 403, "rest_confirmation_required"},
		{"POST /api/mcp/mcp-adapter-default-server", someTool, asAdmin, 403, "rest_confirmation_required"},
		// The shop believes keys and signatures only if the address has its namespace.
		{"GET /api/wc/v3/orders/7", "", signed, 401, "rest_not_logged_in"},
		{"GET /api/wc/v3/orders/7?oauth_consumer_key=ck_1&oauth_signature=x", "", nobody, 401, "rest_not_logged_in"},
		{"GET /api/wc/v3/orders/7", "", byKey, 401, "incorrect_password"},
	} {
		p.received()
		got := g.do(test.line, test.body, test.header, asJSON)
		got.want(t, test.status, test.contains)
		target := strings.Fields(test.line)[1]
		if ran := p.received(); (len(ran) == 1 && strings.Contains(ran[0], " "+target+" ")) != (test.status == 200) {
			t.Errorf("%s: arrived %q", test.line, ran)
		}
	}
	for hard, status := range map[string]int{"false": 200, "true": 401} {
		g.admin("POST", "lockdown", `{"for":"1h","hard":`+hard+`}`, 200, "")
		g.do("POST /api/wc/store/v1/cart", "{}", asJSON).want(t, status, "")
		g.do("GET /api/wp/v2/comments", "").want(t, 401, "rest_not_logged_in")
		g.do("GET /api/wp/v2/posts", "").want(t, 200, "ran")
	}
}
