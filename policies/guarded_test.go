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
	configured := map[string]*Configured{}
	for _, o := range options {
		e, known := Lookup(o.Name)
		if !known {
			t.Fatalf("no policy takes %s", o.Name)
		}
		if configured[e.Name] == nil {
			configured[e.Name] = NewConfigured(e)
		}
		if err := configured[e.Name].Configure(o); err != nil {
			t.Fatal(err)
		}
	}
	c, err := NewChain(s, Enforce, configured)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hexMAC is the signature of text under key, in hex.
func hexMAC(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}
