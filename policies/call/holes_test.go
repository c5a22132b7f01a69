package call

import (
	"net/url"
	"strings"
	"testing"
)

// The ways past the gateway that an attack found: each was read as a page, and
// ran a call (docs/security-model.md).

// TestHoles_ContentTypes: of several types PHP takes another one than we do.
func TestHoles_ContentTypes(t *testing.T) {
	part := "--B\r\nContent-Disposition: form-data; name=rest_route\r\n\r\n/wp/v2/users\r\n--B--\r\n"
	for _, types := range [][]string{
		{"multipart/form-data; boundary=B", "multipart/form-data; boundary=Z"},
		{"multipart/form-data; boundary=Z", "multipart/form-data; boundary=B"},
		{"multipart/form-data; boundary=B", "text/plain"},
		{"application/json", "multipart/form-data; boundary=B"},
		{"application/x-www-form-urlencoded", "application/x-www-form-urlencoded"},
		{"multipart/form-data; boundary=B, multipart/form-data; boundary=Z"},
		{"text/plain, multipart/form-data; boundary=B"},
		{"", ""},
	} {
		for _, target := range []string{"/", "/?_method=GET", "/about/", "/wp-admin/admin-ajax.php", "/wp-json/wp/v2/posts"} {
			for _, body := range []string{part, "rest_route=/wp/v2/users", "x"} {
				r := request("POST", target, "", body)
				r.Header["Content-Type"] = types
				if got := describe(readerFor("root").Read(r, nil)); got != "400 repeated_header" {
					t.Errorf("%s %q: %s", target, types, got)
				}
			}
		}
	}
}

// TestHoles_Blanks: PHP drops any number of blanks before a name.
func TestHoles_Blanks(t *testing.T) {
	const variable = "rest_route=%2Fwp%2Fv2%2Fusers"
	for _, n := range []int{1, 10_923, 30_000, 87_382} {
		for _, blank := range []string{"%20", "+ %20"} {
			for _, before := range []string{"", "a=" + strings.Repeat("b", 70_000) + "&"} {
				for _, target := range []string{"/about/", "/wp-json/complianz/v1/track"} {
					want := "POST /wp/v2/users"
					if strings.HasPrefix(target, "/wp-json") {
						want = "400 two_routes"
					}
					c := readerFor("root").Read(request("POST", target, formType, before+strings.Repeat(blank, n)+variable), nil)
					if got := describe(c); got != want {
						t.Errorf("%d times %q behind %.10q, %s: %s", n, blank, before, target, got)
					}
					c.Close()
				}
			}
		}
	}
}

// TestHoles_GivenUp: what the reader of parts gives up on is no page, whatever
// stands in it.
func TestHoles_GivenUp(t *testing.T) {
	part := func(boundary, name string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n/wp/v2/users\r\n"
	}
	file := "--B\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nx--B\r\ny\r\n"
	long := strings.Repeat("B", 1100)
	for _, name := range []string{"rest_\x00x\r\nroute", "rest_route", "rest_\\\nroute", "x"} {
		for boundary, body := range map[string]string{
			long: part(long, name) + "--" + long + "--\r\n",
			"B":  file + part("B", name) + "--B--\r\n",
		} {
			for _, target := range []string{"/about/", "/wp-json/complianz/v1/track"} {
				r := request("POST", target, "multipart/form-data; boundary="+boundary, body)
				if got := describe(readerFor("root").Read(r, nil)); got != "400 body" {
					t.Errorf("%.3s %q %s: %s", boundary, name, target, got)
				}
			}
		}
	}
	// Many parts alone are an honest form of a site with other limits.
	many := strings.Repeat(part("B", "x"), 1500)
	for body, want := range map[string]string{
		many + "--B--\r\n": "page",
		many + part("B", "rest_\x00x\r\nroute") + "--B--\r\n":                  "400 body",
		part("B", "rest.route") + many + "--B--\r\n":                           "POST /wp/v2/users",
		part("B", "rest_route") + many + part("B", "rest route"):               "400 body",
		strings.Repeat(part("B", "x"), 100) + part("B", "rest_\x00x\r\nroute"): "POST /wp/v2/users",
	} {
		c := readerFor("root").Read(request("POST", "/about/", partType, body), nil)
		if got := describe(c); got != want {
			t.Errorf("%d bytes: %s, want %s", len(body), got, want)
		}
		c.Close()
	}
}

