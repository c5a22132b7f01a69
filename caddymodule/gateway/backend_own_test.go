package gateway

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestOwnBackend: what a stranger sends has no say in whether the REST root is
// found. What the site's own handlers add is sent.
func TestOwnBackend(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case !isQuestion(r):
			return false
		case strings.Contains(fmt.Sprint(r.Header), "stranger"), r.Header.Get("X-Forwarded-For") != "127.0.0.1", r.Header.Get("X-Secret") != "k":
			w.WriteHeader(http.StatusForbidden) // a firewall
		case r.URL.Path == "/cms-json/":
			io.WriteString(w, `{"namespaces":["cms/v2"],"routes":{"/":{},"/cms/v2/posts/(?P<id>[\\d]+)":{}}}`)
		}
		return true
	})
	g := startGateway(t, loginOnly+"\trequest_header X-Secret k\n"+p.proxied())
	var stranger []string
	for _, name := range forwardedHeaders {
		stranger = append(stranger, name+": stranger")
	}
	stranger = append(stranger, "X-Forwarded-For: 192.0.2.7")
	g.do("GET /cms-json/cms/v2/posts/1", "", stranger...).want(t, 401, "")
	eventually(t, "the index", func() bool {
		g.do("GET /cms-json/cms/v2/posts/7", "").want(t, 401, "")
		return strings.Contains(g.logged(), `"route":"/cms/v2/posts/:id"`)
	})
	if n := p.roots("/cms-json/"); n != 1 {
		t.Errorf("the root was read %d times", n)
	}
	for _, r := range p.asks {
		if r.Header.Get("User-Agent") != ownAgent {
			t.Errorf("%s as %s", r.RequestURI, r.Header.Get("User-Agent"))
		}
	}
}

// TestOwnBackend_Scheme: that a client uses https is all that is taken from its headers, and only
// where the connection does not tell.
func TestOwnBackend_Scheme(t *testing.T) {
	g := provisioned(t, `{"platform":"wordpress"}`)
	secure := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Ssl", "on", "X-Forwarded-Port", "443", "Cf-Visitor", `{"scheme":"https"}`}
	for name, test := range map[string]struct {
		headers []string
		tls     bool
		want    int
	}{
		"https in front":   {secure, false, 4},
		"https":            {secure, true, 0},
		"http":             {[]string{"X-Forwarded-Proto", "http", "X-Forwarded-Ssl", "off", "X-Forwarded-Port", "80", "Cf-Visitor", `{"scheme":"http"}`}, false, 0},
		"something else":   {[]string{"X-Forwarded-Proto", "https, x", "X-Forwarded-Ssl", "on ", "X-Forwarded-Port", "4430", "Cf-Visitor", "https"}, false, 0},
		"others by a name": {[]string{"User-Agent", "x", "X-Real-Ip", "192.0.2.7", "X-Forwarded-Host", "x"}, false, 0},
	} {
		r := prepared(httptest.NewRecorder(), "/", test.headers...)
		if r.TLS = nil; test.tls {
			r.TLS = new(tls.ConnectionState)
		}
		b := ownBackend(g.sites[0], r, nil)
		if got := slices.Sorted(maps.Keys(b.header)); len(got) != test.want+1 || b.header.Get("User-Agent") != ownAgent {
			t.Errorf("%s: %v", name, b.header)
		}
	}
}
