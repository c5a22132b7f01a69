package policies_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// newSite returns a WordPress site at the root of its address.
func newSite() (*policy.Site, error) {
	platform, _ := platforms.ByName("wordpress")
	s := &policy.Site{Site: caller.NewSite(platform, caller.Own{}), Release: new(policy.Release)}
	var err error
	if s.Store, err = store.NewMemory(); err != nil {
		return nil, err
	}
	s.Identities, err = caller.NewIdentities(caller.Options{})
	return s, err
}

// configured is a policy of the catalog with the lines that configure it.
func configured(word string, lines ...policy.Option) (*policy.Configured, error) {
	entry, _ := policies.Lookup(word)
	c := policy.NewConfigured(entry)
	for _, line := range lines {
		if err := c.Configure(line); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Two policies judge three calls: access asks the platform who is calling, and the
// rate limit counts the calls that access lets through.
func ExampleChain_Judge() {
	site, err := newSite()
	if err != nil {
		fmt.Println(err)
		return
	}
	access, err := configured("access", policy.Option{Name: "login_only"})
	if err != nil {
		fmt.Println(err)
		return
	}
	limit, err := configured("rate_limit", policy.Option{Name: "rate_limit", Args: []string{"1/1m", "/wp/v2/**"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	chain, err := policies.NewChain(site, policy.Enforce, map[string]*policy.Configured{"access": access, "rate_limit": limit})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = chain.Close() }()

	reader := call.NewReader(call.Config{Platform: site.Platform})
	platform := asktest.Answering(http.StatusOK, `{"id":7,"roles":["editor"],"capabilities":{"edit_posts":true}}`)
	for _, password := range []string{"", "secret", "secret"} {
		r := httptest.NewRequest(http.MethodGet, "/wp-json/wp/v2/posts", http.NoBody)
		if password != "" {
			r.SetBasicAuth("editor", password)
		}
		c := reader.Read(r, nil)
		whole := &caller.Whole{Site: site.Site, Call: c, HTTP: r, Backend: platform, Client: netip.MustParseAddr("192.0.2.7")}
		d := chain.Judge(context.Background(), &policy.Request{Whole: whole, Call: c, Site: site})
		fmt.Printf("%s %q %q\n", d.Outcome, d.Policy, d.Verdict.Code)
		c.Close()
	}
	// Output:
	// refused "access" "rest_not_logged_in"
	// pass "" ""
	// refused "rate_limit" "rest_too_many_requests"
}
