package policies

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// guarded is the chain of a site with these lines of a Caddyfile.
func guarded(t *testing.T, s *Site, options ...Option) *Chain {
	t.Helper()
	return guardedBy(t, s, Catalog, options...)
}

// configured is a configuration that names one policy.
func configured(name string, p Policy, settings ...Settings) map[string]*Configured {
	e, _ := Lookup(name)
	return map[string]*Configured{name: {Entry: e, Policy: p, Settings: append(settings, Settings{})[0]}}
}

// hexMAC is the signature of text under key, in hex.
func hexMAC(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}
