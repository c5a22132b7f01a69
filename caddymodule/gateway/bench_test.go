package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// provisioned returns a gateway without a server around it.
func provisioned(tb testing.TB, config string) *Gateway {
	tb.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: tb.Context()})
	tb.Cleanup(cancel)
	module, err := ctx.LoadModuleByID("http.handlers.restwarden", json.RawMessage(config))
	if err != nil {
		tb.Fatal(err)
	}
	g := module.(*Gateway)
	g.app.logger, g.app.agents = zap.NewNop(), zap.NewNop()
	g.app.assign()
	g.sites[0].discovery.Stop() // there is no platform whose root could be read
	return g
}

// prepared is a request as Caddy hands it to its handlers.
func prepared(w http.ResponseWriter, target string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
}

// silent is a ResponseWriter that allocates nothing.
type silent struct{ header http.Header }

func (w silent) Header() http.Header         { return w.header }
func (w silent) Write(b []byte) (int, error) { return len(b), nil }
func (w silent) WriteHeader(int)             { clear(w.header) }

// behind answers questions with an administrator, everything else with nothing.
var behind = caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Path == "/cms-json/cms/v2/users/me" {
		_, err := io.WriteString(w, `{"id":1,"roles":["administrator"]}`)
		return err
	}
	return nil
})

const everyPage = `{"platform":"cms","policies":{"access":{"login_only":true},"session_cookies":{"path":"/"}}}`

// TestPage_OneAllocation: a page costs what looks at its answer.
func TestPage_OneAllocation(t *testing.T) {
	g := provisioned(t, `{"platform":"cms","policies":{"access":{"login_only":true}}}`)
	w := silent{http.Header{}}
	r := prepared(w, "/product/shirt?colour=red")
	if n := testing.AllocsPerRun(1000, func() {
		if err := g.ServeHTTP(w, r, behind); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGateway(b *testing.B) {
	for name, c := range map[string]struct {
		config, target string
		headers        []string
	}{
		"page":          {`{"platform":"cms","policies":{"access":{"login_only":true}}}`, "/product/shirt?colour=red", nil},
		"page/rewriter": {everyPage, "/product/shirt?colour=red", nil},
		"anonymous":     {everyPage, "/cms-json/cms/v2/posts", nil},
		"identified":    {everyPage, "/cms-json/cms/v2/posts", []string{"Authorization", "Basic YWRtaW46cHc="}},
	} {
		b.Run(name, func(b *testing.B) {
			g := provisioned(b, c.config)
			w := silent{http.Header{}}
			r := prepared(w, c.target, c.headers...)
			b.ReportAllocs()
			for b.Loop() {
				if err := g.ServeHTTP(w, r, behind); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
