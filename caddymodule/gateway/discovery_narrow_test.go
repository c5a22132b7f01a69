package gateway

import (
	"strings"
	"testing"
)

// TestDiscovery_Narrow: once the root is read, the log says which rule misses calls, and where it stands.
func TestDiscovery_Narrow(t *testing.T) {
	p := newPlatform(t)
	p.answersRoot("/cms-json/", `{"namespaces":["cms/v2"],"routes":{"/cms/v2/plugins/(?P<plugin>[^.\\/]+(?:\\/[^.\\/]+)?)":{}}}`)
	g := startGateway(t, "\trestwarden cms {\n\t\tdeny /cms/v2/plugins/:plugin\n\t}\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/plugins/shop", "").want(t, 403, "")
	eventually(t, "a warning", func() bool {
		return strings.Contains(g.logged(), `"code":"W25"`) && strings.Contains(g.logged(), `"do":"write /cms/v2/plugins/**"`)
	})
}
