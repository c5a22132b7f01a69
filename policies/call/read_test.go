package call

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// describe writes a call in one line.
func describe(c *Call) string {
	switch c.Kind {
	case Page:
		return "page"
	case Refused:
		return fmt.Sprintf("%d %s", c.Refusal.Status, c.Refusal.Reason)
	case Batch:
		s := "batch " + c.Method + " " + c.Route
		for _, p := range c.Parts {
			s += " | " + describe(p)
		}
		return s
	case Single:
	}
	s := c.Method + " " + c.Route
	if c.Base != "" && c.Form == Pretty {
		s += " at " + c.Base
	}
	if c.Foreign {
		s += " foreign"
	}
	if id, ok, err := orderOf(c); err != nil {
		s += " id?"
	} else if ok {
		s += " id " + id
	}
	return s
}

// wordpress is the row of the table that most tests read by.
func wordpress() platforms.Platform {
	p, _ := platforms.ByName("wordpress")
	return p
}

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
	partType = "multipart/form-data; boundary=B"
)

type readTest struct{ method, target, contentType, body, want string }

func runReads(t *testing.T, rd *Reader, tests []readTest) {
	t.Helper()
	for _, tt := range tests {
		c := rd.Read(request(tt.method, tt.target, tt.contentType, tt.body), nil)
		if got := describe(c); got != tt.want {
			t.Errorf("%s %.100s %.100s: %s, want %s", tt.method, tt.target, tt.body, got, tt.want)
		}
		c.Close()
	}
}

