package caddymodule

import (
	"encoding/json"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// directives returns the handlers of a Caddyfile in the file called name.
func directives(t *testing.T, name, source string) (all []*Gateway) {
	t.Helper()
	b, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": name})
	if err != nil {
		t.Fatal(err)
	}
	var config any
	if err := json.Unmarshal(b, &config); err != nil {
		t.Fatal(err)
	}
	var find func(any)
	find = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["handler"] == "restwarden" {
				delete(v, "handler")
				text, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				g := new(Gateway)
				if err := json.Unmarshal(text, g); err != nil {
					t.Fatal(err)
				}
				all = append(all, g)
			}
			for _, inner := range v {
				find(inner)
			}
		case []any:
			for _, inner := range v {
				find(inner)
			}
		}
	}
	find(config)
	return all
}

func names(t *testing.T, gateways []*Gateway) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, g := range gateways {
		name, err := g.fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		all[name]++
	}
	return all
}

// TestDirective_Name: gateways with one Caddyfile give their directives the same names,
// and no two directives of one gateway have the same name.
func TestDirective_Name(t *testing.T) {
	const sites = `
(guard) {
	restwarden cms {
		login_only
		allow role administrator GET /x
		rate_limit 10/1m POST /consent/v1/consent
	}
}
http://a.example {
	import guard
}
http://b.example {
	import guard
}
http://c.example {
	restwarden cms {
		rate_limit 11/1m POST /consent/v1/consent
	}
}
`
	one := names(t, directives(t, "/etc/caddy/Caddyfile", sites))
	two := names(t, directives(t, "/srv/other", "{\n\thttp_port 8081\n}\n# another file\n"+sites))
	if len(one) != 3 {
		t.Errorf("%d names for three directives", len(one))
	}
	for name := range one {
		if two[name] != 1 {
			t.Errorf("%s is not a name on the other gateway", name)
		}
	}
}

// TestDirective_Fingerprint: the keys of limits in a shared Redis contain the
// fingerprint, so that it must be the same in all releases.
func TestDirective_Fingerprint(t *testing.T) {
	const site = `
http://a.example {
	restwarden cms {
		login_only
		identity {
			ttl 90s
			timeout 7s
		}
		allow role administrator GET /x
		rate_limit 10/1m POST /consent/v1/consent
		signature s {
			key abc
			tolerance 2m
		}
		signature
		order_type {
			mode observe
			strict
		}
		no_store off
	}
}
`
	const want = "5a22a8ab1f5cd54e08ba9e2ec3cd05fa"
	if names := names(t, directives(t, "/etc/caddy/Caddyfile", site)); names[want] != 1 {
		t.Errorf("got %v, want %s", names, want)
	}
}
