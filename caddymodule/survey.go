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
		if a.http == nil {
			return
		}
		report := layout.Survey(a.http, "restwarden")
		if len(report.Refused) > 0 {
			a.refused = refusals(report.Refused)
			return
		}
		a.findings = report.Odd
		for _, f := range report.Odd {
			logger.Warn("the configuration is odd", zap.String("code", f.Code), zap.String("at", f.At),
				zap.String("imported", f.Imported), zap.Strings("sites", f.Sites), zap.String("problem", f.Text))
		}
	})
	return a.refused
}
