package gateway

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

const guardedShop = `{"platform":"wordpress","policies":{"access":{"rules":[
	{"allow":"anyone","methods":["GET","POST"],"routes":["/wp/v2/posts/:id","/wc/store/v1/**","/a/:b/:c"]}]},
	"abilities":{"rules":[{"pattern":"a/*","deny":true}]},
	"strip_query":{"strips":[{"name":"a","routes":["/wp/v2/posts/:id"]}]}}}`

// judgedPlaces are the places of a request that policies look at, with the text that stands in them.
var judgedPlaces = map[string]func(r *http.Request, text string) string{
	"cookie":            func(r *http.Request, text string) string { r.Header.Set("Cookie", text); return "" },
	"authorization":     func(r *http.Request, text string) string { r.Header.Set("Authorization", "OAuth "+text); return "" },
	"basic":             func(r *http.Request, text string) string { r.Header.Set("Authorization", "Basic "+text); return "" },
	"signature":         func(r *http.Request, text string) string { r.Header.Set("X-Signature", text); return "" },
	"query":             func(r *http.Request, text string) string { r.URL.RawQuery = "_embed&a" + text; return "" },
	"update":            posts("/wp-json/wc/v3/orders/5", `{"id":5,"x":"`, `"}`),
	"updates":           posts("/wp-json/wc/v3/orders/batch", `{"update":[{"id":5,"x":"`, `"}]}`),
	"checkout":          posts("/wp-json/wc/store/v1/checkout", `{"expected_total":"`, `"}`),
	"batch":             posts("/wp-json/wc/store/v1/batch", `{"requests":[{"path":"/wc/store/v1/cart/add-item","body":{"id":"`, `"}}]}`),
	"message":           posts("/wp-json/mcp/mcp-adapter-default-server", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a-`, `"}}`),
	"name of a tool":    posts("/wp-json/team/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp-adapter-execute-ability","arguments":{"ability_name":"`, `"}}}`),
	"inside a tool":     posts("/wp-json/team/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run-api-function","arguments":{"route":"`, `"}}}`),
	"run of an ability": posts("/wp-json/wp-abilities/v1/abilities/b/c/run", `{"input":{"a":["`, `"]}}`),
}

func posts(path, before, behind string) func(*http.Request, string) string {
	return func(r *http.Request, text string) string {
		r.Method, r.URL.Path = http.MethodPost, path
		r.Header.Set("Content-Type", "application/json")
		return before + text + behind
	}
}

// allocated returns the bytes that g takes for a request with a body, the least of several times:
// pools are filled, and emptied now and then.
func allocated(g *Gateway, made func(w http.ResponseWriter) (r *http.Request, body string)) int64 {
	bytes := int64(math.MaxInt64)
	for range 4 {
		w := httptest.NewRecorder()
		r, body := made(w)
		if body != "" {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = g.ServeHTTP(w, r, silentNext) // whatever it answers
		runtime.ReadMemStats(&after)
		bytes = min(bytes, int64(after.TotalAlloc-before.TotalAlloc))
	}
	return bytes
}

// silentNext answers 404 without a word.
var silentNext = caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNotFound)
	return nil
})

// TestLinear_Gateway: whatever stands many times in a request that policies judge, twice of it
// costs twice.
func TestLinear_Gateway(t *testing.T) {
	const n = 10 << 10
	g := provisioned(t, guardedShop)
	cost := func(place func(*http.Request, string) string, text string) int64 {
		return allocated(g, func(w http.ResponseWriter) (*http.Request, string) {
			r := prepared(w, "/wp-json/wp/v2/posts/5")
			return r, place(r, text)
		})
	}
	for name, place := range judgedPlaces {
		for _, unit := range []string{
			"a", "-", "_", "/", "--a", "a/", "[]", "&a[]=1", "&_embed[]", "&id=5", "%5B", "; a=b", "; wordpress_logged_in_x=1", "; wordpress.logged.in_", `oauth_a="`, `oauth_a=",`, ",", "Y2tfOg==",
			`","a":"`, `","id":"`, `"],"b":["`, `"},{"id":"`, `\u0061`, "/wc/v3/orders/5", "orders-update", "run-api-function", "batch/v1", "mcp/v1/x",
		} {
			once, twice := cost(place, strings.Repeat(unit, n/len(unit))), cost(place, strings.Repeat(unit, 2*n/len(unit)))
			if twice > once*5/2+64<<10 {
				t.Errorf("%s of %q: %d bytes for %d, %d for twice as many", name, unit, once, n, twice)
			}
		}
	}
}

// TestLinear_Parts: what the parts of a batch share is read once, not once for each part.
func TestLinear_Parts(t *testing.T) {
	g := provisioned(t, guardedShop)
	items := func(item string, n int) (text string) {
		for i := range n {
			text += strings.ReplaceAll(item, "#", strconv.Itoa(i))
		}
		return strings.TrimRight(text, ",&")
	}
	const refunds, orders, customers = "/wp-json/wc/v3/orders/5/refunds/batch", "/wp-json/wc/v3/orders/batch", "/wp-json/wc/v3/customers/batch"
	for name, made := range map[string]func(n int) (target, contentType, body string){
		"a form of refunds": func(n int) (string, string, string) {
			return refunds, "application/x-www-form-urlencoded", items("create[#][compute_totals][]=1&", n) + "&" + items("create[0][a#][][][][][]=&", 5*n)
		},
		"a query of creations": func(n int) (string, string, string) {
			return orders + "?" + items("id[#=&_embed[#=&", 5*n), "application/json", `{"create":[` + items("{},", n) + "]}"
		},
		"a query of updates": func(n int) (string, string, string) {
			return customers + "?" + items("password[#=&", 9*n), "application/json", `{"update":[` + items(`{"id":#},`, n) + "]}"
		},
		"a long collection": func(n int) (string, string, string) {
			return "/wp-json/wc/v3/" + strings.Repeat("a", 20*n) + "/batch", "application/json", `{"create":[` + items("{},", n) + "]}"
		},
	} {
		cost := func(n int) int64 {
			return allocated(g, func(w http.ResponseWriter) (*http.Request, string) {
				target, contentType, body := made(n)
				r := prepared(w, target, "Content-Type", contentType)
				r.Method = http.MethodPost
				return r, body
			})
		}
		if once, twice := cost(50), cost(100); twice > once*5/2+64<<10 {
			t.Errorf("%s: %d bytes for 50 parts, %d for 100", name, once, twice)
		}
	}
}
