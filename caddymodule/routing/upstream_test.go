package routing

import (
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestSurvey_DynamicUpstreams: a server that a name is looked up for is the same as one
// with that name, whether Caddy has loaded the handler or not.
func TestSurvey_DynamicUpstreams(t *testing.T) {
	eachTime(t, `
http://a.test {
	reverse_proxy {
		dynamic a wordpress
	}
}
http://b.test {
	probe 1
	reverse_proxy wordpress:80
}
`, func(when string, app *caddyhttp.App) {
		report := Survey(app, probes)
		if !slices.ContainsFunc(report.Odd, func(f Finding) bool { return f.Code == "W01" }) {
			t.Errorf("%s: %+v", when, report.Odd)
		}
	})
}
