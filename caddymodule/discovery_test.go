package caddymodule

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestGateway_Discovery(t *testing.T) {
	p := newPlatform(t)
	p.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/cms-json/" {
			return false
		}
		io.WriteString(w, `{"home":"https://elsewhere.test","url":"http://elsewhere.test","namespaces":["wp/v2"],"routes":{}}`)
		return true
	}
	g := startGateway(t, "\trestwarden cms\n\tmetrics /metrics\n"+p.proxied())
	g.do("GET /", "", asAdmin).want(t, 200, "")
	eventually(t, "a warning", func() bool { return strings.Contains(g.logged(), "check the platform named") })
	eventually(t, "the gauge", func() bool {
		return strings.Contains(g.do("GET /metrics", "").body, "caddy_restwarden_misconfigured 3\n")
	})
	for _, q := range p.asks {
		if q.RequestURI == "/cms-json/" && q.Header.Get("Authorization") != "" {
			t.Error("the index was asked for with a client's credentials")
		}
	}
}
