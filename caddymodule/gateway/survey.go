package gateway

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/signature"
)

// Directives says how directives restwarden are found and read in a configuration that is not loaded.
var Directives = routing.Directives{Handler: "restwarden", Read: func(all []json.RawMessage) []routing.Said {
	read, _ := readAll(all)
	return said(read)
}}

func said(all []*Gateway) []routing.Said {
	each := make([]routing.Said, len(all))
	for i, g := range all {
		each[i] = g.said()
	}
	return each
}

// said is what the survey must know of a directive.
func (g *Gateway) said() routing.Said {
	d := routing.Said{
		At: g.At, Imported: g.Imported.At(""), Platform: g.Platform, Base: g.Base, Prefix: g.Prefix.First(), Observes: g.Mode == policy.Observe,
		SpoolDir: g.SpoolDir, SpoolLimit: g.spoolLimit(),
	}
	if g.Credentials != nil {
		d.Headers, d.Cookies = g.Credentials.Headers, g.Credentials.Cookies
	}
	if reading, err := g.Policy(policy.ReadingEntry); err == nil {
		d.ReadingOff = reading.Settings.Off
	}
	if signed, err := g.Policy(signature.Entry); err == nil {
		d.Signatures = signed.Policy.(*signature.Signatures).Signatures
	}
	return d
}

// survey looks once at the whole HTTP app, and logs what is odd. It returns an error if a
// directive guards nothing. The first gateway must call it before Caddy has loaded any.
func (a *App) survey() error {
	a.surveyed.Do(func() {
		if a.http == nil {
			return
		}
		a.placeholders = routing.Placeholders(a.http)
		if a.dry != nil { // a dry run looks by itself, at what the stand-ins replace
			return
		}
		found := Directives
		found.Read = func(all []json.RawMessage) []routing.Said {
			var read []*Gateway
			read, a.said = readAll(all)
			return said(read)
		}
		report := routing.Survey(a.http, found)
		if a.refused = report.Err(); a.refused != nil {
			return
		}
		for _, f := range report.Odd {
			a.odd(finding{Finding: f, directive: spot{f.At, f.Imported}})
		}
		a.routing = report
		a.texts = map[*caddyhttp.Server]*routing.Texts{}
		for _, server := range a.http.Servers {
			a.texts[server] = routing.TextsOf(server)
		}
	})
	return a.refused
}

// spot is where a directive stands, and where it was imported.
type spot struct{ at, imported string }

func (g *Gateway) spot() spot { return spot{g.At, g.Imported.At("")} }

// elsewhere tells whether a directive stands there, and on other servers alone.
func (a *App) elsewhere(where spot, server string) (found bool) {
	for _, g := range a.gateways {
		if g.spot() == where {
			if g.server == server {
				return false
			}
			found = true
		}
	}
	return found
}

// finding is something odd in a directive, or because of it.
type finding struct {
	routing.Finding
	directive spot
	whole     bool // it is about all sites of the directive
}

// odd logs what is odd in the configuration, and keeps it for the metrics.
func (a *App) odd(f finding) {
	f.Text, f.Do = routes.Masked(f.Text), routes.Masked(f.Do)
	a.findings = append(a.findings, f)
	a.logger.Warn("the configuration is odd", zap.String("code", f.Code), zap.String("at", f.At),
		zap.String("imported", f.Imported), zap.Strings("sites", f.Sites), zap.String("problem", f.Problem()))
}

// oddRules says of each directive what is odd in its rules. Directives that share an engine
// share what is odd.
func (a *App) oddRules(g *Gateway) {
	if a.dry != nil && a.dry.Odd == nil {
		return
	}
	if g.engine.odd == nil {
		g.engine.odd = append([]review.Odd{}, review.OddIn(g.engine.chain)...)
	}
	odd := g.engine.odd
	if a.dry != nil && a.dry.Installed != nil {
		if site := a.dry.Installed(g.At, g.Imported.At("")); site != nil {
			odd = review.OddOn(g.engine.chain, site)
		}
	}
	if len(odd) == 0 || slices.ContainsFunc(a.gateways, func(other *Gateway) bool { return other.engine == g.engine && other.spot() == g.spot() }) {
		return // a snippet within a snippet, or a directive in JSON without a place
	}
	hosts := a.routing.HostsOf(g.At, g.Imported.At(""))
	for _, o := range odd {
		at := g.Lines.In(o.At)
		f := routing.Finding{Code: o.Code, At: cmp.Or(at, g.At), Imported: g.Imported.At(at), Sites: hosts, Text: g.Lines.In(o.Text), Do: g.Lines.In(o.Do), Note: o.Note}
		switch {
		case a.dry != nil:
			a.dry.Odd(f, g.At, g.Imported.At(""))
		case !o.Note:
			a.odd(finding{f, g.spot(), true})
		case o.Said:
			a.logger.Info("a line of the configuration changes nothing", zap.String("code", f.Code),
				zap.String("at", f.At), zap.String("imported", f.Imported), zap.String("problem", routes.Masked(f.Problem())))
		}
	}
}

// sitesOf returns the names of the sites that f is about, or its first host: a finding may
// be about a site without the directive.
func (a *App) sitesOf(f finding) []string {
	var names []string
	for _, g := range a.gateways {
		if g.spot() != f.directive {
			continue
		}
		for _, s := range g.sites {
			switch {
			case f.whole:
				names = append(names, s.Name)
			case len(f.Sites) == 0 || len(s.Hosts) > 0 && s.Hosts[0] == f.Sites[0]:
				return []string{s.Name}
			}
		}
	}
	switch {
	case names != nil:
		return names
	case len(f.Sites) > 0:
		return f.Sites[:1]
	}
	return []string{"*"}
}
