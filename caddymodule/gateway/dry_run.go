package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// first is the store of dry runs. Each of them is the first request: none uses up a limit
// or a signature of the next.
type first struct{ forgetful }

// SetOnce implements store.Store.
func (first) SetOnce(context.Context, string, time.Duration) (bool, error) { return true, nil }

// Take implements store.Store.
func (first) Take(_ context.Context, _ string, rate store.Rate) (store.Taken, error) {
	return store.Taken{Allowed: rate.Count > 0, Remaining: rate.Count - 1, ResetAfter: rate.Per}, nil
}

// Rules returns what decides about calls. It does not depend on the site.
func (g *Gateway) Rules() *policy.Chain { return g.engine.chain }

// Shared returns what the sites of the directive share.
func (g *Gateway) Shared() *policy.Site { return g.engine.every }

// awaitReading waits for what a gateway learns in the background, the REST root, so that no dry run
// depends on those before it.
func (s *site) awaitReading(r *http.Request, next caddyhttp.Handler) {
	ctx, cancel := context.WithTimeout(r.Context(), s.questions.Timeout)
	defer cancel()
	s.discovery.await(ctx, s, r, next)
}

// readDry reports a reading to the dry run.
func (s *site) readDry(r *http.Request, c *call.Call) {
	s.g.app.dry.Read(r, originalURL(r), &ServedSite{
		Name: s.Name, Base: s.Base, Prefix: s.Prefix, Aliases: s.g.Alias, At: s.g.At, Imported: s.g.Imported.At(""), ImportedAt: s.importedAt,
		Reader: s.reader, Chain: s.chain, Policies: &s.Site,
	}, c)
}
