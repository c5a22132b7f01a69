package caddymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// name names the directive by all that it says, not by where it stands: it is
// the same on gateways whose Caddyfiles have other paths, lines or ports.
func (g *Gateway) name() (string, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return "", err
	}
	var said any
	if err := json.Unmarshal(text, &said); err != nil {
		return "", err
	}
	text, err = json.Marshal(withoutPositions(said))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), err
}

// withoutPositions drops the fields "at" from a decoded configuration.
func withoutPositions(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "at")
		for _, inner := range v {
			withoutPositions(inner)
		}
	case []any:
		for _, inner := range v {
			withoutPositions(inner)
		}
	}
	return v
}

// tellApart numbers the directives of a Caddyfile that say the same.
func (g *Gateway) tellApart(h httpcaddyfile.Helper) error {
	name, err := g.name()
	if err != nil || h.State == nil {
		return err
	}
	const key = "restwarden directives"
	seen, ok := h.State[key].(map[string]int)
	if !ok {
		seen = map[string]int{}
		h.State[key] = seen
	}
	g.Instance = seen[name]
	seen[name]++
	return nil
}
