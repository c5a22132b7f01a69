package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/ask"
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
	for _, name := range ask.ForwardedHeaders {
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
		if r.Header.Get("User-Agent") != questions.OwnAgent {
			t.Errorf("%s as %s", r.RequestURI, r.Header.Get("User-Agent"))
		}
	}
}
