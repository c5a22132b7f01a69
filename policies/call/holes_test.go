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
				for _, target := range []string{"/about/", "/wp-json/complianz/v1/consent"} {
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
			for _, target := range []string{"/about/", "/wp-json/complianz/v1/consent"} {
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
	for host, want := range map[string]string{"example.com": "GET /a", "other.example": "400 repeated_header", "example.com\nexample.com": "400 repeated_header"} {
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
