package gateway

import (
	"crypto/tls"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// TestPeer_Trust: only a trusted proxy's word about the client is believed.
func TestPeer_Trust(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		r := prepared(httptest.NewRecorder(), "/", "X-Forwarded-Proto", "https")
		caddyhttp.SetVar(r.Context(), caddyhttp.TrustedProxyVarKey, trusted)
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "2001:db8::1")
		if peerOf(r, varsOf(r)).secure != trusted || peerOf(r, varsOf(r)).client.String() != "2001:db8::1" {
			t.Errorf("trusted %v: %v %v", trusted, peerOf(r, varsOf(r)).secure, peerOf(r, varsOf(r)).client)
		}
	}
}

// TestPeer_EarlyData: the address of a request in early data may be forged, and counts only
// when the handshake has ended.
func TestPeer_EarlyData(t *testing.T) {
	for _, complete := range []bool{true, false} {
		r := prepared(httptest.NewRecorder(), "/")
		r.ProtoMajor, r.TLS = 3, &tls.ConnectionState{HandshakeComplete: complete}
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "2001:db8::1")
		if p := peerOf(r, varsOf(r)); p.client.IsValid() != complete || !p.secure {
			t.Errorf("handshake complete %v: %+v", complete, p)
		}
	}
}

// TestPeer_EarlyDataShare: all requests in early data together hold what one address may, and
// take nothing from an address that is known.
func TestPeer_EarlyDataShare(t *testing.T) {
	s, shares := new(site), budget.NewShares(800) // an address has 100
	take := func(early bool, from string) error {
		r := prepared(httptest.NewRecorder(), "/")
		r.ProtoMajor, r.ContentLength, r.TLS = 3, 60, &tls.ConnectionState{HandshakeComplete: !early}
		caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, from)
		if rest := new(MatchRESTCall).holder(r).Client; early && rest != ofEarlyData {
			t.Errorf("the matcher counts it for %s", rest)
		}
		return shares.Try(s.holderOf(r, peerOf(r, varsOf(r))), 60)
	}
	var full budget.FullError
	for i, c := range []struct {
		early bool
		from  string
		full  budget.FullError
	}{
		{true, "2001:db8::1", ""},
		{true, "2001:db8::1", "client"},
		{true, "192.0.2.7", "client"}, // who says so may be the same
		{true, "10.0.0.1", "client"},
		{false, "2001:db8::1", ""},
	} {
		full = ""
		if errors.As(take(c.early, c.from), &full); full != c.full {
			t.Errorf("%d: %q is full, want %q", i, full, c.full)
		}
	}
}
