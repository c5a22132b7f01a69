package gateway

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestByteOrderMark: a site whose code puts a byte order mark before each answer works in
// browsers, and so it does behind the gateway: callers are known, and answers are rewritten.
func TestByteOrderMark(t *testing.T) {
	p := newPlatform(t)
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := httptest.NewRecorder()
		p.ServeHTTP(own, r)
		maps.Copy(w.Header(), own.Header())
		w.WriteHeader(own.Code)
		_, _ = io.WriteString(w, "\ufeff"+own.Body.String())
	}))
	t.Cleanup(behind.Close)
	g := startGateway(t, loginOnly+"\treverse_proxy "+strings.TrimPrefix(behind.URL, "http://"))
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "\ufeff")
	g.do("GET /cms-json/cms/v2/posts", "").want(t, 401, "rest_not_logged_in")
	g.do("GET /cms-json/feed/options", "", asAdmin).want(t, 200, `"access_token":"[redacted]"`)
}