// TestHoles_Targets: what is not a plain path with a query is refused on pages,
// too: front-ends take the path from where they like.
func TestHoles_Targets(t *testing.T) {
	for _, target := range []string{
		"foo:wp-json/wp/v2/users", "http:wp-json/wp/v2/users", "foo:/wp-json/wp/v2/users", "http://other.example/about/", "foo:about", "*",
		"/about/#x", "/?x=1#&rest_route=/wp/v2/users", "/?rest_route=/wp/v2/users#&rest_route=0",
	} {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			r := request(method, "/", "", "")
			r.URL = u
			if got := describe(readerFor("root").Read(r, nil)); got != "400 target" {
				t.Errorf("%s %s: %s", method, target, got)
			}
			if got := describe(readerFor("root").Read(request(method, "/index.php", "", ""), u)); got != "400 target" {
				t.Errorf("%s %s, rewritten: %s", method, target, got)
			}
		}
	}
}

// TestHoles_Hosts: a header Host that says what :authority says is none too many.
func TestHoles_Hosts(t *testing.T) {
	for host, want := range map[string]string{"example.com": "GET /a", "other.example": "400 repeated_header", "example.com\n" + "example.com": "400 repeated_header"} {
		r := request("GET", "/wp-json/a", "", "")
		r.Header["Host"] = strings.Split(host, "\n")
		if got := describe(readerFor("root").Read(r, nil)); got != want {
			t.Errorf("%q: %s", host, got)
		}
	}
}

// A variable that only some releases of PHP set has no certain reading.
func TestReservedNames(t *testing.T) {
	runReads(t, readerFor("root"), []readTest{
		{"PUT", "/wp-json/wc/v3/orders/batch?update[__Host-0][id]=9", "", "", "400 variables"},
		{"PUT", "/wp-json/wc/v3/orders/batch?update%5B__Secure-0%5D[id]=9", "", "", "400 variables"},
		{"PUT", "/wp-json/wc/v3/orders/batch", formType, "update[0][__Host-x][id]=9", "400 variables"},
		{"POST", "/wp-json/wc/v3/orders/batch", partType, "--B\r\nContent-Disposition: form-data; name=\"update[__Host-0][id]\"\r\n\r\n9\r\n--B--", "400 body"},
		{"PUT", "/wp-json/wc/v3/orders/7?meta[My-Host-Name]=9", "", "", "PUT /wc/v3/orders/7 id 7"},
		{"GET", "/?a[__Host-x]=1", "", "", "page"},
	})
}

