package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// addressCache stands in front of a platform and keeps each answer of 200 by its address alone. It
// looks at no Cache-Control, Vary, Authorization or Cookie.
type addressCache struct {
	platform http.Handler

	mu    sync.Mutex
	kept  map[string]*httptest.ResponseRecorder
	times int // that a kept answer was sent
}

// ServeHTTP implements http.Handler.
func (c *addressCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.kept[r.RequestURI]
	if kept == nil {
		kept = httptest.NewRecorder()
		c.platform.ServeHTTP(kept, r)
		if kept.Code == http.StatusOK {
			c.kept[r.RequestURI] = kept
		}
	} else {
		c.times++
	}
	w.Header().Set("Content-Type", kept.Header().Get("Content-Type"))
	w.WriteHeader(kept.Code)
	_, _ = w.Write(kept.Body.Bytes())
}

// TestQuestions_CacheByAddress: a cache behind the gateway that keeps what it must not keep has no
// answer for a question, so that a forged log-in does not get the caller of an honest one.
func TestQuestions_CacheByAddress(t *testing.T) {
	for _, target := range []string{"/cms-json/cms/v2/posts", "/?rest_route=/cms/v2/posts"} {
		c := &addressCache{platform: newPlatform(t), kept: map[string]*httptest.ResponseRecorder{}}
		server := httptest.NewServer(c)
		t.Cleanup(server.Close)
		g := startGateway(t, "\trestwarden cms {\n\t\tallow role administrator /cms/v2/**\n\t\tdeny /cms/v2/**\n\t}\n\treverse_proxy "+strings.TrimPrefix(server.URL, "http://"))
		g.do("GET "+target, "", asAdmin).want(t, 200, "")
		g.do("GET "+target, "", asWrong).want(t, 401, "")
		g.do("GET "+target, "", asCustomer).want(t, 403, "")
		g.do("GET "+target, "").want(t, 403, "")
		g.do("GET "+target, "", asAdmin).want(t, 200, "")
		if c.times == 0 {
			t.Errorf("%s: the cache keeps nothing, so this test proves nothing", target)
		}
	}
}
