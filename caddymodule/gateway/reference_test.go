package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	referencesite "github.com/restwarden/restwarden/cmd/platform/site"
)

// reference is the reference platform behind a gateway.
type reference struct {
	*gateway
	site *referencesite.Site
	info referencesite.Info
}

func startReference(t *testing.T, options referencesite.Options, directive string) *reference {
	t.Helper()
	s, err := referencesite.New(options)
	if err != nil {
		t.Fatal(err)
	}
	info := s.Info()
	t.Setenv("COOKIE_PLUGIN_KEY", info.Keys.CookiePlugin)
	t.Setenv("SHOP_READ_KEY", info.Keys.ReadKey)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	g := startGateway(t, directive+"\n\treverse_proxy "+strings.TrimPrefix(server.URL, "http://"))
	return &reference{g, s, info}
}

// as returns the credentials of a user.
func (r *reference) as(login string) string {
	return basicAuth(login + ":" + r.info.Users[login].ApplicationPassword)
}

func basicAuth(pair string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
}

const asJSON = "Content-Type: application/json"

const referenceSite = `	restwarden cms {
		login_only
		allow anyone POST /complianz/v1/track
		allow anyone /shop/store/v1/**
		allow signed cookie_plugin /*/v1/store-auth
		signature cookie_plugin {
			key {env.COOKIE_PLUGIN_KEY}
		}
		order_type
		refund_totals
		checkout_total
	}`

func TestReference_Access(t *testing.T) {
	r := startReference(t, referencesite.Options{Release: "10.7"}, referenceSite)
	for _, line := range []string{
		"GET /cms-json/cms/v2/users", "GET /?rest_route=/cms/v2/users", "GET /?rest.route=/cms/v2/users",
		"GET /CMS-JSON/../cms-json/cms/v2/users", "POST /cms-json/cms/v2/users?_method=GET", "GET /cms-json/CMS/v2/Users/",
	} {
		if got := r.do(line, ""); got.status < 400 {
			t.Errorf("%s: %d %s", line, got.status, got.body)
		}
	}
	r.do("GET /cms-json/cms/v2/users", "", r.as("admin")).want(t, 200, `"slug"`)
	r.do("POST /cms-json"+r.info.Routes.Consent, `{"consent":true}`, asJSON)
	r.do("GET /cms-json"+r.info.Routes.Consent, "").want(t, 401, "rest_not_logged_in")
	r.do("GET /cms-json/cms/v2/users", "", basicAuth("admin:wrong")).want(t, 401, `"code":"`)

	cookie, nonce := r.site.Nonce("admin")
	session := "Cookie: " + cookie.Name + "=" + cookie.Value
	r.do("GET /cms-json/cms/v2/users", "", session).want(t, 401, "rest_not_logged_in")
	r.do("GET /cms-json/cms/v2/users", "", session, "X-CMS-Nonce: "+nonce).want(t, 200, `"slug"`)
	if bad := r.do("GET /cms-json/cms/v2/users", "", session, "X-CMS-Nonce: nonsense"); bad.status < 400 || !strings.Contains(bad.body, "nonce") {
		t.Errorf("%d %s", bad.status, bad.body)
	}
	if page := r.do("GET /", ""); page.status != 200 {
		t.Errorf("%d %s", page.status, page.body)
	}
}

func TestReference_Plugins(t *testing.T) {
	r := startReference(t, referencesite.Options{Release: "10.7", CookiePlugin: "4.4.1"}, referenceSite)
	signed := func(key string) []string {
		stamp := strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(stamp))
		return []string{"X-Timestamp: " + stamp, "X-Signature: " + hex.EncodeToString(mac.Sum(nil))}
	}
	troubleshooting := "GET /cms-json" + r.info.Routes.Troubleshooting
	feed := signed(r.info.Keys.FeedPublicID)
	r.do(troubleshooting, "", feed...).want(t, 401, "rest_not_logged_in")
	r.do(troubleshooting, "", append(feed, r.as("customer"))...).want(t, 403, "rest_forbidden")
	r.do(troubleshooting, "", append(feed, r.as("admin"))...).want(t, 200, `"access_token":"[redacted]"`)
	for _, login := range []string{"admin", "customer"} {
		r.do("POST /cms-json"+r.info.Routes.UploadLogo, "{}", asJSON, r.as(login)).want(t, 403, "rest_forbidden")
	}
	auth := "POST /cms-json" + r.info.Routes.StoreAuth
	r.do(auth, "{}", asJSON).want(t, 401, "rest_invalid_signature")
	r.do(auth, "{}", append(signed("wrong"), asJSON)...).want(t, 401, "rest_invalid_signature")
	if got := r.do(auth, "{}", append(signed(r.info.Keys.CookiePlugin), asJSON)...); strings.Contains(got.body, "rest_invalid_signature") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestReference_Shop(t *testing.T) {
	r := startReference(t, referencesite.Options{Release: "10.7"}, referenceSite)
	order, subscription := r.info.Orders[0], r.info.Subscriptions[0]
	before, _ := r.site.Record(subscription)
	manager := r.as("manager")
	orders := "/cms-json/shop/v3/orders"
	for _, d := range doors.All() {
		d = d.At(order, subscription)
		if got := r.do(d.Line(), d.Body, append(d.Headers, manager)...); !d.Kept && got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", d, got.status, got.body)
		}
	}
	if after, _ := r.site.Record(subscription); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the subscription changed: %v", after)
	}
	r.do(fmt.Sprintf("PUT %s/%d", orders, order), `{"status":"completed"}`, asJSON, manager).want(t, 200, `"status":"completed"`)
	r.do(fmt.Sprintf("POST %s/%d/refunds", orders, order), `{"compute_totals":true}`, asJSON, manager).want(t, 400, "shop_rest_compute_totals_unsupported")
	r.do(fmt.Sprintf("GET %s/%d", orders, order), "", basicAuth(r.info.Keys.ReadKey)).want(t, 200, `"id"`)
	r.do(fmt.Sprintf("GET %s/%d", orders, order), "", basicAuth("ck_wrong:cs_wrong")).want(t, 401, `"code"`)
}

