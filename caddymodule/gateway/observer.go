package gateway

import (
	"context"
	"net/http"
	"net/url"
	"sync"

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

// Caddy gives modules no way to pass values to them, so that who hears of what is being loaded stands
// here. Caddy loads one configuration at a time.
var loadingFor struct {
	sync.Mutex
	by *Observer
}

// Observed calls load, which provisions a configuration. Its gateways tell by what they do, and serve nobody
// but dry runs.
func Observed(by *Observer, load func() error) error {
	loadingFor.Lock()
	defer loadingFor.Unlock()
	loadingFor.by = by
	defer func() { loadingFor.by = nil }()
	return load()
}

// observing returns who hears of what is being loaded; nil while Caddy loads a configuration to run it.
func observing() *Observer { return loadingFor.by }
