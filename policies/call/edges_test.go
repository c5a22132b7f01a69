package call

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestEdges_Batches: parts carry the query of their own path, or of the whole batch.
func TestEdges_Batches(t *testing.T) {
	core := func(body, want string) readTest { return readTest{"POST", "/wp-json/batch/v1", jsonType, body, want} }
	runReads(t, readerFor("root"), []readTest{
		core(`{"requests":[{"path":"/wc/v3/orders/7?id=8"}]}`, "batch POST /batch/v1 | POST /wc/v3/orders/7 id 8"),
		core(`{"requests":[{"path":"/wc/v3/orders/7","body":{"id":null}}]}`, "batch POST /batch/v1 | POST /wc/v3/orders/7 id 7"),
		core(`{"requests":[{"path":"/wc/v3/orders/7?id=8","method":null}]}`, "batch POST /batch/v1 | POST /wc/v3/orders/7 id 8"),
		core(`{"requests":[{"path":"/a","body":[1]}]}`, "400 batch"), core(`{"requests":{}}`, "batch POST /batch/v1"),
		{"POST", "/wp-json/batch/v1", formType, "requests[0][path]=/a&requests[0][body]=x", "400 batch"},
		{"POST", "/wp-json/batch/v1", formType, "requests[0][path]=/a&requests[0][body]=", "batch POST /batch/v1 | POST /a"},
		{"POST", "/wp-json/wc/v1/orders/batch", jsonType, `{"update":[{"id":7}]}`, "batch POST /wc/v1/orders/batch | PUT /wc/v1/orders/7 id 7"},
		{"POST", "/wp-json/wc/v3/orders/batch", jsonType, `{"delete":{"0":13}}`, "400 batch"},
		{"PUT", "/wp-json/wc/v1/orders/7", "", "", "PUT /wc/v1/orders/7 id 7"},
		{"PUT", "/wp-json/wc/v3/orders/7", formType, "x=1\x00&id=9", "PUT /wc/v3/orders/7 id 7"},
		{"PUT", "/wp-json/wc/v3/orders/7", jsonType, `{"id":9007199254740992}`, "PUT /wc/v3/orders/7 id 9007199254740992"},
		{"PUT", "/wp-json/wc/v3/orders/7", jsonType, `{"id":9007199254740993}`, "PUT /wc/v3/orders/7 id?"},
		{"PUT", "/wp-json/wc/v3/orders/7", jsonType, `{"x":"\"` + strings.Repeat("[", 70) + `","id":9}`, "PUT /wc/v3/orders/7 id 9"},
		{"PUT", "/wp-json/wc/v3/orders/7", jsonType, `{"id":9,"x":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`, "PUT /wc/v3/orders/7 id?"},
	})
	for _, body := range []string{`{"create":[{}]}`, `{"update":[{"id":5}]}`} {
		c := readerFor("root").Read(request("POST", "/wp-json/wc/v3/orders/batch?status=x", jsonType, body), nil)
		if len(c.Parts) != 1 {
			t.Fatal(describe(c))
		}
		if v, set, err := c.Parts[0].Param("status"); v != "x" || !set || err != nil {
			t.Errorf("%s: status %v, %v, %v", body, v, set, err)
		}
		c.Close()
	}
	few := NewReader(Config{Platform: wordpress(), Limits: Limits{Batch: 2}})
	runReads(t, few, []readTest{
		core(`{"requests":[{"path":"/a"},{"path":"/b"}]}`, "batch POST /batch/v1 | POST /a | POST /b"),
		core(`{"requests":[{"path":"/a"},{"path":"/b"},{"path":"/c"}]}`, "413 batch_limit"),
	})
}

// TestEdges_Rewrites: both paths are read, and say the same.
func TestEdges_Rewrites(t *testing.T) {
	root := readerFor("root")
	for _, tt := range []struct{ method, original, current, body, want string }{
		{"GET", "/cms-json/a", "/wp-json/a", "", "400 rewritten_path"},
		{"GET", "/wp-json/A", "/wp-json/a", "", "GET /a"},
		{"GET", "/wp-json/a/wp-json/b", "/hello", "", "400 rewritten_path"},
		{"GET", "/wp-json/a%26b", "/index.php", "", "400 path"},
		{"GET", "/x.php/y", "/index.php?rest_route=/a", "", "400 script_path"},
		{"GET", "/x", "/a.php/b?rest_route=/a", "", "400 script_path"},
		{"GET", "/x", "/hello%3Frest_route=/a", "", "400 path"},
		{"GET", "/x", "/" + strings.Repeat("x", 12<<10), "", "400 target"},
		{"GET", "/" + strings.Repeat("x", 12<<10), "/x", "", "400 target"},
		{"POST", "/x", wordpress().AjaxScript, "rest_route=/a", "POST /a"},
		{"POST", wordpress().AjaxScript, wordpress().AjaxScript, "rest_route=/a", "POST /a"},
		{"POST", wordpress().AjaxScript + "?rest_route=/b", wordpress().AjaxScript + "?rest_route=/b", "rest_route=/a", "400 two_routes"},
		{"POST", "/wp-admin/admin-ajax%2Ephp", "/wp-admin/admin-ajax%2Ephp", "rest_route=/a", "POST /a"},
	} {
		original, err := url.ParseRequestURI(tt.original)
		if err != nil {
			t.Fatal(err)
		}
		contentType := formType
		if tt.body == "" {
			contentType = ""
		}
		if got := describe(root.Read(request(tt.method, tt.current, contentType, tt.body), original)); got != tt.want {
			t.Errorf("%.60s -> %.60s: %s, want %s", tt.original, tt.current, got, tt.want)
		}
	}
}

