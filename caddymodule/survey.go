package caddymodule

import (
	"strings"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/layout"
)

// refusals are directives that guard nothing. Each names its own place.
type refusals []layout.Finding

// Error implements error.
func (r refusals) Error() string {
	lines := make([]string, len(r))
	for i, f := range r {
		lines[i] = "restwarden"
		if f.At != "" {
			lines[i] += " at " + f.At
		}
		if f.Imported != "" {
			lines[i] += " (imported by " + f.Imported + ")"
		}
		lines[i] += ": " + f.Text
	}
	return strings.Join(lines, "\n")
}

// survey looks once at the whole HTTP app, and logs what is odd. It returns an error if a
// directive guards nothing. The first gateway must call it before Caddy has loaded any.
func (a *App) survey(logger *zap.Logger) error {
	a.surveyed.Do(func() {
		if a.http == nil || a.dry != nil { // a dry run looks by itself, at what the stand-ins replace
			return
		}
		report := layout.Survey(a.http, "restwarden")
		if len(report.Refused) > 0 {
			a.refused = refusals(report.Refused)
			return
		}
		for _, f := range report.Odd {
			a.odd(logger, f)
		}
	})
	return a.refused
}

// odd logs what is odd in the configuration, and keeps it for the metrics.
func (a *App) odd(logger *zap.Logger, f layout.Finding) {
	a.findings = append(a.findings, f)
	logger.Warn("the configuration is odd", zap.String("code", f.Code), zap.String("at", f.At),
		zap.String("imported", f.Imported), zap.Strings("sites", f.Sites), zap.String("problem", f.Text))
}

// countFindings counts what is odd under the names of sites, once they are known.
func (a *App) countFindings() {
	for _, f := range a.findings {
		a.metrics.misconfigured.WithLabelValues(a.siteOf(f), f.Code).Set(1)
	}
}

// siteOf returns the name of the site that f is about, or its first host: a finding may
// be about a site without the directive.
func (a *App) siteOf(f layout.Finding) string {
	for _, g := range a.gateways {
		if g.At != f.At || g.importedAt("") != f.Imported {
			continue
		}
		for _, s := range g.sites {
			if len(f.Sites) == 0 || len(s.Hosts) > 0 && s.Hosts[0] == f.Sites[0] {
				return s.Name
			}
		}
	}
	if len(f.Sites) > 0 {
		return f.Sites[0]
	}
	return "*"
}
