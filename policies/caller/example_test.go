package caller_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
)

// The platform is asked once who is calling; the second request with the same
// credentials is answered from memory.
func ExampleWhole_Who() {
	platform, _ := platforms.ByName("wordpress")
	site := caller.NewSite(platform, caller.Own{})
	var err error
	if site.Identities, err = caller.NewIdentities(caller.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = site.Identities.Close() }()
	reader := call.NewReader(call.Config{Platform: platform})
	backend := asktest.Answering(http.StatusOK, `{"id":7,"roles":["editor"],"capabilities":{"edit_posts":true}}`)
	for range 2 {
		r := httptest.NewRequest(http.MethodGet, "/wp-json/wp/v2/posts", http.NoBody)
		r.SetBasicAuth("editor", "secret")
		c := reader.Read(r, nil)
		whole := &caller.Whole{Site: site, Call: c, HTTP: r, Backend: backend, Client: netip.MustParseAddr("192.0.2.7")}
		who, _, err := whole.Who(context.Background())
		fmt.Println(who.Kind, who.ID, who.Roles, err, "questions:", len(backend.Questions()))
		c.Close()
	}
	// Output:
	// user 7 [editor] <nil> questions: 1
	// user 7 [editor] <nil> questions: 1
}
