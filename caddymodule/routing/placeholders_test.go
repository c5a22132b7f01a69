package routing

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func TestPlaceholders(t *testing.T) {
	var app caddyhttp.App
	err := json.Unmarshal([]byte(`{"servers":{"a":{
		"routes":[{"match":[{"vars":{"{tenant}":["x"]}}],"handle":[
			{"handler":"map","source":"{http.request.host}","destinations":["{upstream}"],"defaults":["{env.HOME}"]},
			{"handler":"subroute","routes":[{"handle":[{"handler":"reverse_proxy","upstreams":[{"dial":"{upstream}:{geoip2.port}"}]}]}]}
		]}],
		"named_routes":{"n":{"handle":[{"handler":"vars","root":"/srv/{named}"}]}}
	}}}`), &app)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Placeholders(&app), []string{"geoip2.port", "named", "tenant", "upstream"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}
