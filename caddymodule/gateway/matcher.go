package gateway

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/policy"
)

func init() { caddy.RegisterModule(MatchRESTCall{}) }

// MatchRESTCall matches requests that make one of the named REST calls, in any spelling
// that the platform understands. A batch matches if it or one of its parts does.
//
// After the gateway it uses the gateway's reading. Elsewhere it reads the request itself,
// by the names of all platforms. For a request without a certain reading it returns an
// error with the status of the refusal.
type MatchRESTCall struct {
	// Methods are effective methods; empty means all; GET covers HEAD.
	Methods []string `json:"methods,omitempty"`
	// Routes are written as the REST index writes them: "/wp/v2/users", "*" one
	// segment, ":name" one segment that is a parameter, "**" the rest.
	Routes []string `json:"routes"`

	target  policy.Target
	readers []*call.Reader
	leases  pool.Leases
}

// CaddyModule returns the Caddy module information.
func (MatchRESTCall) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers.rest_call", New: func() caddy.Module { return new(MatchRESTCall) }}
}

// UnmarshalCaddyfile reads rest_call [<methods>] <route>...; commas separate the methods.
func (m *MatchRESTCall) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume matcher name
	o := option.Read(d)
	if err := o.Complete(); err != nil {
		return err
	}
	if len(o.Block) > 0 || d.Next() {
		return o.Errorf("rest_call takes no block and may stand once")
	}
	if len(o.Args) > 0 && !strings.HasPrefix(o.Args[0], "/") {
		m.Methods, o.Args = strings.Split(o.Args[0], ","), o.Args[1:]
	}
	m.Routes = o.Args
	if _, err := policy.NewTarget(m.Methods, m.Routes); err != nil {
		return o.Invalid(err)
	}
	return nil
}

// Provision checks methods and routes.
func (m *MatchRESTCall) Provision(ctx caddy.Context) (err error) {
	matchers.Add(1)
	if m.target, err = policy.NewTarget(m.Methods, m.Routes); err != nil {
		return err
	}
	spool, err := m.spool(ctx)
	if err != nil {
		return err
	}
	memory, err := pool.Memory{Limit: budget.MemoryFor(call.DefaultBodyLimit)}.Lease(&m.leases)
	if err != nil {
		return err
	}
	for _, platform := range platforms.All() {
		m.readers = append(m.readers, policies.NewReader(call.Config{
			Platform: platform,
			Limits:   call.Limits{Body: call.DefaultBodyLimit, Upload: call.DefaultUploadLimit, Spool: spool, Memory: memory},
		}))
	}
	return nil
}

// spool leases the spool in the system's directory. The matcher has no option for another
// one, and behind the gateway it spools nothing, so that an unusable directory is no reason
// not to load.
func (m *MatchRESTCall) spool(ctx caddy.Context) (*budget.Spool, error) {
	dir, err := pool.SpoolDir("")
	if err != nil {
		return nil, err
	}
	key := pool.Spool{Dir: dir, Limit: budget.SpoolFor(call.DefaultUploadLimit)}
	spool, err := key.Lease(ctx, &m.leases, func(text string) {
		ctx.Logger().Warn(text, zap.String("code", budget.CodeSpool))
	})
	if err != nil {
		ctx.Logger().Warn("rest_call: larger forms cannot be read", zap.Error(err))
		return key.LeaseUnchecked(&m.leases)
	}
	return spool, nil
}

// holder is on whose account the matcher holds bodies.
func (m *MatchRESTCall) holder(r *http.Request) budget.Holder {
	if r.ContentLength == 0 {
		return budget.Holder{}
	}
	return budget.Holder{Site: "rest_call", Client: peerOf(r, varsOf(r)).share(r)}
}

// Cleanup releases what Provision acquired.
func (m *MatchRESTCall) Cleanup() error {
	matchers.Add(-1)
	return m.leases.Release()
}

// matchers counts the matchers of all configurations that are loaded.
var matchers atomic.Int64

// setCall leaves the gateway's reading for the matchers. Without any it leaves nothing: a
// variable more may let the map of a request grow, which costs each call.
func setCall(vars map[string]any, c *call.Call) {
	if matchers.Load() > 0 {
		vars[varCall] = c
	}
}

// Match implements caddyhttp.RequestMatcher, for callers of the older interface.
func (m *MatchRESTCall) Match(r *http.Request) bool {
	matched, _ := m.MatchWithError(r)
	return matched
}

// MatchWithError implements caddyhttp.RequestMatcherWithError.
func (m *MatchRESTCall) MatchWithError(r *http.Request) (bool, error) {
	vars := varsOf(r)
	if vars[varKind] == kindPage {
		return false, nil
	}
	if c, judged := vars[varCall].(*call.Call); judged {
		// A refused request comes here only if the gateway observes.
		return c.Kind != call.Refused && m.target.Matches(c), m.certain(c)
	}
	for _, reader := range m.readers {
		c := reader.ReadFrom(m.holder(r), r, originalURL(r))
		c.Open()
		matches := c.Kind != call.Page && c.Kind != call.Refused && !c.Foreign && m.target.Matches(c)
		err := m.certain(c)
		c.Settle() // the next reader, and the gateway, have memory of their own
		if c.Kind != call.Page || r.ContentLength != 0 {
			context.AfterFunc(r.Context(), c.Close) // a spooled body must still be forwarded, and the client may be gone already
		}
		switch {
		case err != nil:
			return false, err
		case c.Kind == call.Refused:
			return false, caddyhttp.Error(c.Refusal.Status, c.Refusal)
		case matches:
			return true, nil
		}
	}
	return false, nil
}

// certain returns an error for a call that the platform may run as one of the routes, in a
// spelling that no client uses.
func (m *MatchRESTCall) certain(c *call.Call) error {
	if refusal := m.target.Uncertain(c); refusal != nil {
		return caddyhttp.Error(refusal.Status, refusal)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchRESTCall)(nil)
	_ caddy.CleanerUpper                = (*MatchRESTCall)(nil)
	_ caddyfile.Unmarshaler             = (*MatchRESTCall)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchRESTCall)(nil)
)
