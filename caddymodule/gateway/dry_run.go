package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/store"
)

// ServedSite is what a gateway says of the site that a request has reached.
type ServedSite struct {
	Name, Base   string
	Tags         []string // of the directive; those of a home are those of all directives of the site
	Prefix       string   // of the pretty form, without slashes
	Aliases      []call.Alias
	At, Imported string
	ImportedAt   func(at string) string // where the line at a place was imported
	Reader       *call.Reader
	Said         string // by the directive, see Gateway.Content; equal ones have one Chain
	Chain        *policy.Chain
	Policies     *policy.Site
}

// Observer hears what the gateways of a configuration do with the requests of dry runs.
type Observer struct {
	// Read reports that a gateway has read r; original is the client's own URL, where
	// rewrites have changed it. The call is open until the gateway has answered.
	Read func(r *http.Request, original *url.URL, s *ServedSite, c *call.Call)
	// Passed reports that a question passes a directive, by what it says and the name of the site, see ServedSite.
	Passed func(ctx context.Context, said, name string)
	// Asking returns the context for a question that a gateway puts to the site.
	Asking func(ctx context.Context, q *ask.Question) context.Context
	// Answered reports what came of it.
	Answered func(ctx context.Context, q *ask.Question, a *ask.Answer, err error)
	// Odd reports what is odd in the rules of the directive at a place; it may be nil.
	Odd func(f routing.Finding, at, imported string)
	// Installed returns what is known of the site of the directive at a place; nil if nothing
	// is. It may be nil.
	Installed func(at, imported string) *review.Installed
	// Switches returns what is switched on at a site; nil if nothing is.
	Switches func(site string) *policy.Switches
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

// first is the store of dry runs. Each of them is the first request: none uses up a limit
// or a signature of the next.
type first struct{ forgetful }

// SetOnce implements store.Store.
func (first) SetOnce(context.Context, string, time.Duration) (bool, error) { return true, nil }

// Take implements store.Store.
func (first) Take(_ context.Context, _ string, rate store.Rate) (store.Taken, error) {
	return store.Taken{Allowed: rate.Count > 0, Remaining: rate.Count - 1, ResetAfter: rate.Per}, nil
}

// Said is Content for a directive that has been loaded.
func (g *Gateway) Said() string { return g.engine.said }

// Rules returns what decides about calls. It does not depend on the site.
func (g *Gateway) Rules() *policy.Chain { return g.engine.chain }

// NameOf returns the name of the site that the directive guards for hosts.
func (g *Gateway) NameOf(hosts []string) string { return siteName(hosts, g.server, g.Base) }

// Shared returns what the sites of the directive share.
func (g *Gateway) Shared() *policy.Site { return g.engine.every }

// awaitReading waits for what a gateway learns in the background, the REST root, so that no dry run
// depends on those before it.
func (s *site) awaitReading(r *http.Request, next caddyhttp.Handler) {
	ctx, cancel := context.WithTimeout(r.Context(), s.questions.Timeout)
	defer cancel()
	s.discovery.await(ctx, s, r, next)
}

// SwitchesOf returns what a running gateway says is switched on at a site of it. The error names the line that this release does not
// know.
func SwitchesOf(on *adminapi.Site) (*policy.Switches, error) {
	s := new(policy.Switches)
	if on.ModeUntil != nil {
		s.Mode.Set(policy.Switched{Mode: policy.Mode(on.Mode), Until: *on.ModeUntil})
	}
	if l := on.Lockdown; l != nil {
		s.Lockdown.Set(policy.Switched{Hard: l.Hard, Until: l.Until})
	}
	platform, _ := platforms.ByName(on.Platform) // only plugins depend on it
	for _, some := range []struct {
		kind  string
		lines []adminapi.Line
		to    *policy.SwitchedLines
	}{{switches.KindOpen, on.Opens, &s.Opens}, {switches.KindClose, on.Closes, &s.Closes}} {
		var all []*policy.SwitchedLine
		for i := range some.lines {
			line, err := newLine(some.lines[i].Switch(), platform)
			var switched *policy.SwitchedLine
			if err == nil {
				switched, err = line.Switched(some.kind, some.lines[i].Until)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s %s: %w", on.Site, some.kind, some.lines[i].Line, err)
			}
			all = append(all, switched)
		}
		some.to.Set(all)
	}
	return s, nil
}

// readDry reports a reading to the dry run.
func (s *site) readDry(r *http.Request, c *call.Call) {
	s.g.app.dry.Read(r, originalURL(r), &ServedSite{
		Name: s.Name, Tags: s.g.Tag, Base: s.Base, Prefix: s.Prefix, Aliases: s.g.Alias, At: s.g.At, Imported: s.g.Imported.At(""), ImportedAt: s.importedAt,
		Reader: s.reader, Said: s.said, Chain: s.chain, Policies: &s.Site,
	}, c)
}
