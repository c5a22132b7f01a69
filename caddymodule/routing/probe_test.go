package routing

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

func init() {
	caddy.RegisterModule(new(probe))
	httpcaddyfile.RegisterHandlerDirective("probe", parseProbe)
	httpcaddyfile.RegisterDirectiveOrder("probe", httpcaddyfile.Before, "basic_auth")
}

// probe is a handler that passes on. Its directive is "probe <id>".
type probe struct {
	ID string `json:"id,omitempty"`
	At string `json:"at,omitempty"`

	app *caddyhttp.App
}

func (*probe) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.probe", New: func() caddy.Module { return new(probe) }}
}

// probes are the directives of these tests.
var probes = Directives{Handler: "probe", Read: func(all []json.RawMessage) (read []Said) {
	for _, raw := range all {
		var p probe
		_ = json.Unmarshal(raw, &p)
		read = append(read, Said{At: p.At})
	}
	return read
}}

// provisioned, if set, is called when a probe is loaded.
var provisioned func(app *caddyhttp.App, p *probe)

func (p *probe) Provision(ctx caddy.Context) error {
	p.app = ctx.Modules()[0].(*caddyhttp.App)
	if provisioned != nil {
		provisioned(p.app, p)
	}
	return nil
}

// passed, if set, is called when a request comes to a probe.
var passed func(p *probe, r *http.Request)

func (p *probe) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if passed != nil {
		passed(p, r)
	}
	return next.ServeHTTP(w, r)
}

func parseProbe(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	p := new(probe)
	return p, p.UnmarshalCaddyfile(h.Dispenser)
}

func (p *probe) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	d.Args(&p.ID)
	return nil
}

// configured returns the configuration of a Caddyfile.
func configured(tb testing.TB, source string) *caddy.Config {
	tb.Helper()
	source = "{\n\tauto_https off\n\tadmin off\n\tpersist_config off\n}\n" + source
	adapted, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		tb.Fatal(err)
	}
	for _, w := range warnings {
		tb.Log(w)
	}
	config := new(caddy.Config)
	if err := caddy.StrictUnmarshalJSON(adapted, config); err != nil {
		tb.Fatal(err)
	}
	return config
}

// eachTime calls seen with the app of a configuration: with nothing of it loaded, at each
// probe while Caddy loads it, and with all of it loaded.
func eachTime(t *testing.T, source string, seen func(when string, app *caddyhttp.App)) {
	t.Helper()
	config := configured(t, source)
	app := new(caddyhttp.App)
	if err := caddy.StrictUnmarshalJSON(config.AppsRaw["http"], app); err != nil {
		t.Fatal(err)
	}
	seen("raw", app)
	provisioned = func(app *caddyhttp.App, p *probe) { seen("at "+p.ID, app) }
	defer func() { provisioned = nil }()
	ctx, err := caddy.ProvisionContext(config)
	if err != nil {
		t.Fatal(err)
	}
	provisioned = nil
	loaded, err := ctx.App("http")
	if err != nil {
		t.Fatal(err)
	}
	seen("loaded", loaded.(*caddyhttp.App))
}

// described writes ways as "id hosts flags", one a line.
func described(ways []Way) string {
	var lines []string
	for _, w := range ways {
		p, _ := w.Module.(*probe)
		if p == nil {
			p = decoded[probe](step{raw: w.Raw})
		}
		line := p.ID + " "
		if w.Hosts == nil {
			line += "any"
		} else {
			line += strings.Join(w.Hosts, ",")
		}
		if w.Errors {
			line += " errors"
		}
		if w.Named != "" {
			line += " " + w.Named
		}
		lines = append(lines, line)
	}
	return strings.Join(slices.Clip(lines), "\n")
}
