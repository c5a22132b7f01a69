package ratelimit

import (
	"testing"

	"github.com/restwarden/restwarden/policies/policytest"
)

// TestRateLimit_Preflights: a preflight counts against every limit of its route, whatever the
// methods, but those of messages and of other routes.
func TestRateLimit_Preflights(t *testing.T) {
	for text, want := range map[string]int{
		"rate_limit 2/1h /complianz/v1/track":            2,
		"rate_limit 2/1h POST /complianz/v1/track":       2,
		"rate_limit 2/1h POST /complianz/v1/other":       4,
		"rate_limit 2/1h tools/call /complianz/v1/track": 4,
	} {
		s := policytest.NewSite(t)
		p, passed := limited(t, s, text), 0
		for range 4 {
			r := policytest.Request(t, s, nil, "OPTIONS", "/wp-json/complianz/v1/track", "")
			r.Preflight = true
			v, err := p.CheckPreflight(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !v.Refused() {
				passed++
			}
		}
		if passed != want {
			t.Errorf("%s: %d of 4 pass, want %d", text, passed, want)
		}
	}
}