// TestHoles_PathInfo: what the platform cuts out of the address makes the prefix of
// text that does not hold it.
func TestHoles_PathInfo(t *testing.T) {
	for _, path := range []string{
		"/index.php/wp%2D/index.phpjson/wp/v2/users%0A/../../../../../index.php", "/index.php/%77p-/index.phpjson/wp/v2/users%0A/../../../../../index.php",
		"/index.php/w/index.phpp%2Djson/wp/v2/users%0A/../../../../../index.php", "/index.php/x/../q/indexXphp", "/index.php/x/%2e%2e/index.php",
		"/index.php/x%2f..%2findex.php", "/index.php/x/%252e%252e/index.php", "/index.php//../index.php", "/index/x/../index.php", "/a/../b", "/a/./b", "/..", "/a/%2E",
	} {
		for _, base := range []string{"", "/blog"} {
			for _, method := range []string{"GET", "PUT", "POST"} {
				want := "400 path"
				if got := describe(readerFor("root").Read(request(method, base+path, "", ""), nil)); got != want {
					t.Errorf("%s %s: %s", method, base+path, got)
				}
			}
		}
	}
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/wp-/index.phpjson/wp/v2/users", "", "", "400 script_path"},
		{"GET", "/wp/index.php%2Djson/wp/v2/users", "", "", "400 script_path"},
		{"GET", "/wp-json/wp/v2/us/index.phpers", "", "", "400 script_path"},
		{"GET", "/wp-json/0/index.php", "", "", "400 script_path"},
		{"GET", "/wp%2D/0json/wp/v2/users%0A/x.php/0%3F.php", "", "", "400 script_path"},
		{"GET", "/wp-/json%2Fwp%2Fv2%2Fusers%0Ax.php/%3F.php", "", "", "400 script_path"},
		{"GET", "/wp%2D/0json/wp/v2/themes/x.php/0", "", "", "400 script_path"},
		{"GET", "/wp-/0json/wp/v2/themes/x.php/y.php/0", "", "", "400 script_path"},
		{"GET", "/my_wp-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/caf%C3%A9wp-json/wp/v2/users", "", "", "400 path"},
		{"GET", "/signup.phpwp-json/X/wp-json/Y", "", "", "400 path"},
		{"GET", "/blogwp-json/X/wp-json/Y", "", "", "400 path"},
		{"GET", "/x.php/", "", "", "page"},
		{"GET", "/x.php/0/", "", "", "page"},
		{"GET", "/index.php/", "", "", "page"},
		{"GET", "/index.php/about/", "", "", "page"},
		{"GET", "/about-wp-json/", "", "", "page"},
		{"GET", "/index.php/index.php", "", "", "400 script_path"},
		{"GET", "/wp-login.php/wp-/INDEXxphp", "", "", "400 script_path"},
		{"GET", "/wp-content/plugins/x/api.php/orders/7", "", "", "page"},
		{"GET", "/wp-admin/index.php", "", "", "page"},
		{"GET", "/.well-known/acme-challenge/a.b", "", "", "page"},
		{"GET", "/a.b/..c/.d/e...", "", "", "page"},
		{"GET", "/100%25/", "", "", "page"},
	})
	blog := readerFor("subfolder")
	for _, path := range []string{
		"/blog/index.phpwp-json/wp/v2/users", "/blog/index.phpwp%2Djson/wp/v2/users", "/blog/core/index.PHPwp-json/wp/v2/users",
		"/blog/index.phpblogwp-json/wp/v2/users", "/blog/index.phpBLOG%77p-json/wp/v2/users", "/index.phpblogwp-json/wp/v2/users",
		"/blog/index.phpblogwp-json/wp/v2/users%0A/x.php", "/wp-/blog/json/wp/v2/users%0A/x.php/blog/", "/wp-/blog/0json/wp/v2/users%0A/x.php/blog/0",
	} {
		if c := blog.Read(request("GET", path, "", ""), nil); c.Kind != Refused {
			t.Errorf("%s: %s", path, describe(c))
		}
	}
}

// TestHoles_PathInfoAfterRewrites: both paths count, since FastCGI gets the client's
// own and a proxy the current one.
func TestHoles_PathInfoAfterRewrites(t *testing.T) {
	odd := &url.URL{Path: "/index.php/x/../index.php"}
	for _, test := range []struct {
		current, original *url.URL
		want              string
	}{
		{odd, &url.URL{Path: "/p"}, "400 path"},
		{&url.URL{Path: "/index.php"}, odd, "400 path"},
		{&url.URL{Path: "/index.php"}, &url.URL{Path: "/p"}, "page"},
		{&url.URL{Path: "index.php"}, &url.URL{Path: "/p"}, "page"}, // as try_files leaves it without a root
	} {
		r := request("GET", "/", "", "")
		r.URL = test.current
		if got := describe(readerFor("root").Read(r, test.original)); got != test.want {
			t.Errorf("%s, client's %s: %s, want %s", test.current, test.original, got, test.want)
		}
	}
}

