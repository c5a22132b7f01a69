package gateway

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestReadings_OfOneAddress: who calls by many made-up hosts leaves readings to others, and to hosts
// that are known.
func TestReadings_OfOneAddress(t *testing.T) {
	s := newTestSite(t)
	s.Name = t.Name()
	now := int64(0)
	learns := func(from string, known bool) bool {
		now += int64(discoverNew) + 1
		r := prepared(httptest.NewRecorder(), "/")
		r.Host = fmt.Sprintf("shop.example:%d", now%60_000+1)
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, from)
		return s.discovery.mayLearn(s, r, known, now)
	}
	n := 0
	for range 10 * newHostsRate.Count {
		if learns("192.0.2.7", false) {
			n++
		}
	}
	if n < newHostsRate.Count || n > newHostsRate.Count+1 { // one more where the test is slow
		t.Errorf("%d readings for one address", n)
	}
	if !learns("192.0.2.8", false) || !learns("192.0.2.7", true) || !learns("10.0.0.1", false) {
		t.Error("another address, a known host or a proxy has no reading")
	}
	s.discovery.unnamed.Store(now * 2)
	if learns("192.0.2.9", false) || !learns("192.0.2.9", true) {
		t.Error("known hosts wait for the unknown")
	}
}