func TestPaths(t *testing.T) {
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/", "", "", "page"},
		{"GET", "/wp-json", "", "", "GET /"},
		{"GET", "/wp-json/", "", "", "GET /"},
		{"GET", "//wp-json/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/wp-json/WP/v2/Users/", "", "", "GET /WP/v2/Users"},
		{"GET", "/en/wp-json/wp/v2/users", "", "", "GET /wp/v2/users at /en"},
		{"GET", "/cms-json/cms/v2/users", "", "", "GET /cms/v2/users foreign"},
		{"GET", "/WP-JSON/wp/v2/users", "", "", "400 path"},
		{"GET", "/about-wp-json/", "", "", "page"},
		{"GET", "/wp-json-explained/wp/v2/users", "", "", "page"},
		{"GET", "/blogwp-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/%77p-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/%2577p-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-json%2Fwp/v2/users", "", "", "400 path"},
		{"GET", "/wp-json/wp%2Fv2/users", "", "", "400 path"},
		{"GET", "/wp-json/wp/v2/users%0A", "", "", "400 path"},
		{"GET", "/wp-json%0A/x", "", "", "400 path"},
		{"GET", "/wp-json/x/../wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-json/%2e%2e/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-json/x/wp-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-json/wp/v2/tags/%C3%BC", "", "", "GET /wp/v2/tags/%C3%BC"},
		{"GET", "/wp-json/wp/v2/templates/theme//home", "", "", "GET /wp/v2/templates/theme//home"},
		{"GET", `/wp-json/wp/v2/users\`, "", "", "400 target"},
		{"GET", "/index.php/wp-json/wp/v2/users", "", "", "400 script_path"},
		{"GET", "/index.php%2Fwp-json/wp/v2/users", "", "", "400 script_path"},
		{"GET", "/index.php/2026/hello", "", "", "page"},
		{"GET", "/wp-json/wc/v3/orders/7", "", "", "GET /wc/v3/orders/7 id 7"},
		{"GET", "/wp-json/wp/v2/users?x=wp-json/wc/", "", "", "400 key_marker"},
		{"GET", "/x/wp-json/wc/v3/orders?x=wp-json%2Fwc/", "", "", "GET /wc/v3/orders at /x"},
		{"GET", "http://example.com/wp-json/wp/v2/users", "", "", "400 target"},
		{"PROPFIND", "/wp-json/wp/v2/users", "", "", "PROPFIND /wp/v2/users"},
		{"PropFind", "/wp-json/wp/v2/users", "", "", "400 method"},
		{"get", "/", "", "", "400 method"},
		{"CONNECT", "/wp-json/wp/v2/users", "", "", "400 method"},
		{"CONNECT", "/socket", "", "", "400 method"},
		{"CONNECT", "/wp-json/wp/v2/users?_method=GET", "", "", "400 method"},
		{"PROPFIND", "/files/", "", "", "page"},
	})
}

func TestBase(t *testing.T) {
	runReads(t, readerFor("subfolder"), []readTest{
		{"GET", "/blog/wp-json/wp/v2/users", "", "", "GET /wp/v2/users at /blog"},
		{"GET", "/wp-json/wp/v2/users", "", "", "404 outside_base"},
		{"GET", "/blog/en/wp-json/wp/v2/users", "", "", "GET /wp/v2/users at /blog/en"},
		{"GET", "/blogs/wp-json/wp/v2/users", "", "", "404 outside_base"},
		{"GET", "/cms-json/cms/v2/users", "", "", "GET /cms/v2/users foreign"},
		{"GET", "/BLOG/wp-json/wp/v2/users", "", "", "404 outside_base"},
		{"GET", "/blogwp-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/BLOGwp-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/blog/mywp-json/", "", "", "page"},
		{"GET", "/blog/?rest_route=/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/?rest_route=/wp/v2/users", "", "", "404 outside_base"},
		{"GET", "/blog/../?rest_route=/wp/v2/users", "", "", "400 path"},
		{"POST", "/blog/wp-admin/admin-ajax.php", formType, "rest_route=/wp/v2/users", "POST /wp/v2/users"},
		{"POST", "/wp-admin/admin-ajax.php", formType, "rest_route=/wp/v2/users", "404 outside_base"},
	})
}

func TestPrefix(t *testing.T) {
	p, _ := platforms.ByName("wordpress")
	runReads(t, NewReader(Config{Platform: p, Prefix: "api"}), []readTest{
		{"GET", "/api/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/api/wc/v3/orders?x=api/wc", "", "", "400 key_marker"},
		{"GET", "/mycms-json/", "", "", "page"},
		// The site may have the usual prefix after all, which then must not be open.
		{"GET", "/wp-json/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/%77p-json/wp/v2/users", "", "", "400 path"},
		{"POST", "/WP-JSON/wp/v2/users", "", "", "400 path"},
		{"GET", "/index.php/wp-json/wp/v2/users", "", "", "400 script_path"},
		{"GET", "/api/wp-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/wp-json/api/v1/users", "", "", "400 path"},
		{"GET", "/wp-json/wp/v2/users?rest_route=/wp/v2/posts", "", "", "400 two_routes"},
		{"GET", "/wp-json/wc/v3/orders", "", "", "GET /wc/v3/orders"},
		{"GET", "/wp-json/wp/v2/users?x=wp-json/wc/", "", "", "400 key_marker"},
		{"GET", "/api/wp/v2/users?x=wp-json/wc/", "", "", "400 key_marker"},
		{"GET", "/about-wp-json/", "", "", "page"},
	})
	runReads(t, NewReader(Config{Platform: p, Prefix: "cms-json"}), []readTest{ // the other platform's
		{"GET", "/", "", "", "page"},
		{"GET", "/about", "", "", "page"},
		{"GET", "/wp-json/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/cms-json/wp/v2/users", "", "", "GET /wp/v2/users"},
	})
}

func TestQueries(t *testing.T) {
	many := strings.Repeat("a=&", 1001)
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/?rest_route=/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/any/page?rest.route=/wp/v2/users/", "", "", "GET /wp/v2/users"},
		{"GET", "/index.php?rest%5Broute=/wp/v2/users", "", "", "GET /wp/v2/users"},
		{"GET", "/?rest_route=/a&rest+route=/b", "", "", "400 two_routes"},
		{"GET", "/?rest_route=", "", "", "page"},
		{"GET", "/?rest_route=0", "", "", "page"},
		{"GET", "/?rest_route=/", "", "", "GET /"},
		{"GET", "/?rest[route]=/wp/v2/users", "", "", "page"},
		{"GET", "/?rest_route[]=/wp/v2/users", "", "", "400 variables"},
		{"GET", "/?rest_route=/wp/v2/users%0A", "", "", "400 route"},
		{"GET", "/?rest_route=/wp/v2/users%5C", "", "", "400 route"},
		{"GET", "/?" + many + "x=1", "", "", "page"},
		{"GET", "/?" + many + "rest_route=/a", "", "", "400 variables"},
		{"GET", "/wp-json/a?" + many, "", "", "400 variables"},
		{"GET", "/wp-json/a?rest_route=/b", "", "", "400 two_routes"},
		{"GET", "/wp-json/a?rest_route=/A/", "", "", "GET /A"},
		{"GET", "/wp-json/a?rest_route=", "", "", "400 two_routes"},
		{"GET", "/cms-json/a?rest_route=/a", "", "", "400 two_routes"},
		{"GET", "/wp-login.php/?rest_route=/a", "", "", "400 script_path"},
		{"GET", "/?_method=delete&rest_route=/a", "", "", "DELETE /a"},
		{"GET", "/wp-json/a?.method=PUT", "", "", "PUT /a"},
		{"GET", "/wp-json/a?_method=", "", "", "400 method"},
		{"GET", "/wp-json/a?_method=FOO", "", "", "400 method"},
		{"GET", "/wp-json/a?_method[]=x", "", "", "400 variables"},
		{"GET", "/wp-json/a?_method=d%C4%B1", "", "", "400 method"},
		{"GET", "/wp-json/a?_method=po%C5%BFt", "", "", "400 method"}, // a long s, in upper case an S
		{"GET", "/wp-json/a?_method=connect", "", "", "400 method"},
		{"GET", "/wp-json/wc/v3/orders/7?+id=9", "", "", "GET /wc/v3/orders/7 id 9"},
		{"GET", "/wp-json/wc/v3/orders/7/refunds/1?order.id=9&id=5", "", "", "GET /wc/v3/orders/7/refunds/1 id 9"},
		{"GET", "/wp-json/wc/v3/orders/7?id[]=9", "", "", "GET /wc/v3/orders/7 id?"},
		{"GET", "/wp-json/wc/v3/orders/7?id=0x9", "", "", "GET /wc/v3/orders/7 id?"},
	})
}

// Which install answers a call in the query form depends on its path, so
// questions go there too.
func TestQueryFormAsksAtItsOwnPath(t *testing.T) {
	for _, path := range []string{"/", "/index.php", "/staging/nope.css", "/shop/", "/caf%C3%A9/"} {
		c := readerFor("root").Read(request("GET", path+"?rest_route=/a", "", ""), nil)
		if c.Kind != Single || c.Form != Query || c.Base != path {
			t.Errorf("%s: %s, asks at %q", path, describe(c), c.Base)
		}
	}
}

// TestScripts: a server may run the front controller in the place of the two scripts, and for some
// clients only. So their forms are read, however large they are and whoever is logged in. Editors
// save whole pages there: a form that names no route may be as large as an upload.
func TestScripts(t *testing.T) {
	rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Body: 100 << 10, Upload: 1 << 20}})
	padding := strings.Repeat("x", 200<<10)
	file := "--B\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n" + padding
	named := "\r\n--B\r\nContent-Disposition: form-data; name=rest_route\r\n\r\n/b\r\n--B--\r\n"
	for _, script := range []string{"/wp-admin/admin-ajax.php", "/wp-admin/async-upload.php"} {
		for _, tt := range []struct{ contentType, body, want string }{
			{formType, "rest_route=/b", "POST /b"},
			{formType, "x=" + padding[:80<<10] + "&rest_route=/b", "POST /b"},
			{formType, "x=" + padding + "&rest_route=/b", "413 body_limit"},
			{formType, "x=" + padding, "page"},
			{formType, "x=" + strings.Repeat(padding, 6), "413 body_limit"},
			{partType, file + named, "POST /b"},
			{partType, file + "\r\n--B--\r\n", "page"},
			{partType, strings.Repeat(file, 6), "413 body_limit"},
		} {
			r := post(script, tt.contentType, strings.NewReader(tt.body))
			r.Header.Set("Cookie", "wordpress_logged_in_abc=forged")
			c := rd.Read(r, nil)
			if got := describe(c); got != tt.want {
				t.Errorf("%s, %d bytes: %s, want %s", script, len(tt.body), got, tt.want)
			}
			c.Close()
		}
		c := rd.Read(post("/contact/", formType, strings.NewReader("x="+padding)), nil)
		if got := describe(c); got != "413 body_limit" {
			t.Errorf("a page: %s", got)
		}
		c.Close()
	}
}

func TestForms(t *testing.T) {
	part := "--B\r\nContent-Disposition: form-data; name='rest.route'\r\n\r\n/b\r\n--B--\r\n"
	runReads(t, readerFor("root"), []readTest{
		{"POST", "/contact/", formType, "name=x", "page"},
		{"POST", "/contact/", formType, "rest.route=/b", "POST /b"},
		{"POST", "/contact/", formType, "rest_route=", "page"},
		{"POST", "/contact/", partType, part, "POST /b"},
		{"POST", "/contact/", "multipart/form-data", part, "page"}, // PHP reads no part without a boundary
		{"POST", "/contact/", `multipart/form-data; boundary="B`, part, "page"},
		{"POST", "/contact/", "", "rest_route=/b", "400 body_type"},
		{"POST", "/contact/", "", "name=x", "page"},
		{"POST", "/contact/", "text/plain", "rest_route=/b", "page"},
		{"POST", "/wp-json/a", formType, "rest_route=/b", "400 two_routes"},
		{"POST", "/?rest_route=/a", formType, "rest_route=/b", "400 two_routes"},
		{"POST", "/?rest_route=/b", formType, "rest_route=%2Fb", "POST /b"},
		{"POST", "/wp-admin/admin-ajax.php", formType, "rest_route=/b", "POST /b"},
		{"POST", "/wp-admin/async-upload.php", partType, part, "POST /b"},
		{"POST", "/wp-admin/admin-ajax.php", formType, "action=heartbeat", "page"},
		{"POST", "/wp-admin/admin-ajax.php/", formType, "rest_route=/b", "400 script_path"},
		{"POST", "/x/wp-admin/admin-ajax.php", formType, "rest_route=/b", "POST /b"},
		{"PUT", "/contact/", formType, "rest_route=/b", "page"},
		{"GET", "/contact/", formType, "rest_route=/b", "page"},
		{"POST", "/wp-json/wc/v3/orders/7", formType, "id=9", "POST /wc/v3/orders/7 id 9"},
		{"POST", "/wp-json/wc/v3/orders/7", "", "id=9", "POST /wc/v3/orders/7 id?"},
		{"PUT", "/wp-json/wc/v3/orders/7", "", "id=9", "PUT /wc/v3/orders/7 id 9"},
		{"PUT", "/wp-json/wc/v3/orders/7?id=8", formType, "x=9", "PUT /wc/v3/orders/7 id 8"},
		{"PUT", "/wp-json/wc/v3/orders/7", partType, "--B\r\nContent-Disposition: form-data; name=id\r\n\r\n9\r\n--B--", "PUT /wc/v3/orders/7 id 7"},
		{"POST", "/wp-json/wc/v3/orders/7?_method=GET", formType, "id=9", "GET /wc/v3/orders/7 id 7"},
	})
}

