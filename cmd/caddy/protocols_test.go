package main

import (
	"context"
	"net/http"
	"testing"
	"time"

	quic "github.com/quic-go/quic-go/http3"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// The protocols by which clients reach the gateway. HTTP/2 and 3 are spoken over TLS.
const http1, http2, http3 = rawhttp.Protocol1, rawhttp.Protocol2, rawhttp.Protocol3

var protocols = []string{http1, http2, http3}

// secure tells whether the gateway is reached over TLS.
func (w *world) secure() bool { return w.protocol == http2 || w.protocol == http3 }

// connect makes the world's client, once the gateway at address has its certificate.
func (w *world) connect(address string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	conn, err := rawhttp.DialHTTP2(ctx, address)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = conn.Close()
	w.client = clientOf(w.t, w.protocol)
}

// clientOf is a client that speaks HTTP/2 or 3 and nothing else.
func clientOf(t *testing.T, protocol string) *http.Client {
	t.Helper()
	c := client.New()
	if protocol == http3 {
		transport := &quic.Transport{TLSClientConfig: rawhttp.Trusting("h3"), DisableCompression: true}
		t.Cleanup(func() { _ = transport.Close() })
		c.Transport = transport
		return c
	}
	transport := &http.Transport{TLSClientConfig: rawhttp.Trusting("h2"), DisableCompression: true, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	c.Transport = transport
	return c
}

// TestDocument_Protocols walks all rows of one release over HTTP/3, which has each kind of
// rule in it, and those of the defaults over HTTP/2. More would take long and show no more.
func TestDocument_Protocols(t *testing.T) {
	for _, mode := range modes() {
		walk(t, http3, "cms", "10.7", mode)
	}
	walk(t, http2, "wordpress", "11.1", modes()[0])
}
