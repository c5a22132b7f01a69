package site_test

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // OAuth 1.0a knows HMAC-SHA1
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestCookieAndNonce(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		me := "/cms/v2/users/me?context=edit"
		cookie, nonce := c.site.Nonce("admin")
		header, param := c.branded("X-CMS-Nonce"), c.branded("_cmsnonce")
		c.rest("GET", me, "").want(401, "rest_not_logged_in")
		c.rest("GET", me, "", withCookie(cookie)).want(401, "rest_not_logged_in")
		a := c.rest("GET", me, "", withCookie(cookie), with(header, nonce)).want(200)
		if a.get("username") != "admin" || a.get("capabilities", "manage_options") != true || a.get("roles", "0") != "administrator" {
			t.Fatalf("me %s", a.body)
		}
		if a.Header.Get(header) == "" {
			t.Fatal("no refreshed nonce")
		}
		c.rest("GET", me+"&"+param+"="+nonce, "", withCookie(cookie)).want(200)
		c.send("GET", "/?rest_route=/cms/v2/users/me&"+param+"="+nonce, "", withCookie(cookie)).want(200)
		bad := 400
		if c.wp {
			bad = 403
		}
		a = c.rest("GET", me, "", withCookie(cookie), with(header, "0123456789")).want(bad, "rest_cookie_invalid_nonce")
		if message := a.get("message").(string); !strings.Contains(message, "ookie") {
			t.Fatalf("message %q", message)
		}
		c.rest("GET", me, "", with(header, nonce)).want(bad, "rest_cookie_invalid_nonce")
		forged := *cookie
		forged.Value = strings.Replace(forged.Value, "admin", "manager", 1)
		c.rest("GET", me, "", withCookie(&forged), with(header, nonce)).want(bad, "rest_cookie_invalid_nonce")
	})
}

func TestNonceAndSessionExpire(t *testing.T) {
	now := time.Now()
	c := newClient(t, site.Options{Now: func() time.Time { return now }})
	cookie, nonce := c.site.Nonce("admin")
	now = now.Add(25 * time.Hour)
	c.rest("GET", "/cms/v2/users/me", "", withCookie(cookie), with("X-CMS-Nonce", nonce)).want(400, "rest_cookie_invalid_nonce")
	ajax := c.send("GET", "/cms-admin/admin-ajax.php?action=rest-nonce", "", withCookie(cookie)).want(200)
	c.rest("GET", "/cms/v2/users/me", "", withCookie(cookie), with("X-CMS-Nonce", string(ajax.body))).want(200)
	now = now.Add(25 * time.Hour)
	c.send("GET", "/cms-admin/admin-ajax.php?action=rest-nonce", "", withCookie(cookie)).want(400)
}

var nonceMeta = regexp.MustCompile(`<meta name="rest-nonce" content="([0-9a-f]+)">`)

func TestLoginAndLogout(t *testing.T) {
	both(t, site.Options{Base: "/blog"}, func(t *testing.T, c *client) {
		t.Helper()
		c.send("GET", "/cms-login.php", "").want(200)
		c.send("POST", "/cms-login.php", "log=admin&pwd=wrong").want(200)
		form := url.Values{"log": {"admin"}, "pwd": {c.info.Users["admin"].Password}}
		a := c.send("POST", "/cms-login.php", form.Encode()).want(302)
		var cookie *http.Cookie
		for _, set := range a.Cookies() {
			if strings.Contains(set.Name, "_logged_in_") {
				cookie = set
			}
		}
		if cookie == nil || cookie.Path != "/blog/" {
			t.Fatalf("cookies %v", a.Cookies())
		}
		c.send("GET", "/cms-admin/", "").want(302)
		page := c.send("GET", "/cms-admin/", "", withCookie(cookie)).want(200)
		nonce := nonceMeta.FindStringSubmatch(string(page.body))
		if nonce == nil {
			t.Fatalf("no nonce in %s", page.body)
		}
		header := c.branded("X-CMS-Nonce")
		c.rest("GET", "/cms/v2/users/me", "", withCookie(cookie), with(header, nonce[1])).want(200)

		c.send("GET", "/cms-login.php?action=logout", "", withCookie(cookie)).want(403)
		link := regexp.MustCompile(`href="([^"]+action=logout[^"]+)"`).FindStringSubmatch(string(page.body))
		target := strings.ReplaceAll(strings.TrimPrefix(link[1], "/blog"), "&amp;", "&")
		c.send("GET", target, "", withCookie(cookie)).want(302)
		c.send("GET", "/cms-admin/", "", withCookie(cookie)).want(302)
	})
}