func TestJSON(t *testing.T) {
	read := func(body, want string) readTest {
		return readTest{"PUT", "/wp-json/wc/v3/orders/7?id=8", jsonType, body, "PUT /wc/v3/orders/7 " + want}
	}
	runReads(t, readerFor("root"), []readTest{
		read(`{"id":9}`, "id 9"), read(`{"id":"9"}`, "id 9"), read(`{"\u0069d":9}`, "id 9"), read(`{"id":9.0}`, "id?"), read(`{"id":9e0}`, "id?"),
		read(`{"id":null}`, "id 8"), read(`{}`, "id 8"), read(`[9]`, "id 8"), read(`9`, "id 8"), read(`{"x":{"id":9}}`, "id 8"),
		read(`{"id":9.5}`, "id?"), read(`{"id":-9}`, "id?"), read(`{"id":[9]}`, "id?"), read(`{"id":true}`, "id?"), read(`{"id":" 9"}`, "id?"),
		read(`{"id":9007199254740993}`, "id?"), read(`{"id":1E400}`, "id?"), read(`{"id":9,"id":9}`, "id?"), read(`{"x":{"a":1,"a":2}}`, "id 8"),
		read(`{"id":9,}`, "id?"), read("\xef\xbb\xbf{}", "id?"), read(`{"x":"\ud800"}`, "id?"), read("{\"x\":\"\xff\"}", "id?"), read(`{} x`, "id?"),
		read(`9 x`, "id?"), read(`[] {"id":9}`, "id?"),
		read(strings.Repeat(`{"a":`, 65)+"1"+strings.Repeat("}", 65), "id?"),
		{"PUT", "/wp-json/wc/v3/orders/7", "text/plain,application/json", `{"id":9}`, "PUT /wc/v3/orders/7 id 9"},
		{"PUT", "/wp-json/wc/v3/orders/7", "text/json", `{"id":9}`, "PUT /wc/v3/orders/7 id 7"},
	})
}

