package site_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// last is the last call that reached a route.
func (c *client) last() site.Dispatch {
	calls := c.site.Dispatched()
	if len(calls) == 0 {
		return site.Dispatch{}
	}
	return calls[len(calls)-1]
}

func TestAddressingForms(t *testing.T) {
	const users = "/cms/v2/users"
	rows := []struct {
		name, method, target, body string
		route                      string // "" where no route is reached
		status                     int
	}{
		{"pretty", "GET", "/cms-json/cms/v2/users", "", users, 200},
		{"index.php", "GET", "/index.php/cms-json/cms/v2/users", "", users, 200},
		{"trailing slash", "GET", "/cms-json/cms/v2/users/", "", users, 200},
		{"leading slashes", "GET", "//cms-json/cms/v2/users", "", users, 200},
		{"upper case", "GET", "/cms-json/CMS/V2/USERS", "", "/CMS/V2/USERS", 200},
		{"upper-case prefix is a page", "GET", "/CMS-JSON/cms/v2/users", "", "", 404},
		{"encoded prefix decodes all", "GET", "/%63ms-json/cms/v2/us%65rs", "", users, 200},
		{"encoded route stays", "GET", "/cms-json/cms/v2/us%65rs", "", "", 404},
		{"newline ends the decoded route", "GET", "/%63ms-json/cms/v2/users%0A/x", "", users, 200},
		{"query", "GET", "/?rest_route=/cms/v2/users", "", users, 200},
		{"folded name", "GET", "/?rest.route=/cms/v2/users", "", users, 200},
		{"final newline", "GET", "/?rest_route=/cms/v2/users%0A", "", users + "\n", 200},
		{"query on any page", "GET", "/robots.txt?rest_route=/cms/v2/users", "", users, 200},
		{"query beats path", "GET", "/cms-json/cms/v2/posts?rest_route=/cms/v2/users", "", users, 200},
		{"body beats path", "POST", "/cms-json/consent/v1/consent?_method=GET", "rest_route=/cms/v2/users", users, 200},
		{"body on a page", "POST", "/?_method=GET", "rest_route=/cms/v2/users", users, 200},
		{"query and body differ", "POST", "/?rest_route=/cms/v2/users", "rest_route=/cms/v2/posts", "", 400},
		{"query and body agree", "POST", "/?_method=GET&rest_route=/cms/v2/users", "rest_route=%2Fcms/v2/users", users, 200},
		{"public variable differs", "POST", "/?p=1", "p=2", "", 400},
		{"empty rest_route is a page", "GET", "/cms-json/cms/v2/users?rest_route=", "", "", 404},
		{"zero is a page", "GET", "/?rest_route=0", "", "", 200},
		{"list", "GET", "/?rest_route[]=/cms/v2/users", "", "", 400},
		{"no leading slash", "GET", "/?rest_route=cms/v2/users", "", "", 404},
		{"login script does not route", "GET", "/cms-login.php?rest_route=/cms/v2/users", "", "", 200},
		{"method parameter", "POST", "/cms-json/cms/v2/users?_method=get", "", users, 200},
		{"empty method", "GET", "/cms-json/cms/v2/users?_method=", "", "", 404},
		{"method list is fatal", "GET", "/cms-json/cms/v2/users?_method[]=GET", "", "", 500},
		{"head", "HEAD", "/cms-json/cms/v2/users", "", users, 200},
		{"missing", "GET", "/cms-json/cms/v2/nothing", "", "", 404},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			both(t, site.Options{}, func(t *testing.T, c *client) {
				target, body := row.target, c.branded(row.body)
				if c.wp {
					target = strings.NewReplacer("%63ms", "%77p", "CMS-JSON", "WP-JSON", "CMS", "WP").Replace(target)
				}
				a := c.send(row.method, target, body).want(row.status)
				want := strings.ReplaceAll(c.branded(row.route), "/CMS", map[bool]string{true: "/WP", false: "/CMS"}[c.wp])
				if got := c.last().Route; got != want {
					t.Fatalf("dispatched %q, want %q: %s", got, want, a.body)
				}
			})
		})
	}
}

func TestOverrideHeader(t *testing.T) {
	c := newClient(t, site.Options{})
	override := with("X-HTTP-Method-Override", "put")
	c.rest("GET", "/shop/v3/orders/"+id(c.info.Orders[0]), "", override, c.as("manager")).want(200)
	if got := c.last(); got.Method != http.MethodPut || !got.Ran {
		t.Fatalf("dispatched %+v", got)
	}
	c.rest("GET", "/shop/v3/orders/1?_method=GET", "", override, c.as("manager")).want(404, "shop_rest_shop_order_invalid_id")
}

