package policies

import (
	"encoding/json"
	"strings"
	"testing"
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
		err := access.Provision(newSite(t), Settings{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