func TestBatches(t *testing.T) {
	core := func(body, want string) readTest { return readTest{"POST", "/wp-json/batch/v1", jsonType, body, want} }
	one := func(path string) string { return fmt.Sprintf(`{"requests":[{"path":%q}]}`, path) }
	runReads(t, readerFor("root"), []readTest{
		core(`{"requests":[{"path":"/wp/v2/posts/7?id=9","method":"PUT","body":{"a":1}},{"path":"/a"}]}`, "batch POST /batch/v1 | PUT /wp/v2/posts/7 | POST /a"),
		core(`{"requests":[{"path":"/wc/v3/orders/7?id=8","body":{"id":9}}]}`, "batch POST /batch/v1 | POST /wc/v3/orders/7 id 9"),
		core(`{"requests":[]}`, "batch POST /batch/v1"), core(`{}`, "batch POST /batch/v1"),
		core(one("//evil/a"), "400 batch"), core(one("///"), "400 batch"), core(one("http://x/a"), "400 batch"), core(one("a"), "400 batch"),
		core(one("/a#b"), "400 batch"), core(one("/a:80"), "400 batch"), core(one("/a\n"), "400 batch"), core(`{"requests":[{"path":"/a?b\u0001"}]}`, "400 batch"),
		core(one("/batch/v1"), "400 nested_batch"), core(one("/Batch/v1/"), "400 nested_batch"), core(one("/wc/v3/orders/batch"), "400 nested_batch"),
		core(`{"requests":[{"path":"/a","method":"GET"}]}`, "400 batch"), core(`{"requests":{"a":{"path":"/a"}}}`, "400 batch"),
		core(one("/a?b#c"), "400 batch"), core(one(`/a\b`), "400 batch"), core(one(`/a?b\c`), "400 batch"),
		core(one("/a?"+strings.Repeat("x&", 1001)), "400 variables"), core(one("/a?"+strings.Repeat("x[", 70)), "400 variables"),
		core(`{"requests":[{"path":"/wc/v3/orders/7","body":null}]}`, "batch POST /batch/v1 | POST /wc/v3/orders/7 id 7"),
		core(`{"requests":[`+strings.Repeat(`{"path":"/a"},`, 25)+`{"path":"/a"}]}`, "413 batch_limit"),
		{"POST", "/wp-json/batch/v1", formType, "requests[0][path]=/a&requests[1][path]=/b&requests[1][method]=PUT", "batch POST /batch/v1 | POST /a | PUT /b"},
		{"POST", "/wp-json/batch/v1", formType, "requests[x][path]=/a", "400 batch"},
		{"POST", "/wp-json/batch/v1", formType, strings.Repeat("requests[][path]=/a&", 26), "413 batch_limit"},
		{"GET", "/wp-json/batch/v1?_method=POST&requests[0][path]=/a", "", "", "batch POST /batch/v1 | POST /a"},
		{"POST", "/wp-json/batch/v1?_method=GET", jsonType, one("/a"), "400 batch"},
		{"POST", "/wp-json/batch/v1?_method=PUT", jsonType, one("/a"), "400 batch"},
		{"POST", "/wp-json/wc/v3/orders/batch?_method=DELETE", jsonType, `{"update":[{"id":7}]}`, "400 batch"},
		{"POST", "/wp-json/wc/v3/orders/batch?_method=PUT", jsonType, `{"update":[{"id":7}]}`, "batch PUT /wc/v3/orders/batch | PUT /wc/v3/orders/7 id 7"},
		{"GET", "/wp-json/batch/v1", "", "", "GET /batch/v1"},
		{"OPTIONS", "/wp-json/wc/v3/orders/batch", "", "", "OPTIONS /wc/v3/orders/batch"},
		{"POST", "/wp-json/wc/store/batch", jsonType, one("/wc/store/cart"), "batch POST /wc/store/batch | POST /wc/store/cart"},
		{
			"POST", "/wp-json/wc/v3/orders/batch", jsonType, `{"create":[{"id":1}],"update":[{"id":"07"}],"delete":[8]}`,
			"batch POST /wc/v3/orders/batch | POST /wc/v3/orders | PUT /wc/v3/orders/7 id 7 | DELETE /wc/v3/orders/8 id 8",
		},
		{"POST", "/wp-json/wc/v4/products/batch", jsonType, `{"delete":[7]}`, "batch POST /wc/v4/products/batch | DELETE /wc/v4/products/7"},
		{"POST", "/wp-json/wc/vx/products/batch", jsonType, `{"delete":[7]}`, "POST /wc/vx/products/batch"},
		{"PUT", "/wp-json/wc/v2/orders/batch?update[0][id]=5", formType, "delete[]=6", "batch PUT /wc/v2/orders/batch | PUT /wc/v2/orders/5 id 5 | DELETE /wc/v2/orders/6 id 6"},
		{
			"POST", "/wp-json/wc-analytics/settings/general/batch", jsonType, `{"update":[{"id":"woocommerce_currency"}]}`,
			"batch POST /wc-analytics/settings/general/batch | PUT /wc-analytics/settings/general/woocommerce_currency",
		},
		{"POST", "/wp-json/wc/v3/orders/batch", jsonType, `{"update":[{"id":"13abc"}]}`, "400 batch"},
		{"POST", "/wp-json/wc/v3/orders/batch?id=9", jsonType, `{"update":[{"status":"x"}]}`, "400 batch"},
		{"POST", "/wp-json/wc/v3/orders/batch", jsonType, `{"delete":[[13]]}`, "400 batch"},
		{"PATCH", "/wp-json/wc/v3/orders/batch", jsonType, `{"delete":[5]}`, "batch PATCH /wc/v3/orders/batch | DELETE /wc/v3/orders/5 id 5"},
		{
			"POST", "/wp-json/wc/v3/orders/batch?status=x", jsonType, `{"create":[{}],"update":[{"id":5}]}`,
			"batch POST /wc/v3/orders/batch | POST /wc/v3/orders | PUT /wc/v3/orders/5 id 5",
		},
		{"POST", "/wp-json/wc/v3/settings/general/batch", jsonType, `{"update":[{"id":"a/b"}]}`, "400 batch"},
		{"POST", "/wp-json/wc/v3/settings/batch", jsonType, `{"update":[{"group_id":"a","id":"b"}]}`, "batch POST /wc/v3/settings/batch | PUT /wc/v3/settings/a/b"},
		{
			"POST", "/wp-json/wc/v3/orders/batch", jsonType,
			`{"create":[` + strings.Repeat("{},", 59) + `{}],"delete":[` + strings.Repeat("1,", 59) + `1]}`, "413 batch_limit",
		},
		{"POST", "/wp-json/wc/v3/orders/batch", jsonType, `{"delete":[` + strings.Repeat("1,", 100) + `1]}`, "413 batch_limit"},
	})
}

