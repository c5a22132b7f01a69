package gateway

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"

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
	return live, resolveSecrets(live)
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

// Interface guards
var (
	_ caddy.Module     = (*policyModule)(nil)
	_ json.Unmarshaler = (*policyModule)(nil)
	_ json.Marshaler   = (*policyModule)(nil)
)
