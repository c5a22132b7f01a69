package access

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAccess_PluginJSON: a configuration in JSON is checked as one in a Caddyfile is. A guard
// that admitted anyone would hide the guards behind it.
func TestAccess_PluginJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"guards":[{"allow":"users","routes":["/wp/v2/search"],"from":"wordpress"}]}`:                  "",
		`{"guards":[{"deny":true,"routes":["/a/**"]},{"allow":"role editor","routes":["/b"]}]}`:         "",
		`{"guards":[{"allow":"anyone","routes":["/**"]},{"allow":"users","routes":["/wp/v2/search"]}]}`: "a guard only takes away",
		`{"guards":[{"allow":"signed x","routes":["/a"]}]}`:                                             "a guard only takes away",
		`{"guards":[{"allow":"users","routes":["a"]}]}`:                                                 "does not begin with /",
		`{"guards":[{"allow":"users","routes":[]}]}`:                                                    "no route named",
		`{"guards":[{"allow":"users","routes":["/a"],"except":["/a/**/b"]}]}`:                           "** is only possible at the end",
		`{"rules":[{"allow":"anyone","routes":["/contact-form-7/v1/x"],"from":"contact-form-7"}]}`:      "",
		`{"plugins":[{"plugin":"no-such-thing"}]}`:                                                      "the catalogue has no plugin",
		`{"plugins":[{"plugin":"contact-form-7","for":["everybody"]}]}`:                                 "for: ",
	} {
		access := new(Access)
		if err := json.Unmarshal([]byte(text), access); err != nil {
			t.Fatal(err)
		}
		err := access.Provision(policytest.NewSite(t), policy.Settings{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestExpandPlugins_Signed: a key closes the routes that the provider signs, and those alone.
func TestExpandPlugins_Signed(t *testing.T) {
	wordpress, _ := platforms.ByName("wordpress")
	for name, want := range map[string][]string{
		"sureforms":                {"signed POST /sureforms/webhook_live", "signed POST /sureforms/webhook_test"},
		"wpforms-lite":             {"signed POST /wpforms/stripe/webhooks", "anyone GET /wpforms/stripe/webhooks"},
		"social-photo-feed-widget": {"anyone POST /trustindex_feed_hook_instagram/submit-data", "signed GET /trustindex_feed_hook_instagram/refresh-data"},
		"event-tickets":            {"signed POST /tribe/tickets/v1/commerce/stripe/webhook", "anyone POST /tribe/tickets/v1/commerce/paypal/webhook"},
	} {
		lines, err := ExpandPlugins(policy.Option{Name: "allow", Args: []string{"plugin", name}, Block: []policy.Option{{Name: "key", Args: []string{"k"}}}}, wordpress)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range lines {
			if o.Name == "allow" && o.Args[0] != "plugin" {
				got = append(got, o.Args[0]+" "+strings.Join(o.Args[len(o.Args)-2:], " "))
			}
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("%s: no %s in %q", name, line, got)
			}
		}
	}
}