func TestApplicationPasswords(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		const list = "/cms/v2/users/me/application-passwords"
		c.rest("GET", list, "").want(401, "rest_not_logged_in")
		c.rest("GET", list+"/introspect", "").want(401, "rest_not_logged_in")
		c.rest("GET", "/cms/v2/users/1/application-passwords", "").want(401, "rest_cannot_list_application_passwords")
		c.rest("GET", "/cms/v2/users/1/application-passwords", "", c.as("customer")).want(403, "rest_cannot_list_application_passwords")
		c.rest("POST", list, `{}`, c.as("customer")).want(400, "rest_missing_callback_param")
		a := c.rest("POST", list, `{"name":"phone"}`, c.as("customer")).want(201)
		uuid, password := a.get("uuid").(string), a.get("password").(string)
		if !regexp.MustCompile(`^([A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4}$`).MatchString(password) {
			t.Fatalf("password %q", password)
		}
		login := func(r *http.Request) { r.SetBasicAuth("customer", password) }
		c.rest("GET", "/cms/v2/users/me", "", login).want(200)
		joined := func(r *http.Request) { r.SetBasicAuth("customer@example.test", strings.ReplaceAll(password, " ", "")) }
		c.rest("GET", "/cms/v2/users/me", "", joined).want(200)
		if got := c.rest("GET", list+"/introspect", "", login).want(200).get("uuid"); got != uuid {
			t.Fatalf("introspect %v", got)
		}
		if items := c.rest("GET", list, "", login).want(200).json.([]any); len(items) != 2 {
			t.Fatalf("%d passwords", len(items))
		}
		c.rest("DELETE", list+"/"+uuid+"x", "", login).want(404, "rest_application_password_not_found")
		a = c.rest("DELETE", list+"/"+uuid, "", c.as("customer")).want(200)
		if a.get("deleted") != true || a.get("previous", "uuid") != uuid {
			t.Fatalf("revoked %s", a.body)
		}
		c.rest("GET", "/cms/v2/users/me", "", login).want(401, "incorrect_password")
		c.rest("GET", "/cms/v2/users/me", "", func(r *http.Request) { r.SetBasicAuth("nobody", "x") }).want(401, "invalid_username")
	})
}

func TestBearerToken(t *testing.T) {
	c := newClient(t, site.Options{})
	c.rest("GET", "/cms/v2/users/me", "", with("Authorization", "Bearer "+c.info.Users["editor"].BearerToken)).want(200)
	c.rest("GET", "/cms/v2/users/me", "", with("Authorization", "Bearer x")).want(401, "invalid_token")
}

func TestPasswordChangeEndsSessions(t *testing.T) {
	c := newClient(t, site.Options{})
	cookie, nonce := c.site.Nonce("customer")
	session := []edit{withCookie(cookie), with("X-CMS-Nonce", nonce)}
	c.rest("GET", "/cms/v2/users/me", "", session...).want(200)
	c.rest("POST", "/cms/v2/users/me", `{"password":"another one"}`, c.as("customer")).want(200)
	c.rest("GET", "/cms/v2/users/me", "", session...).want(400, "rest_cookie_invalid_nonce")
}

func TestShopKeys(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		t.Helper()
		order := "/shop/v3/orders/" + id(c.info.Orders[0])
		read, write, all := withKey(c.info.Keys.ReadKey), withKey(c.info.Keys.WriteKey), withKey(c.info.Keys.ReadWriteKey)
		denied := c.branded("shop_rest_authentication_error")
		c.rest("GET", order, "", read).want(200)
		c.rest("PUT", order, `{}`, write).want(200)
		c.rest("PUT", order, `{}`, all).want(200)
		a := c.rest("PUT", order, `{}`, read).want(401, denied)
		if !strings.Contains(a.get("message").(string), "does not have write permissions") {
			t.Fatalf("message %v", a.get("message"))
		}
		c.rest("GET", order, "", write).want(401, denied)
		c.rest("GET", order+"?_method=PUT", "", read).want(401, denied)
		key, secret, _ := strings.Cut(c.info.Keys.ReadKey, ":")
		c.rest("GET", order+"?consumer_key="+key+"&consumer_secret="+secret, "").want(200)
		c.rest("GET", order, "", withKey(key+":cs_wrong")).want(401, denied)
		c.rest("GET", order, "", withKey("ck_unknown:x")).want(401, c.branded("shop_rest_cannot_view"))
		c.rest("GET", order, "", func(r *http.Request) { r.SetBasicAuth("admin", "wrong") }).want(401, c.branded("shop_rest_cannot_view"))

		// Outside the shop's routes a key is no key, unless the marker stands in the address.
		me := "/cms/v2/users/me"
		c.rest("GET", me, "", read).want(401, "invalid_username")
		c.rest("GET", me+"?consumer_key="+key+"&consumer_secret="+secret, "").want(401, "rest_not_logged_in")
		c.rest("GET", me+"?x="+c.branded("cms-json/shop/"), "", read).want(200)
	})
}

