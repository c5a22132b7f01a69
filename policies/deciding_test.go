package policies

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/signature"
)

// TestDeciding: the names of both platforms. Those of the first list may stand once, under one name.
// A name is added here on purpose only: calls that pass today would be refused, or configurations
// that are well today be odd.
func TestDeciding(t *testing.T) {
	once := []string{
		"Authorization", "Cart-Token", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Nonce", "Origin", "X-Http-Method-Override",
		"X-Mcp-Api-Key", "X-Signature", "X-Timestamp",
	}
	more := []string{
		"Mcp-Method", "Mcp-Name", "Stripe-Signature", "Transfer-Encoding", "Webhook-Id", "Webhook-Signature", "Webhook-Timestamp", "X-Hub-Signature-256",
		"X-Wc-Webhook-Signature",
	}
	own := caller.Own{Headers: []string{"x-staff-token"}, Cookies: []string{"staff"}}
	chosen := []*signature.Signature{{SignatureHeader: "X-Acme-Sign", TimestampHeader: "x-acme-time"}, {}}
	for _, p := range platforms.All() {
		want := slices.Concat(once, more, []string{p.NonceHeader, "X-Staff-Token", "X-Acme-Sign", "X-Acme-Time"})
		slices.Sort(want)
		if got := Deciding(&p, own, chosen); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", p.Name, got, want)
		}
		rd := NewReader(call.Config{Platform: p})
		for _, name := range Deciding(&p, caller.Own{}, nil) {
			one := slices.Contains(once, name) || name == p.NonceHeader
			taken := httptest.NewRequest(http.MethodGet, "/"+p.Prefix+"/a", http.NoBody)
			taken.Header.Set("Connection", name) // a proxy would take it away
			if c := rd.Read(taken, nil); c.Kind != call.Refused {
				t.Errorf("%s: Connection: %s is read as %s", p.Name, name, c.Kind)
			}
			for _, sign := range []string{"", "_", "."} { // "" stands for the name itself, twice
				as, values := name, []string{"a", "a"}
				if sign != "" {
					as, values = strings.Replace(name, "-", sign, 1), values[:1]
				}
				if as == name && sign != "" {
					continue
				}
				r := httptest.NewRequest(http.MethodGet, "/"+p.Prefix+"/a", http.NoBody)
				r.Header[as] = values
				if c := rd.Read(r, nil); (c.Kind == call.Refused) != one {
					t.Errorf("%s: %s %q is read as %s", p.Name, as, values, c.Kind)
				}
			}
		}
	}
}
