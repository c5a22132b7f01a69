package caddymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// fingerprint identifies the directive by its content, not by its place. It is the same
// on gateways whose Caddyfiles differ in paths, lines or ports.
func (g *Gateway) fingerprint() (string, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return "", err
	}
	var said any
	if err := json.Unmarshal(text, &said); err != nil {
		return "", err
	}
	inNanoseconds(said)
	text, err = json.Marshal(withoutPositions(said))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), err
}

// inNanoseconds writes the durations of identity as numbers, since the keys in the Redis
// that gateways share depend on this form.
func inNanoseconds(said any) {
	directive, _ := said.(map[string]any)
	identity, _ := directive["identity"].(map[string]any)
	for _, name := range []string{"ttl", "timeout"} {
		if text, ok := identity[name].(string); ok {
			if d, err := time.ParseDuration(text); err == nil {
				identity[name] = int64(d)
			}
		}
	}
}

// withoutPositions drops the fields "at" and "imported" from a decoded configuration.
func withoutPositions(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "at")
		delete(v, "imported")
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

// tellApart numbers the directives of a Caddyfile that have the same content.
func (g *Gateway) tellApart(h httpcaddyfile.Helper) error {
	name, err := g.fingerprint()
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