// TestShopKeys_QueryForm: from 11.1 the shop knows its calls by rest_route too
// (docs/project/interface 9, REST-request detection).
func TestShopKeys_QueryForm(t *testing.T) {
	releases(t, func(_ *testing.T, c *client, release string) {
		orders, read := c.branded("/?rest_route=/shop/v3/orders"), withKey(c.info.Keys.ReadKey)
		key, secret, _ := strings.Cut(c.info.Keys.ReadKey, ":")
		inQuery := orders + "&consumer_key=" + key + "&consumer_secret=" + secret
		if release == "11.1" {
			c.send("GET", orders, "", read).want(200)
			c.send("GET", inQuery, "").want(200)
			c.send("GET", orders, "", withKey(key+":cs_wrong")).want(401, c.branded("shop_rest_authentication_error"))
		} else {
			c.send("GET", orders, "", read).want(401, "invalid_username")
			c.send("GET", inQuery, "").want(401, c.branded("shop_rest_cannot_view"))
		}
		c.send("GET", "/?rest_route=/cms/v2/users/me", "", read).want(401, "invalid_username")
		c.send("GET", c.branded("/?rest_route=/shopping/v3"), "", read).want(401, "invalid_username")
		// A form body's rest_route is not the query's.
		c.send("POST", "/?_method=GET", c.branded("rest_route=/shop/v3/orders"), read).want(401, "invalid_username")
	})
}

