package dryrun_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/policy"
)

// TestEdit: each directive is changed before it is loaded, wherever it stands, and what is not
// changed stays.
func TestEdit(t *testing.T) {
	const file = `&(guarded) {
	restwarden wordpress {
		body_limit 7MB
	}
}
a.example.com {
	restwarden wordpress
	reverse_proxy 127.0.0.1:1
}
b.example.com {
	handle /wp-json/* {
		restwarden wordpress {
			allow users GET /b/v1/c
		}
		reverse_proxy 127.0.0.1:1
	}
}
c.example.com {
	invoke guarded
	reverse_proxy 127.0.0.1:1
}
`
	limits := map[int64]int{}
	c := load(t, file, func(o *dryrun.Options) {
		o.Edit = func(g *gateway.Gateway) error {
			limits[g.BodyLimit]++
			return g.Add(policy.Option{Name: "deny", Args: []string{"GET", "/b/**"}})
		}
	})
	if limits[0] != 2 || limits[7_000_000] != 1 {
		t.Errorf("directives by their limits: %v", limits)
	}
	for host, rule := range map[string]string{"a": "deny GET /b/**", "b": "allow users GET /b/v1/c", "c": "deny GET /b/**"} {
		r := run(t, c, "", "GET https://"+host+".example.com/wp-json/b/v1/c")
		if r.Decision == nil || r.Decision.Rule != rule {
			t.Errorf("%s: %+v", host, r)
		}
	}
}

// TestEdit_Refused: what an edit refuses, Load refuses.
func TestEdit_Refused(t *testing.T) {
	_, err := tryLoad(t, fmt.Sprintf(shop, ""), func(o *dryrun.Options) {
		o.Edit = func(g *gateway.Gateway) error { return g.Add(policy.Option{Name: "nonsense"}) }
	})
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Error(err)
	}
}

// TestLoad_Undecodable: of a directive in JSON that does not decode, Load says what Caddy says.
func TestLoad_Undecodable(t *testing.T) {
	for _, member := range []string{
		`"nonsense":1`, `"Handler":"x"`, `"body_limit":"8"`, `"policies":{"access":{"rules":7}}`, `"policies":{"nobody":{}}`, `"policies":7`, `"mode":"x"`,
	} {
		text := []byte(`{"admin":{"disabled":true},"apps":{"http":{"servers":{"a":{"routes":[{"handle":[{"handler":"subroute","routes":[{"handle":[
			{"handler":"restwarden","platform":"wordpress",` + member + `},{"handler":"static_response"}]}]}]}]}}}}}`)
		_, err := dryrun.Load(dryrun.Options{JSON: text, Edit: func(*gateway.Gateway) error { return nil }})
		config := new(caddy.Config)
		if err := caddy.StrictUnmarshalJSON(text, config); err != nil {
			t.Fatal(err)
		}
		want := caddy.Validate(config)
		if err == nil || want == nil || innermost(err) != innermost(want) {
			t.Errorf("%s: got %v, want %v", member, err, want)
		}
	}
}

// innermost is an error without the places of the handlers that hold the directive.
func innermost(err error) string {
	parts := strings.Split(err.Error(), "loading handler modules: position ")
	return parts[len(parts)-1]
}
