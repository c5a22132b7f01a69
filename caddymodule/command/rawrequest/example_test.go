package rawrequest_test

import (
	"fmt"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

func ExampleRead() {
	platform, _ := platforms.ByName("wordpress")
	reader := call.NewReader(call.Config{Platform: platform})
	for _, raw := range []string{
		"GET /wp-json/wp/v2/users HTTP/1.1\r\nHost: shop.example\r\n\r\n",
		"GET /about/ HTTP/1.1\r\nHost: shop.example\r\n\r\n",
		"GET /about/ HTTP/1.1\r\n\r\n", // without a Host
	} {
		c := rawrequest.Read(reader, []byte(raw))
		fmt.Printf("%s %q\n", c.Kind, c.Route)
		c.Close()
	}
	// Output:
	// call "/wp/v2/users"
	// page ""
	// refused ""
}