func TestParameterPrecedence(t *testing.T) {
	c := newClient(t, site.Options{})
	order, other := id(c.info.Orders[0]), id(c.info.Orders[1])
	form := with("Content-Type", "application/x-www-form-urlencoded")
	rows := []struct {
		name, method, query, body string
		want                      string
		edits                     []edit
	}{
		{"path", "PUT", "", "{}", order, nil},
		{"query over path", "PUT", "?id=" + other, "", other, nil},
		{"form over path", "PUT", "", "id=" + other, other, nil},
		{"raw form without a type", "PUT", "", "id=" + other, other, []edit{func(r *http.Request) { r.Header.Del("Content-Type") }}},
		{"form over query", "POST", "?id=" + order, "id=" + other, other, nil},
		{"JSON over query", "PUT", "?id=" + order, `{"id":` + other + `}`, other, nil},
		{"null falls through", "GET", "?id=" + other, `{"x":null}`, other, nil},
		{"JSON on GET", "GET", "", `{"id":"` + other + `"}`, other, nil},
		{"JSON spelled as a float", "PUT", "", `{"id":` + other + `.0}`, other, nil},
		{"JSON escaped key", "PUT", "", `{"\u0069d":` + other + `}`, other, nil},
		{"odd JSON type", "PUT", "", `{"id":` + other + `}`, other, []edit{with("Content-Type", "text/plain,application/json")}},
		{"form is not read on GET", "GET", "", "id=" + other, order, []edit{form}},
		{"text is not read", "PUT", "", `{"id":` + other + `}`, order, []edit{with("Content-Type", "text/plain")}},
		{"top-level list", "PUT", "", `[1]`, order, nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a := c.rest(row.method, "/shop/v3/orders/"+order+row.query, row.body, append(row.edits, c.as("admin"))...).want(200)
			if got := fmt.Sprint(a.get("id")); got != row.want {
				t.Fatalf("order %s, want %s", got, row.want)
			}
		})
	}
	for _, body := range []string{`{"id":"13abc"}`, `{"id":13.7}`, `{"id":[13]}`, `{"id":null}`, `{"id":true}`, `{"id":""}`} {
		c.rest("PUT", "/shop/v3/orders/"+order, body, c.as("admin")).want(400, "rest_invalid_param")
	}
	for _, body := range []string{
		`{"id":`, `{"x":"\ud800"}`, "{\"x\":\"\xff\"}", `{} {}`, `{"x":` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + `}`,
	} {
		c.rest("PUT", "/shop/v3/orders/"+order, body, c.as("admin")).want(400, "rest_invalid_json")
	}
	c.rest("PUT", "/shop/v3/orders/"+order, `{"id":1,"id":`+other+`}`, c.as("admin")).want(200)
}

func TestMultipartForm(t *testing.T) {
	c := newClient(t, site.Options{})
	body := "--b\r\nContent-Disposition: form-data; name=\"rest_route\"\r\n\r\n/consent/v1/consent\r\n--b--\r\n"
	c.send("POST", "/", body, with("Content-Type", "multipart/form-data; boundary=b")).want(200)
	if got := c.last().Route; got != "/consent/v1/consent" {
		t.Fatalf("dispatched %q", got)
	}
}

func TestWrappings(t *testing.T) {
	c := newClient(t, site.Options{})
	a := c.rest("GET", "/cms/v2/none?_envelope", "").want(200)
	if a.get("status") != float64(404) || a.get("body", "code") != "rest_no_route" {
		t.Fatalf("envelope %s", a.body)
	}
	a = c.rest("GET", "/cms/v2/users?_jsonp=a.b", "").want(200)
	if !strings.HasPrefix(string(a.body), "/**/a.b([") {
		t.Fatalf("jsonp %s", a.body)
	}
	a = c.rest("GET", "/cms/v2/users?per_page=x&_jsonp=a.b", "").want(400)
	if !strings.HasPrefix(string(a.body), `/**/a.b({"code":"rest_invalid_param"`) {
		t.Fatalf("jsonp of an error %s", a.body)
	}
	c.rest("GET", "/cms/v2/users?_jsonp=a(b", "").want(400, "rest_callback_invalid")
	a = c.rest("GET", "/cms/v2/posts?_embed", "").want(200)
	if a.get("0", "_embedded", "author", "0", "slug") == nil {
		t.Fatalf("embed %s", a.body)
	}
	a = c.rest("GET", "/shop/store/v1/cart?_fields=totals.total_price,items", "").want(200)
	if a.get("totals", "total_price") != "0" || a.get("totals", "total_tax") != nil || a.get("coupons") != nil {
		t.Fatalf("fields %s", a.body)
	}
}

func TestOptions(t *testing.T) {
	c := newClient(t, site.Options{Release: "10.7"})
	a := c.rest("OPTIONS", "/shop/v3/orders/0/refunds", "").want(200)
	if a.get("endpoints", "1", "args", "amount", "type") != "string" {
		t.Fatalf("schema %s", a.body)
	}
	if a := c.rest("OPTIONS", "/shop/v3/none", "").want(200); string(a.body) != "[]" {
		t.Fatalf("missing route %s", a.body)
	}
}

