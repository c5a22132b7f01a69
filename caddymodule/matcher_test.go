package caddymodule

import (
	"strings"
	"testing"
)

func TestMatcher(t *testing.T) {
	p := newPlatform(t)
	before := "\t@users rest_call GET,POST /cms/v2/users /wp/v2/users\n\t@big rest_call /cms/v2/media\n"
	for name, site := range map[string]string{
		"alone":              before + "\thandle @users {\n\t\trespond matched\n\t}\n\thandle @big {\n\t\trespond big\n\t}\n" + p.proxied(),
		"behind the gateway": before + "\trestwarden cms {\n\t\trecommended off\n\t}\n\thandle @users {\n\t\trespond matched\n\t}\n\thandle @big {\n\t\trespond big\n\t}\n" + p.proxied(),
		"before the gateway": before + "\trequest_header @users X-Seen 1\n\trestwarden cms {\n\t\trecommended off\n\t}\n\thandle @users {\n\t\trespond matched\n\t}\n\thandle @big {\n\t\trespond big\n\t}\n" + p.proxied(),
	} {
		t.Run(name, func(t *testing.T) {
			g := startGateway(t, site)
			g.do("GET /cms-json/cms/v2/users", "").want(t, 200, "matched")
			g.do("POST /x", "rest.route=/CMS/v2/users", form).want(t, 200, "matched")
			g.do("PUT /cms-json/cms/v2/users", "").want(t, 200, `"route"`)
			g.do("GET /cms-json/cms/v2/media", "").want(t, 200, "big")
			g.do("GET /a-page", "").want(t, 200, "a-page")
			long := "x=" + strings.Repeat("y", 100_000)
			g.do("POST /a-page", long, form).want(t, 200, long)
			if r := g.do("GET /cms-json/a?rest_route=/b", ""); r.status != 400 {
				t.Errorf("%d", r.status)
			}
			if name == "alone" {
				g.do("GET /wp-json/wp/v2/users", "").want(t, 200, "matched")
			}
			eventually(t, "spooled bodies are gone", func() bool { return spooledBytes() == 0 })
		})
	}
}