func TestReference_Revocation(t *testing.T) {
	r := startReference(t, referencesite.Options{}, referenceSite)
	r.do("GET /cms-json/cms/v2/posts", "", r.as("admin")).want(t, 200, "")
	r.do("DELETE /cms-json/cms/v2/users/me/application-passwords", "", r.as("admin")).want(t, 200, "")
	if got := r.do("GET /cms-json/cms/v2/posts", "", r.as("admin")); got.status != 401 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestReference_SubFolder(t *testing.T) {
	directive := strings.Replace(referenceSite, "login_only", "login_only\n\t\tbase /blog", 1)
	r := startReference(t, referencesite.Options{Base: "/blog"}, directive)
	r.do("GET /blog/cms-json/cms/v2/users", "").want(t, 401, "rest_not_logged_in")
	r.do("GET /blog/cms-json/cms/v2/users", "", r.as("admin")).want(t, 200, `"slug"`)
	r.do("GET /blog/?rest_route=/cms/v2/users", "", r.as("admin")).want(t, 200, `"slug"`)
	r.do("GET /cms-json/cms/v2/users", "", r.as("admin")).want(t, 404, "rest_no_route")
}

func TestReference_PlainPermalinks(t *testing.T) {
	r := startReference(t, referencesite.Options{Permalinks: "plain"}, referenceSite)
	r.do("GET /?rest_route=/cms/v2/users", "").want(t, 401, "rest_not_logged_in")
	r.do("GET /?rest_route=/cms/v2/users", "", r.as("admin")).want(t, 200, `"slug"`)
	r.do("GET /index.php?rest_route=/cms/v2/users", "", r.as("customer")).want(t, 200, `"slug"`)
}

// TestReference_Checkout: a stale total is refused before there is an order.
func TestReference_Checkout(t *testing.T) {
	r := startReference(t, referencesite.Options{Release: "10.7"}, referenceSite)
	const store = "/cms-json/shop/store/v1"
	cart := r.do("GET "+store+"/cart", "")
	cart.want(t, 200, "totals")
	token := "Cart-Token: " + cart.header.Get("Cart-Token")
	r.do("POST "+store+"/cart/add-item", fmt.Sprintf(`{"id":%d,"quantity":1}`, r.info.Products[0]), asJSON, token)
	before := len(r.site.Info().Orders)
	r.do("POST "+store+"/checkout", `{"expected_total":1,"payment_method":"cod"}`, asJSON, token).want(t, 409, "shop_rest_checkout_total_mismatch")
	if after := len(r.site.Info().Orders); after != before {
		t.Errorf("%d orders, were %d", after, before)
	}
}

func TestReference_Wordpress(t *testing.T) {
	r := startReference(t, referencesite.Options{Platform: "wordpress"}, "\trestwarden wordpress {\n\t\tlogin_only\n\t}")
	r.do("GET /wp-json/wp/v2/users", "").want(t, 401, "rest_not_logged_in")
	r.do("GET /wp-json/wp/v2/users", "", r.as("admin")).want(t, 200, `"slug"`)
	cookie, nonce := r.site.Nonce("admin")
	r.do("GET /wp-json/wp/v2/users", "", "Cookie: "+cookie.Name+"="+cookie.Value, "X-WP-Nonce: "+nonce).want(t, 200, `"slug"`)
	if h := r.do("GET /wp-json/wp/v2/users", "", "Origin: https://x.test").header; !strings.Contains(h.Get("Access-Control-Expose-Headers"), "X-WP-Total,") {
		t.Error(h)
	}
	for range 20 { // the REST root fits the directive
		if strings.Contains(r.logged(), "does not fit") {
			t.Fatal(r.logged())
		}
		time.Sleep(5 * time.Millisecond)
	}
}