// TestHoles_PathsInURL: a handler before the gateway may set one of the two paths of a URL
// alone. Then the path is sent on in another encoding than the client's.
func TestHoles_PathsInURL(t *testing.T) {
	for _, test := range []struct {
		current url.URL
		want    string
	}{
		{url.URL{Path: "/wp-json/wp/v2/users"}, "GET /wp/v2/users"},
		{url.URL{Path: "/wp-json/wp/v2/users", RawPath: "/wp-json/wp/v2/users"}, "GET /wp/v2/users"},
		{url.URL{Path: "/wp-json/wp/v2/users", RawPath: "/wp-json/wp/v2/posts"}, "400 target"},
		{url.URL{Path: "/wp-json/wp/v2/users", RawPath: "/wp-json/wp/v2/users/"}, "400 target"},
	} {
		r := request("GET", "/", "", "")
		r.URL = &test.current
		if got := describe(readerFor("root").Read(r, nil)); got != test.want {
			t.Errorf("%q, %q: %s, want %s", test.current.Path, test.current.RawPath, got, test.want)
		}
	}
}

// TestHoles_HeaderValues: blanks that HTTP/2 and 3 keep and HTTP/1.1 drops, and what
// is long enough to be cut on the way.
func TestHoles_HeaderValues(t *testing.T) {
	part := "--B\r\nContent-Disposition: form-data; name=rest_route\r\n\r\n/wp/v2/users\r\n--B--\r\n"
	for _, contentType := range []string{
		" " + formType, "\t" + formType, formType + "\t", formType + " ", " " + partType, partType + " ", partType + "\t",
		"multipart/form-data; x=" + strings.Repeat("x", 40_000) + "; boundary=B",
	} {
		for _, body := range []string{part, "rest_route=/wp/v2/users"} {
			for _, target := range []string{"/?_method=GET", "/wp-json/wc/v3/orders/7"} {
				if got := describe(readerFor("root").Read(request("POST", target, contentType, body), nil)); got != "400 header_value" {
					t.Errorf("%.60q at %s: %s", contentType, target, got)
				}
			}
		}
	}
	for name, value := range map[string]string{"Content-Encoding": " gzip", "Authorization": "Basic eDp5 ", "X-Wp-Nonce": " 1", overrideHeader: "DELETE\t", "Cookie": strings.Repeat("a=b; ", 7_000) + "c=d"} {
		r := request("GET", "/wp-json/a", "", "")
		r.Header[name] = []string{value}
		if got := describe(readerFor("root").Read(r, nil)); got != "400 header_value" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestHoles_LongTargets: what is longer than some back-end's limit would be cut
// there, and so would what stands behind a blank.
func TestHoles_LongTargets(t *testing.T) {
	long := strings.Repeat("a", 33_000)
	for _, target := range []string{
		"/?rest_route=/wp/v2/users&x=" + long + "&rest_route=0", "/wp-json/wc/v3/orders/7?id=9&x=" + long + "&id=7",
		"/wp-json/wc/v3/orders/7" + strings.Repeat("/", 33_000) + "notes", "/" + long, "/?x= HTTP/1.1", "/?rest_route=0 ", "/" + strings.Repeat("\u00e9", 6_000),
	} {
		u := &url.URL{Path: target}
		u.Path, u.RawQuery, _ = strings.Cut(target, "?")
		r := request("GET", "/", "", "")
		r.URL = u
		if got := describe(readerFor("root").Read(r, nil)); got != "400 target" {
			t.Errorf("%.60s: %s", target, got)
		}
	}
	if got := describe(readerFor("root").Read(request("GET", "/?x="+long[:30_000], "", ""), nil)); got != "page" {
		t.Error(got)
	}
}

// TestHoles_PathInQuery: what some servers put into the query as it is.
func TestHoles_PathInQuery(t *testing.T) {
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/x&rest_route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/x%26rest_route=/wp/v2/users%26_method=POST", "", "", "400 path"},
		{"GET", "/x&a=1&rest.route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/x&r%2565st_route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/x&%20rest_route[]=/wp/v2/users", "", "", "400 path"},
		{"POST", "/wp-login.php&rest_route=0", formType, "a=b", "400 path"},
		{"GET", "/wp-json/wp/v2/posts/1&_method=DELETE", "", "", "400 path"},
		{"PUT", "/x&id=9?rest_route=/wc/v3/orders/7", "", "", "400 path"},
		{"GET", "/blog/x%3Frest_route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/blog/x%253Fa=b%2526rest_route=/wp/v2/users", "", "", "400 path"},
		{"GET", "/x%3F_method=DELETE?rest_route=/wp/v2/posts/1", "", "", "400 path"},
		{"POST", "/x%3Fy?_method=GET", formType, "rest_route=/wp/v2/posts/1", "400 path"},
		{"GET", "/wp-json%23x", "", "", "400 path"},
		{"GET", "/what%3F/", "", "", "page"},
		{"GET", "/c%23/", "", "", "page"},
		{"GET", "/black&white/", "", "", "page"},
		{"GET", "/a%26b/?c=d", "", "", "page"},
		{"GET", "/rest_route=/x", "", "", "page"},
	})
	r := request("GET", "/", "", "")
	r.URL = &url.URL{Path: "/index.php"}
	if got := describe(readerFor("root").Read(r, &url.URL{Path: "/x&rest_route=/wp/v2/users"})); got != "400 path" {
		t.Error(got)
	}
}

