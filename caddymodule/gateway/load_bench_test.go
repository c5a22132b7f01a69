package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// manySites returns a Caddyfile of n sites with one snippet: without the directive, with
// it, or with a line of its own for each site, "allow anyone GET /site-SITE/v1/status".
func manySites(tb testing.TB, n int, guarded bool, line string) string {
	tb.Helper()
	var b strings.Builder
	b.WriteString("{\n\tadmin off\n\tpersist_config off\n\tauto_https off\n\tlog {\n\t\toutput discard\n\t}\n}\n(site) {\n\tbind 127.0.0.1\n")
	if guarded {
		b.WriteString(`	restwarden wordpress {
		login_only
		allow anyone GET /wp/v2/posts /wp/v2/posts/:id /wp/v2/pages /wp/v2/media/:id
		allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback
		allow anyone /wc/store/v1/**
		deny /wp/v2/comments as 404
		rate_limit 60/1m POST /contact-form-7/**
		{block}
	}
`)
	}
	b.WriteString("\treverse_proxy 127.0.0.1:9\n}\n")
	port := machine.Port(machine.FreeAddress(tb))
	for site := range n {
		own := ""
		if line != "" {
			own = " {\n\t\t" + strings.ReplaceAll(line, "SITE", strconv.Itoa(site)) + "\n\t}"
		}
		fmt.Fprintf(&b, "http://shop%d.example.com:%s {\n\timport site%s\n}\n", site, port, own)
	}
	return b.String()
}

// BenchmarkManySites adapts and loads a configuration of many sites. go run
// ./cmd/check/scale measures the same in processes of their own.
func BenchmarkManySites(b *testing.B) {
	const sites = 1000
	for _, kind := range []struct {
		name    string
		guarded bool
		line    string
	}{
		{"bare", false, ""},
		{"snippet", true, ""},
		{"line", true, "allow anyone GET /site-SITE/v1/status"},
		{"plugins", true, "allow plugin contact-form-7"},
	} {
		file := manySites(b, sites, kind.guarded, kind.line)
		b.Run("adapt/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				caddyrun.Adapt(b, file)
			}
		})
		config := caddyrun.Adapt(b, file)
		b.Run("load/"+kind.name, func(b *testing.B) {
			b.ReportAllocs()
			defer caddyrun.Stop(b)
			for b.Loop() {
				if err := caddy.Load(config, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSites_NamedRoute is a page of the last of many sites that invoke one named route.
func BenchmarkSites_NamedRoute(b *testing.B) {
	for _, n := range []int{1, 1000} {
		for _, line := range []string{"", "\tinvoke guarded\n"} {
			var file strings.Builder
			file.WriteString("{\n\tadmin off\n\tpersist_config off\n\tauto_https off\n}\n&(guarded) {\n\trestwarden cms\n}\n")
			port := machine.Port(machine.FreeAddress(b))
			for i := range n {
				fmt.Fprintf(&file, "http://shop%d.example:%s {\n\tbind 127.0.0.1\n%s\trespond page\n}\n", i, port, line)
			}
			b.Run(fmt.Sprintf("sites=%d/guarded=%t", n, line != ""), func(b *testing.B) {
				if err := caddy.Load(caddyrun.Adapt(b, file.String()), true); err != nil {
					b.Fatal(err)
				}
				defer caddyrun.Stop(b)
				app, err := caddy.ActiveContext().App("http")
				if err != nil {
					b.Fatal(err)
				}
				w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
				r.Host = fmt.Sprintf("shop%d.example", n-1)
				b.ReportAllocs()
				for b.Loop() {
					app.(*caddyhttp.App).Servers["srv0"].ServeHTTP(w, r)
				}
			})
		}
	}
}