// What the platform takes as it stands, and something behind the gateway may
// straighten, is one of two routes.
func TestRoutes_Straight(t *testing.T) {
	for target, want := range map[string]string{
		"/wp-json/wc-stripe/v1/webhoo%6b": "400 route", "/?rest_route=/wc-stripe/v1/webhoo%256b": "400 route", "/wp-json/a/v1//b": "400 route", "/?rest_route=//a/v1": "400 route",
		"/?rest_route=/a/%252e%252ex": "400 route", "/wp-json/wp/v2/templates//home": "400 route",
		"/wp-json/wp/v2/templates/t//home":                   "GET /wp/v2/templates/t//home",
		"/?rest_route=/cms/v2/template-parts/t//x/revisions": "GET /cms/v2/template-parts/t//x/revisions",
		"/wp-json/a/caf%C3%A9":                               "GET /a/caf%C3%A9",
		"/?rest_route=/a/x%2520y":                            "GET /a/x%20y",
	} {
		if got := describe(readerFor("root").Read(request("GET", target, "", ""), nil)); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	for route, want := range map[string]string{
		"/wp/v2/users": "/wp/v2/users", "/WP/v2": "/wp/v2", "wp/v2": "/wp/v2", "/wp/v2/templates/t//h": "/wp/v2/templates/t/h", "/%C3%BC": "/%c3%bc", "/a%": "/a%", "/a///b": "/a/b",
	} {
		if got := routes.Key(route); got != want {
			t.Errorf("Key(%q) = %q, want %q", route, got, want)
		}
	}
}

func typed(v any) string { return fmt.Sprintf("%T %v", v, v) }

// Bodies of GET count as on any other method; those of HEAD and OPTIONS reach
// PHP through some front-ends only (docs/platform I.3, I.6).
func TestBodiesOfReads(t *testing.T) {
	const order = "/wp-json/wc/v3/orders/7"
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/wp-json/wp/v2/posts", jsonType, "{}", "GET /wp/v2/posts"},
		{"GET", "/wp-json/wp/v2/posts", formType, "x=1", "GET /wp/v2/posts"},
		{"GET", order, jsonType, "{}", "GET /wc/v3/orders/7 id 7"},
		{"GET", order, jsonType, `{"id":9}`, "GET /wc/v3/orders/7 id 9"},
		{"GET", order, jsonType, `{"id":null}`, "GET /wc/v3/orders/7 id 7"},
		{"GET", order, jsonType, `{"id":`, "GET /wc/v3/orders/7 id?"},
		{"GET", order, formType, "id=9", "GET /wc/v3/orders/7 id 7"},
		{"GET", order, "", "id=9", "GET /wc/v3/orders/7 id 7"},
		{"GET", order + "?_method=PUT", jsonType, `{"id":9}`, "PUT /wc/v3/orders/7 id?"},
		{"GET", order + "?_method=PUT", formType, "id=9", "PUT /wc/v3/orders/7 id?"},
		{"GET", order + "?_method=PUT", "", "id=9", "PUT /wc/v3/orders/7 id?"},
		{"GET", order + "?_method=POST", formType, "id=9", "POST /wc/v3/orders/7 id 7"},
		{"GET", "/wp-json/wc/v3/orders/batch?_method=POST", jsonType, `{"update":[{"id":9}]}`, "400 body_type"},
		{"HEAD", order, jsonType, "{}", "HEAD /wc/v3/orders/7 id 7"},
		{"HEAD", order, jsonType, `{"id":9}`, "HEAD /wc/v3/orders/7 id?"},
		{"HEAD", order, formType, "id=9", "HEAD /wc/v3/orders/7 id 7"},
		{"OPTIONS", order, jsonType, `{"id":9}`, "OPTIONS /wc/v3/orders/7 id?"},
		{"OPTIONS", order + "?_method=PUT", formType, "id=9", "PUT /wc/v3/orders/7 id?"},
		{"HEAD", order + "?_method=PUT&id=9", formType, "x=1", "PUT /wc/v3/orders/7 id 9"},
		{"HEAD", "/wp-json/wc/v3/orders/batch?_method=POST", jsonType, `{"update":[{"id":9}]}`, "400 body_type"},
	})
}

// A read of unknown length, as HTTP/3 sends every one, is what it is without a
// body, and is not waited for.
func TestReadsOfUnknownLength(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE"} {
		for target, route := range map[string]string{"/wp-json/wp/v2/posts": "/wp/v2/posts", "/?rest_route=/wp/v2/posts": "/wp/v2/posts"} {
			r := request(method, target, "", "")
			r.ContentLength, r.Body = -1, io.NopCloser(iotest.ErrReader(errors.New("read")))
			if got := describe(readerFor("root").Read(r, nil)); got != method+" "+route {
				t.Errorf("%s %s: %s", method, target, got)
			}
		}
		r := request(method, "/wp-json/wc/v3/orders/7", jsonType, "")
		r.ContentLength, r.Body = -1, io.NopCloser(strings.NewReader(""))
		if got := describe(readerFor("root").Read(r, nil)); got != method+" /wc/v3/orders/7 id 7" {
			t.Errorf("%s: %s", method, got)
		}
	}
}