// TestHoles_Twice: a variable twice in the query, which something behind the gateway may
// sort, and two methods, of which it may lose one.
func TestHoles_Twice(t *testing.T) {
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/?rest_route=/wp/v2/users&rest_route=/wp/v2/posts", "", "", "400 two_routes"},
		{"GET", "/?rest_route=/wp/v2/users&a=b&rest.route=0", "", "", "400 two_routes"},
		{"GET", "/?rest_route=/wp/v2/posts&_method=DELETE&_method=GET", "", "", "400 method"},
		{"GET", "/wp-json/wp/v2/posts?%20_method=DELETE&_method=GET", "", "", "400 method"},
		{"GET", "/?rest_route=/wp/v2/posts&x[rest_route]=/y", "", "", "GET /wp/v2/posts"},
		{"POST", "/wp-json/wp/v2/posts/1?_method=DELETE", "", "", "DELETE /wp/v2/posts/1"},
	})
	for override, want := range map[string]string{"DELETE": "DELETE /wp/v2/posts/1", "delete": "DELETE /wp/v2/posts/1", "PUT": "400 method"} {
		r := request("POST", "/wp-json/wp/v2/posts/1?_method=DELETE", "", "")
		r.Header[overrideHeader] = []string{override}
		if got := describe(readerFor("root").Read(r, nil)); got != want {
			t.Errorf("%s: %s", override, got)
		}
	}
}

// TestHoles_Length: a length that the server reads otherwise than it stands there.
func TestHoles_Length(t *testing.T) {
	for said, want := range map[string]string{"+5": "400 header_value", "05": "400 header_value", "5": "page", "6": "400 header_value", "": "400 header_value", "5, 5": "400 header_value"} {
		r := request("PUT", "/", jsonType, "12345")
		r.Header["Content-Length"] = []string{said}
		if got := describe(readerFor("root").Read(r, nil)); got != want {
			t.Errorf("%q: %s", said, got)
		}
	}
	r := request("PUT", "/", jsonType, "12345")
	r.Header["Content-Length"] = []string{"5", "5"}
	if got := describe(readerFor("root").Read(r, nil)); got != "400 repeated_header" {
		t.Error(got)
	}
}
