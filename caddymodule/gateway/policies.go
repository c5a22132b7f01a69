package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/policy"
)

const policyNamespace = "http.handlers.restwarden.policies"

func init() {
	for _, e := range policies.Catalog {
		caddy.RegisterModule(policyModule{&policy.Configured{Entry: e}})
	}
}

// policyModule makes an entry of the catalog a guest module of the gateway.
type policyModule struct{ *policy.Configured }

// CaddyModule returns the Caddy module information.
func (m policyModule) CaddyModule() caddy.ModuleInfo {
	e := m.Entry
	return caddy.ModuleInfo{
		ID:  caddy.ModuleID(policyNamespace + "." + e.Name),
		New: func() caddy.Module { return &policyModule{policy.NewConfigured(e)} },
	}
}

// live returns the policy with its secrets resolved. A policy with secrets is copied, so that
// no resolved secret returns to JSON.
func (m policyModule) live() (*policy.Configured, error) {
	if _, holds := m.Policy.(policy.SecretHolder); !holds {
		return m.Configured, nil
	}
	b, err := json.Marshal(m.Configured)
	if err != nil {
		return nil, err
	}
	live := policy.NewConfigured(m.Entry)
	if err := json.Unmarshal(b, live); err != nil {
		return nil, err
	}
	for _, secret := range live.Policy.(policy.SecretHolder).Secrets() {
		if *secret.Text, err = option.Resolved(*secret.Text); err != nil {
			return nil, policy.Option{Pos: cmp.Or(secret.At, live.Settings.At)}.Errorf("%w", err) // the gateway knows the import
		}
	}
	return live, nil
}

// loadPolicies returns the policies that the configuration names, by name.
func (g *Gateway) loadPolicies(ctx caddy.Context) (map[string]*policy.Configured, error) {
	if g.PoliciesRaw == nil {
		return nil, nil
	}
	loaded, err := ctx.LoadModule(g, "PoliciesRaw")
	if err != nil {
		return nil, err
	}
	configured := make(map[string]*policy.Configured)
	for name, m := range loaded.(map[string]any) {
		if configured[name], err = m.(*policyModule).live(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return configured, nil
}

// Policy returns a policy as the directive configures it: a copy, which SetPolicy takes. A directive that
// has been loaded has none.
func (g *Gateway) Policy(e policy.Entry) (*policy.Configured, error) {
	c := policy.NewConfigured(e)
	if raw, said := g.PoliciesRaw[e.Name]; said {
		if err := json.Unmarshal(raw, c); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return c, nil
}

// SetPolicy configures a policy of a directive that has not been loaded.
func (g *Gateway) SetPolicy(c *policy.Configured) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Entry.Name, err)
	}
	if g.PoliciesRaw == nil {
		g.PoliciesRaw = caddy.ModuleMap{}
	}
	g.PoliciesRaw[c.Entry.Name] = raw
	return nil
}

// Add adds a line to a directive that has not been loaded.
func (g *Gateway) Add(line policy.Option) error {
	if set, own := gatewayOptions[line.Name]; own {
		return set(g, line)
	}
	e, known := policies.Lookup(line.Name)
	if !known {
		return line.Unknown(directiveWords()...)
	}
	c, err := g.Policy(e)
	if err != nil {
		return err
	}
	if err := c.Configure(line); err != nil {
		return err
	}
	return g.SetPolicy(c)
}

// Interface guards
var (
	_ caddy.Module     = (*policyModule)(nil)
	_ json.Unmarshaler = (*policyModule)(nil)
	_ json.Marshaler   = (*policyModule)(nil)
)