func TestOAuth(t *testing.T) {
	c := newClient(t, site.Options{})
	key, secret, _ := strings.Cut(c.info.Keys.ReadKey, ":")
	route := "/shop/v3/orders"
	signed := func(secret, nonce string, at time.Time) string {
		params := url.Values{
			"oauth_consumer_key": {key}, "oauth_nonce": {nonce}, "oauth_signature_method": {"HMAC-SHA256"},
			"oauth_timestamp": {strconv.FormatInt(at.Unix(), 10)},
		}
		escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
		mac := hmac.New(sha256.New, []byte(secret+"&"))
		mac.Write([]byte("GET&" + escape("http://example.com/cms-json"+route) + "&" + escape(params.Encode())))
		params.Set("oauth_signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		return route + "?" + params.Encode()
	}
	c.rest("GET", signed(secret, "a", time.Now()), "").want(200)
	for name, target := range map[string]string{
		"used nonce":  signed(secret, "a", time.Now()),
		"wrong":       signed("cs_wrong", "b", time.Now()),
		"old":         signed(secret, "c", time.Now().Add(-time.Hour)),
		"extra":       signed(secret, "d", time.Now()) + "&x=1",
		"unknown key": strings.Replace(signed(secret, "e", time.Now()), key, "ck_x", 1),
	} {
		t.Run(name, func(_ *testing.T) {
			c.rest("GET", target, "").want(401, "shop_rest_authentication_error")
		})
	}
}

// TestOAuth_Address: the shop signs the address that it makes of its home and the path, and all
// parameters, those of arrays included. Over plain http nothing else counts (docs/platform
// III.8).
func TestOAuth_Address(t *testing.T) {
	c := newClient(t, site.Options{Base: "/blog", KeysNeedTLS: true})
	key, secret, _ := strings.Cut(c.info.Keys.ReadKey, ":")
	const denied = "shop_rest_authentication_error"
	own := "oauth_consumer_key=" + key + "&oauth_nonce=NONCE&oauth_signature_method=HMAC-SHA1&oauth_timestamp=" + strconv.FormatInt(time.Now().Unix(), 10)
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	for i, test := range []struct {
		target, address string // address is what is signed
		before, after   string // parameters as they are signed, around those of OAuth
		status          int
	}{
		{"/cms-json/shop/v3/orders?", "http://example.com/blog/cms-json/shop/v3/orders", "", "", 200},
		{"/cms-json/shop/v3/orders?", "http://example.com/cms-json/shop/v3/orders", "", "", 401},
		{"/cms-json/shop/v3/orders?", "https://example.com/blog/cms-json/shop/v3/orders", "", "", 401},
		{"/cms-json/shop/v3/orders?", "http://example.com:80/blog/cms-json/shop/v3/orders", "", "", 401},
		{"/?rest_route=/shop/v3/orders&", "http://example.com/blog", "", "&rest_route=%2Fshop%2Fv3%2Forders", 200},
		{"/?rest_route=/shop/v3/orders&", "http://example.com/blog/", "", "&rest_route=%2Fshop%2Fv3%2Forders", 401},
		{"/index.php?rest_route=/shop/v3/orders&", "http://example.com/blog/index.php", "", "&rest_route=%2Fshop%2Fv3%2Forders", 200},
		{
			"/cms-json/shop/v3/orders?x=%C3%A9%20%7E%25%2B&include[]=1&include[]=2&", "http://example.com/blog/cms-json/shop/v3/orders",
			"include%5B0%5D=1&include%5B1%5D=2&", "&x=%C3%A9%20~%25%2B", 200,
		},
	} {
		params := strings.Replace(own, "NONCE", "n"+strconv.Itoa(i), 1)
		mac := hmac.New(sha1.New, []byte(secret+"&"))
		mac.Write([]byte("GET&" + escape(test.address) + "&" + escape(test.before+params+test.after)))
		signed := test.target + params + "&oauth_signature=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		want := []string{}
		if test.status == 401 {
			want = append(want, denied)
		}
		c.send("GET", signed, "").want(test.status, want...)
	}
	orders := "/cms-json/shop/v3/orders"
	c.send("GET", orders+"?oauth_nonce=1", "").want(401, "shop_rest_authentication_missing_parameter")
	c.send("GET", orders+"?oauth_nonce=0", "").want(401, "shop_rest_cannot_view") // PHP takes "0" for empty
	c.send("GET", orders, "", withKey(c.info.Keys.ReadKey)).want(401, "shop_rest_cannot_view")
	c.send("GET", orders+"?consumer_key="+key+"&consumer_secret="+secret, "").want(401, "shop_rest_cannot_view")
	c.send("GET", orders, "", withKey(c.info.Keys.ReadKey), with("X-Forwarded-Proto", "https")).want(200)
}

func TestLoginOnly(t *testing.T) {
	both(t, site.Options{LoginOnly: true}, func(t *testing.T, c *client) {
		t.Helper()
		for _, target := range []string{"/", "/cms/v2/users", "/consent/v1/consent"} {
			a := c.rest("GET", target, "").want(401, "rest_not_logged_in")
			if a.get("message") != "Only authenticated users can access the REST API." {
				t.Fatalf("message %v", a.get("message"))
			}
		}
		cookie, nonce := c.site.Nonce("customer")
		c.rest("GET", "/cms/v2/posts", "", withCookie(cookie)).want(401, "rest_not_logged_in")
		c.rest("GET", "/cms/v2/posts", "", withCookie(cookie), with(c.branded("X-CMS-Nonce"), nonce)).want(200)
		c.rest("GET", "/cms/v2/posts", "", c.as("customer")).want(200)
		c.send("GET", "/", "").want(200)
	})
}

// TestLoginOnly_Allow: a list of allowed routes restores the consent log and incoming
// notifications, and nothing else (docs/project/interface 5, rule 1).
func TestLoginOnly_Allow(t *testing.T) {
	both(t, site.Options{LoginOnly: true, LoginAllow: []string{"/consent/v1/consent", "/pay/v1/notify"}}, func(t *testing.T, c *client) {
		t.Helper()
		c.rest("POST", "/consent/v1/consent", `{"choice":"all"}`).want(200)
		c.rest("POST", "/Consent/v1/consent/", `{"choice":"all"}`).want(200)
		c.rest("POST", "/pay/v1/notify", `{"event":"paid"}`).want(200)
		c.send("POST", "/?rest_route=/pay/v1/notify", `{"event":"paid"}`).want(200)
		for _, target := range []string{"/", "/cms/v2/users", "/consent/v1", "/consent/v1/log", "/consent/v1/consent/x", "/pay/v1"} {
			if got := c.rest("GET", target, "").want(401, "rest_not_logged_in").get("message"); got != loginOnlyMessage {
				t.Fatalf("%s: message %v", target, got)
			}
		}
		c.rest("GET", "/consent/v1/log", "", c.as("admin")).want(200)
	})
	_, err := site.New(site.Options{LoginOnly: true, LoginAllow: []string{"/consent/v1/nosuch"}})
	if err == nil || !strings.HasPrefix(err.Error(), "login-allow: ") {
		t.Fatalf("error %v", err)
	}
}