func TestSubfolder(t *testing.T) {
	both(t, site.Options{Base: "/blog"}, func(t *testing.T, c *client) {
		c.rest("GET", "/cms/v2/users", "").want(200)
		c.send("GET", "/?rest_route=/cms/v2/users", "").want(200)
		for _, target := range []string{"/cms-json/cms/v2/users", "/?rest_route=/cms/v2/users", "/blogx/cms-json/"} {
			outside := *c
			outside.base = ""
			outside.send("GET", target, "").want(404)
		}
		cookie, _ := c.site.Nonce("admin")
		if cookie.Path != "/blog/" {
			t.Fatalf("cookie for %q", cookie.Path)
		}
		a := c.rest("GET", "/", "").want(200)
		if a.get("home") != "http://example.com/blog" {
			t.Fatalf("home %v", a.get("home"))
		}
	})
}

func TestPlainPermalinks(t *testing.T) {
	c := newClient(t, site.Options{Permalinks: "plain"})
	c.rest("GET", "/cms/v2/users", "").want(404)
	c.send("GET", "/index.php?rest_route=/cms/v2/users", "").want(200)
	c.send("PUT", "/?rest_route=/shop/v3/orders/"+id(c.info.Orders[0]), `{}`, c.as("manager")).want(200)
}

func TestFaults(t *testing.T) {
	t.Run("multilingual", func(t *testing.T) {
		c := newClient(t, site.Options{Fault: "multilingual"})
		c.rest("GET", "/cms/v2/taxonomies?lang=de", "").want(500, "internal_server_error")
		c.rest("GET", "/cms/v2/taxonomies", "").want(200)
		c.rest("GET", "/shop/store/v1/cart?lang=de", "").want(200)
		c.rest("OPTIONS", "/cms/v2/posts?lang=de", "").want(500, "internal_server_error")
		c.rest("POST", "/cms/v2/posts", "title=x&lang=de", c.as("admin")).want(500, "internal_server_error")
		c.rest("POST", "/cms/v2/posts", "title=x", c.as("admin")).want(201)
		for _, before := range []string{"6.8", "6.9"} { // docs/project/interface 9, rule 6
			c := newClient(t, site.Options{Fault: "multilingual", Core: before})
			c.rest("GET", "/cms/v2/taxonomies?lang=de", "").want(200)
			c.rest("POST", "/cms/v2/posts", "title=x&lang=de", c.as("admin")).want(201)
		}
	})
	t.Run("blocked root", func(t *testing.T) {
		c := newClient(t, site.Options{Fault: "blocked-root"})
		c.rest("GET", "/", "").want(404, "rest_no_route")
		c.rest("OPTIONS", "/", "").want(404, "rest_no_route")
		c.send("GET", "/?rest_route=/", "").want(404, "rest_no_route")
		c.rest("GET", "/cms/v2/users", "").want(200)
	})
	t.Run("firewall", func(t *testing.T) {
		c := newClient(t, site.Options{Fault: "firewall"})
		for _, target := range []string{
			"/cms-json/", "/cms-json", "/?rest_route=/", "/?rest.route=/", "/%63ms-json/", "/index.php/cms-json/", "/cms-json/cms/v2/posts", "/cms-json/?rest_route=",
		} {
			c.send("GET", target, "").want(403)
			c.send("OPTIONS", target, "").want(403)
		}
		c.send("POST", "/", "rest_route=/").want(403)
		c.send("GET", "/", "").want(200)
		c.send("GET", "/?rest_route=", "").want(200)
	})
	t.Run("stale rewrites, until permalinks are saved", func(t *testing.T) {
		c := newClient(t, site.Options{Fault: "stale-rewrites"})
		c.rest("GET", "/", "").want(404)
		c.send("GET", "/?rest_route=/", "").want(200)
		cookie, nonce := c.site.Nonce("admin")
		c.send("POST", "/cms-admin/options-permalink.php", "_cmsnonce=x", withCookie(cookie)).want(403)
		c.send("POST", "/cms-admin/options-permalink.php", "_cmsnonce="+nonce, withCookie(cookie)).want(200)
		c.rest("GET", "/", "").want(200)
	})
}

func TestBadOptions(t *testing.T) {
	for name, options := range map[string]site.Options{
		"platform": {Platform: "x"}, "permalinks": {Permalinks: "x"}, "release": {Release: "9"}, "core": {Core: "1"},
		"cookie-plugin": {CookiePlugin: "1"}, "fault": {Fault: "x"}, "base": {Base: "blog"}, "smtp": {SMTP: "x"},
		"install": {Install: "core/"}, "cookie-path": {CookiePath: "blog"}, "webhook": {Webhook: "x"},
		"login-allow": {LoginAllow: []string{"/consent/v1/consent"}},
	} {
		if _, err := site.New(options); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, base := range []string{"/", "/blog/", "/blog//x", "/../x"} {
		if _, err := site.New(site.Options{Base: base}); err == nil || !strings.Contains(err.Error(), "sub-folder such as /blog") {
			t.Errorf("base %s: error %v", base, err)
		}
	}
}
