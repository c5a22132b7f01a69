package call

import (
	"slices"
	"strings"
	"testing"
)

// TestFormVariable: a variable of a form is found in the form of a POST alone, and not once the call is sent on.
func TestFormVariable(t *testing.T) {
	t.Parallel()
	part := "--B\r\nContent-Disposition: form-data; name=a.b\r\n\r\n7\r\n--B--\r\n"
	for _, test := range []struct {
		method, target, contentType, body, value string
		set                                      bool
	}{
		{"POST", "/wp-json/x/v1/y", formType, "a_b=7", "7", true},
		{"POST", "/wp-json/x/v1/y", formType, strings.Repeat("x", 9000) + "=1&a.b=7", "7", true},
		{"POST", "/wp-json/x/v1/y", formType, "a_b[]=7", "", true},
		{"POST", "/wp-json/x/v1/y", partType, part, "7", true},
		{"POST", "/wp-json/x/v1/y?a_b=8", formType, "a=7", "", false},
		{"POST", "/wp-json/x/v1/y", "application/json", `{"a_b":7}`, "", false},
		{"PUT", "/wp-json/x/v1/y", formType, "a_b=7", "", false},
		{"GET", "/wp-json/x/v1/y?a_b=8", "", "", "", false},
	} {
		c := readerFor("root").Read(request(test.method, test.target, test.contentType, test.body), nil)
		if value, set, err := c.FormVariable("a_b"); value != test.value || set != test.set || err != nil {
			t.Errorf("%+v: %q, %t, %v", test, value, set, err)
		}
		c.Settle()
		if value, set, err := c.FormVariable("a_b"); set || err != nil {
			t.Errorf("%+v, settled: %q, %v", test, value, err)
		}
		c.Close()
	}
}

// TestBodyNames: the names are those of a body that somebody has looked into; the parts of a batch have theirs.
func TestBodyNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ method, target, contentType, body, want string }{
		{"PUT", "/wp-json/wc/v3/orders/7", "application/json", `{"status":"a","meta_data":[{"x":1}],"null":null}`, "meta_data null status"},
		{"POST", "/wp-json/wc/v3/orders/7", formType, "status=a&meta[x]=1", "meta status"},
		{"PUT", "/wp-json/wc/v3/orders/7", formType, "status=a", "status"},
		{"PUT", "/wp-json/wc/v3/orders/7", "text/plain", "status=a", ""},
		{"GET", "/wp-json/wc/v3/orders/7?status=a", "", "", ""},
	} {
		c := readerFor("root").Read(request(test.method, test.target, test.contentType, test.body), nil)
		if names := c.BodyNames(); len(names) > 0 {
			t.Errorf("%+v: %q, and nobody has looked", test, names)
		}
		if _, _, err := c.Param("id"); err != nil {
			t.Fatal(err)
		}
		if names := slices.Sorted(slices.Values(c.BodyNames())); strings.Join(names, " ") != test.want {
			t.Errorf("%+v: %q", test, names)
		}
		c.Close()
	}
	batch := `{"requests":[{"method":"PUT","path":"/wp/v2/posts/1","body":{"title":"x","content":"y"}},{"method":"DELETE","path":"/wp/v2/posts/2"}]}`
	c := readerFor("root").Read(request("POST", "/wp-json/batch/v1", "application/json", batch), nil)
	defer c.Close()
	if len(c.Parts) != 2 {
		t.Fatal(Describe(c))
	}
	if names := slices.Sorted(slices.Values(c.Parts[0].BodyNames())); strings.Join(names, " ") != "content title" || len(c.Parts[1].BodyNames()) > 0 {
		t.Errorf("%q, %q", names, c.Parts[1].BodyNames())
	}
	items := readerFor("root").Read(request("POST", "/wp-json/wc/v3/orders/batch", formType, "update[0][id]=7&update[0][status]=a"), nil)
	defer items.Close()
	if names := items.Parts[0].BodyNames(); strings.Join(names, " ") != "id status" {
		t.Errorf("%q", names)
	}
}
