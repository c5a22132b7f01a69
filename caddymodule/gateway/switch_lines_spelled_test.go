package gateway

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/respell"
)

// TestSwitchLines_Spelled: in every spelling that the platform understands, what a line closes does not come to it, under observe, and
// what a line opens does.
func TestSwitchLines_Spelled(t *testing.T) {
	p := newPlatform(t)
	platform, _ := platforms.ByName("cms")
	for word, block := range map[string]string{"close": "mode observe", "open": "login_only"} {
		g := administered(t, "", caddyrun.Site{Body: "\trestwarden cms {\n\t\t" + block + "\n\t}\n" + p.proxied()})
		g.admin("POST", "sites/*:"+g.port()+"/"+word, `{"for":"1h","route":"/acme/v1/x"}`, 200, `"on":true`)
		tried := 0
		for _, method := range []string{"GET", "POST", "DELETE"} {
			body := map[string]string{"POST": "a=b"}[method]
			headers := []string{"Connection: close"}
			if body != "" {
				headers = append(headers, "Content-Type: application/x-www-form-urlencoded")
			}
			all := respell.All(platform, respell.Request{Method: method, URL: "http://" + g.file.Sites[0].Address + "/cms-json/acme/v1/x", Header: headers, Body: []byte(body), Prefix: "cms-json"})
			for _, s := range all {
				p.received()
				x, err := rawhttp.HTTP1(t.Context(), g.file.Sites[0].Address, s.Raw)
				if err != nil {
					t.Fatal(err)
				}
				root := func(line string) bool {
					return strings.HasPrefix(line, "GET /cms-json/ ") || strings.HasPrefix(line, "GET /?rest_route=/ ")
				}
				arrived := len(slices.DeleteFunc(p.received(), root)) > 0
				if closed := word == "close"; arrived == closed && !s.Overrides {
					t.Errorf("%s, %s, %s: %d, arrived %v", word, method, s.Name, x.Status, arrived)
				}
				tried++
			}
		}
		if tried < 100 {
			t.Errorf("%s: %d spellings", word, tried)
		}
	}
}
