package routing

import (
	"encoding/json"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestMatcherText holds that the matchers of a route read as a Caddyfile writes them.
func TestMatcherText(t *testing.T) {
	for sets, want := range map[string]string{
		`[{"path": ["/wp-json/*", "/x"]}]`:                      `path /wp-json/* /x`,
		`[{"method": ["GET", "POST"], "path": ["/a"]}]`:         `method GET POST and path /a`,
		`[{"host": ["a.com"]}, {"protocol": "https"}]`:          `host a.com or protocol https`,
		`[{"not": [{"path": ["*.css"]}]}]`:                      `not path *.css`,
		`[{"not": [{"path": ["*.css"]}, {"method": ["GET"]}]}]`: `not (path *.css or method GET)`,
		`[{"not": [{"method": ["GET"], "path": ["*.css"]}]}]`:   `not (method GET and path *.css)`,
		`[{"header": {"X-A": ["b"]}}]`:                          `header {"X-A":["b"]}`,
	} {
		var route caddyhttp.Route
		if err := json.Unmarshal([]byte(`{"match": `+sets+`}`), &route); err != nil {
			t.Fatal(err)
		}
		if got := MatcherText(&route); got != want {
			t.Errorf("%s: %q, want %q", sets, got, want)
		}
	}
}