// TestEdges_Paths: the prefix in spellings that some server straightens.
func TestEdges_Paths(t *testing.T) {
	runReads(t, readerFor("root"), []readTest{
		{"GET", "/cms-json/wp-json/a", "", "", "400 path"},
		{"GET", "/a//b/wp-json/x", "", "", "400 path"},
		{"GET", "/%252577p-json/a", "", "", "400 path"},
		{"GET", "/hello%3Fx%3Frest_route=/a", "", "", "400 path"},
	})
	runReads(t, readerFor("subfolder"), []readTest{{"GET", "/blog/a.phpwp-json/x", "", "", "400 path"}})
	for target, key := range map[string]string{"/wp-json/wc/store/v1": "/wc/store/v1", "/wp-json/WC/Store/Cart": "/wc/store/v1/cart", "/wp-json/wc/store/v1/cart/": "/wc/store/v1/cart"} {
		if c := readerFor("root").Read(request("GET", target, "", ""), nil); c.Key != key {
			t.Errorf("%s: key %s", target, c.Key)
		}
	}
}

// TestEdges_Connections: trailers and upgrades, of calls and of pages.
func TestEdges_Connections(t *testing.T) {
	r := request("GET", "/wp-json/a", "", "")
	r.Trailer = http.Header{"Authorization": nil}
	if got := describe(readerFor("root").Read(r, nil)); got != "400 repeated_header" {
		t.Error("trailer:", got)
	}
	for upgrade, want := range map[string]string{"WebSocket": "page", "websocket": "page", "TLS/1.0": "400 upgrade", "websocket, h2c": "400 upgrade"} {
		r := request("GET", "/hello", "", "")
		r.Header.Set("Upgrade", upgrade)
		if got := describe(readerFor("root").Read(r, nil)); got != want {
			t.Errorf("%s: %s, want %s", upgrade, got, want)
		}
	}
}

// TestEdges_Bodies: a tool's message is JSON by its type, and no body counts where some
// front-ends drop it.
func TestEdges_Bodies(t *testing.T) {
	c := readerFor("root").Read(request("POST", "/wp-json/woocommerce/mcp", "text/plain", `{"a":1}`), nil)
	if v, err := c.JSON(); err == nil {
		t.Errorf("text read as JSON: %v", v)
	}
	c = readerFor("root").Read(request("OPTIONS", "/wp-json/a", jsonType, `{"a":1}`), nil)
	if body, err := c.RawBody(); err == nil {
		t.Errorf("body of OPTIONS: %s", body)
	}
	large := "--B\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n" + strings.Repeat("x", 8<<20) +
		"\r\n--B\r\nContent-Disposition: form-data; name=id\r\n\r\n9\r\n--B--\r\n"
	c = readerFor("root").Read(request("POST", "/wp-json/wc/v3/orders/7", partType, large), nil)
	defer c.Close()
	if got := describe(c); got != "POST /wc/v3/orders/7 id?" {
		t.Error("a form that PHP may drop:", got)
	}
}

// TestEdges_Embedded: a link whose call is not certain is none.
func TestEdges_Embedded(t *testing.T) {
	c := readerFor("root").Read(request("GET", "/wp-json/wp/v2/posts?_embed", "", ""), nil)
	for href, want := range map[string]string{
		"http://h/wp-json/wp/v2/users/1": "/wp/v2/users/1", "http://h/?rest_route=/wp/v2/users/1": "/wp/v2/users/1",
		"http://h/wp-json//wp/v2/users": "", "http://h/?rest_route=/wp//v2/users": "", `http://h/?rest_route=/wp/v2/u%22sers`: "",
		"http://h/hello": "", "http://h/wp-json/wp/v2/%75sers": "",
	} {
		e, ok := c.Embedded(href)
		if ok != (want != "") || ok && e.Key != want {
			t.Errorf("%s: %+v, %v", href, e, ok)
		}
	}
}

// TestEdges_Objects: v1 of the shop has orders, too.
func TestEdges_Objects(t *testing.T) {
	for _, target := range []string{"/wp-json/wc/v1/orders/7", "/wp-json/wc/v2/orders/7", "/wp-json/wc/v3/subscriptions/7", "/wp-json/wc-analytics/orders/7"} {
		if id, ok, err := readerFor("root").Read(request("GET", target, "", ""), nil).ObjectID(); id != "7" || !ok || err != nil {
			t.Errorf("%s: %q, %v, %v", target, id, ok, err)
		}
	}
}
