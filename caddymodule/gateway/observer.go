package gateway

import (
	"context"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// ServedSite is what a gateway says of the site that a request has reached.
type ServedSite struct {
	Name, Base   string
	Prefix       string // of the pretty form, without slashes
	Aliases      []call.Alias
	At, Imported string
	ImportedAt   func(at string) string // where the line at a place was imported
	Reader       *call.Reader
	Chain        *policy.Chain
	Policies     *policy.Site
}

// Observer hears what the gateways of a configuration do with the requests of dry runs.
type Observer struct {
	// Read reports that a gateway has read r; original is the client's own URL, where
	// rewrites have changed it. The call is open until the gateway has answered.
	Read func(r *http.Request, original *url.URL, s *ServedSite, c *call.Call)
	// Asking returns the context for a question that a gateway puts to the site.
	Asking func(ctx context.Context, q *ask.Question) context.Context
	// Answered reports what came of it.
	Answered func(ctx context.Context, q *ask.Question, a *ask.Answer, err error)
	// Odd reports what is odd in the rules of the directive at a place; it may be nil.
	Odd func(f routing.Finding, at, imported string)
	// Installed returns what is known of the site of the directive at a place; nil if nothing
	// is. It may be nil.
	Installed func(at, imported string) *review.Installed
	// Trace reports what the policies do. Its Questions are not used.
	Trace policy.Trace
}

// Observe tells by what the gateways of a configuration do. They then serve nobody but dry runs. A handler
// calls it while it is provisioned, before the gateways are: Caddy does that in the order of the routes.
func Observe(ctx caddy.Context, by *Observer) error {
	app, err := appOf(ctx)
	if err == nil {
		app.dry = by
	}
	return err
}
