package rawrequest

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestServe_Bounded: an answer takes no more memory than it may, whatever comes before it.
func TestServe_Bounded(t *testing.T) {
	client := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}
	sent := 0
	answer := Serve([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), client, 80, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", strings.Repeat("x", 1<<20))
		for range MaxAnswer>>20 + 8 {
			w.WriteHeader(http.StatusEarlyHints)
			sent++
		}
	}))
	if len(answer) > MaxAnswer || sent < MaxAnswer>>20 {
		t.Errorf("%d bytes of %d early hints", len(answer), sent)
	}
}
