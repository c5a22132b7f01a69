package caddymodule

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/policies"
)

const policyNamespace = "http.handlers.restwarden.policies"

func init() {
	for _, e := range policies.Catalog {
		caddy.RegisterModule(policyModule{entry: e})
	}
}

// policyModule makes any entry of the catalog a guest module of the gateway.
// Its JSON is the policy's own, read strictly.
type policyModule struct {
	entry policies.Entry
	policies.Policy
}

// CaddyModule returns the Caddy module information.
func (m policyModule) CaddyModule() caddy.ModuleInfo {
	e := m.entry
	return caddy.ModuleInfo{
		ID:  caddy.ModuleID(policyNamespace + "." + e.Name),
		New: func() caddy.Module { return newPolicyModule(e) },
	}
}

func newPolicyModule(e policies.Entry) *policyModule { return &policyModule{e, e.New()} }

// UnmarshalJSON reads the policy's configuration; unknown fields are errors.
func (m *policyModule) UnmarshalJSON(b []byte) error {
	return caddy.StrictUnmarshalJSON(b, m.Policy)
}

// MarshalJSON writes the policy's configuration.
func (m *policyModule) MarshalJSON() ([]byte, error) { return json.Marshal(m.Policy) }

// live returns a copy of the policy with its secrets resolved: what is resolved
// never finds its way back into JSON.
func (m *policyModule) live() (policies.Policy, error) {
	b, err := m.MarshalJSON()
	if err != nil {
		return nil, err
	}
	copied := newPolicyModule(m.entry)
	if err := copied.UnmarshalJSON(b); err != nil {
		return nil, err
	}
	return copied.Policy, resolveSecrets(copied.Policy)
}

// loadPolicies returns the policies that the configuration names, by name.
func (g *Gateway) loadPolicies(ctx caddy.Context) (map[string]policies.Policy, error) {
	if g.PoliciesRaw == nil {
		return nil, nil
	}
	loaded, err := ctx.LoadModule(g, "PoliciesRaw")
	if err != nil {
		return nil, err
	}
	configured := make(map[string]policies.Policy)
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
	_ policies.Policy  = (*policyModule)(nil)
)
