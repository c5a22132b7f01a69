package call_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// newReader returns a reader for a WordPress site at the root of its address.
func newReader() *call.Reader {
	platform, _ := platforms.ByName("wordpress")
	return call.NewReader(call.Config{Platform: platform})
}

// The prefix in the path names the route, and a header may override the method.
func ExampleReader_Read() {
	r := httptest.NewRequest(http.MethodPost, "/wp-json/wp/v2/posts/7?context=edit", nil)
	r.Header.Set("X-HTTP-Method-Override", "DELETE")
	c := newReader().Read(r, nil)
	defer c.Close()
	fmt.Println(c.Kind, c.Method, c.Route)
	// Output: call DELETE /wp/v2/posts/7
}

// The variable rest_route names the route on any path, and a parameter in the query takes
// the place of the id in the route.
func ExampleReader_Read_query() {
	r := httptest.NewRequest(http.MethodGet, "/shop/?rest_route=/wc/v3/orders/7&id=9", nil)
	c := newReader().Read(r, nil)
	defer c.Close()
	id, _, err := c.ObjectID()
	fmt.Println(c.Kind, c.Method, c.Route, "order", id, err)
	// Output: call GET /wc/v3/orders/7 order 9 <nil>
}

// A batch is taken apart into the calls that the platform makes of it.
func ExampleReader_Read_batch() {
	body := `{"requests":[{"path":"/wp/v2/posts","body":{"title":"x"}},{"path":"/wp/v2/posts/7","method":"DELETE"}]}`
	r := httptest.NewRequest(http.MethodPost, "/wp-json/batch/v1", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	c := newReader().Read(r, nil)
	defer c.Close()
	fmt.Println(c.Kind)
	for _, part := range c.Parts {
		fmt.Println(part.Method, part.Route)
	}
	// Output:
	// batch
	// POST /wp/v2/posts
	// DELETE /wp/v2/posts/7
}

// Where two readings are possible, the request is refused.
func ExampleReader_Read_refused() {
	r := httptest.NewRequest(http.MethodGet, "/wp-json/wp/v2/posts?rest_route=/wp/v2/users", nil)
	c := newReader().Read(r, nil)
	fmt.Println(c.Kind, c.Refusal)
	// Output: refused 400 rest_ambiguous_request: two_routes
}
