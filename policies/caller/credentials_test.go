package caller

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestCredentials_LongNonce: a question carries no more of a nonce than tells that it is wrong.
// The nonce of a form would else make an address of three times its size.
func TestCredentials_LongNonce(t *testing.T) {
	long := strings.Repeat(`"`, 100<<10)
	s := newSite(t)
	for nonce, want := range map[string]int{"0123456789": 10, long[:256]: 256, long: 256} {
		for _, test := range []struct{ body, kind string }{
			{"_wpnonce=" + nonce, formType},
			{"--B\r\nContent-Disposition: form-data; name=\"_wpnonce\"\r\n\r\n" + nonce + "\r\n--B--\r\n", "Content-Type: multipart/form-data; boundary=B"},
		} {
			w := request(t, s, asktest.Answering(200, adminBody), http.MethodPost, "/wp-json/wp/v2/posts", test.body, test.kind, loginLine)
			for _, kind := range []ask.Kind{ask.KindCart, ask.KindCaller} {
				q, err := w.Question(ask.Question{Kind: kind, As: ask.AsCaller, Route: "/x"})
				sent, _ := url.ParseQuery(q.Query)
				if got := sent.Get("_wpnonce"); err != nil || got != nonce[:want] {
					t.Errorf("%s, %v: a nonce of %d bytes is one of %d in the question, %v", test.kind, kind, len(nonce), len(got), err)
				}
			}
		}
	}
}

// TestCredentials_LongNonceHeader: neither does it of the header.
func TestCredentials_LongNonceHeader(t *testing.T) {
	s := newSite(t)
	for _, n := range []int{10, 256, 257, 14 << 10} {
		nonce := strings.Repeat("a", n)
		w := request(t, s, asktest.Answering(200, adminBody), http.MethodGet, "/wp-json/wp/v2/posts", "", loginLine, "X-WP-Nonce: "+nonce)
		q, err := w.Question(ask.Question{Kind: ask.KindCaller, As: ask.AsCaller, Route: "/x"})
		if got := q.Header.Get("X-WP-Nonce"); err != nil || got != nonce[:min(n, 256)] {
			t.Errorf("a nonce of %d bytes is one of %d in the question, %v", n, len(got), err)
		}
	}
}
