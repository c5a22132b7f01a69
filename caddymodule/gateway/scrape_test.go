package gateway

import (
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

func init() {
	caddy.RegisterModule(scraping{})
	httpcaddyfile.RegisterHandlerDirective("scraping", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) { return scraping{}, nil })
}

// scraping is a handler that reads all metrics when it is loaded, as a Prometheus may while Caddy
// loads the rest of a configuration.
type scraping struct{}

func (scraping) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.scraping", New: func() caddy.Module { return new(scraping) }}
}

func (scraping) Provision(ctx caddy.Context) error {
	_, err := ctx.GetMetricsRegistry().Gather()
	return err
}

func (scraping) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

// TestMetrics_ScrapedWhileLoading: a scrape that comes when some directives are loaded and others
// are not leaves each of them its sites.
func TestMetrics_ScrapedWhileLoading(t *testing.T) {
	p := newPlatform(t)
	g := administered(t, "\tmetrics\n", caddyrun.Site{Body: "\t@one host one.example.com\n\thandle @one {\n\t" + loginOnly + p.proxied() + "\n\t}\n" +
		"\thandle /scraped {\n\t\troute {\n\t\t\tscraping\n\t\t}\n\t}\n" +
		"\t@two host two.example.com\n\thandle @two {\n\t" + loginOnly + p.proxied() + "\n\t}\n"})
	for _, site := range []string{"one.example.com", "two.example.com"} {
		g.do("GET /cms-json/cms/v2/posts", "", "Host: "+site).want(t, 401, "rest_not_logged_in")
		g.admin("GET", "sites/"+site+"/refusals", "", 200, `"site":"`+site+`"`)
	}
}
