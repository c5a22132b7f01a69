package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

func init() { caddy.RegisterModule(Gateway{}) }

// Gateway guards the REST interface of the content platform behind it. It works out which
// call a request really makes, decides whether that caller may make it, and forwards it
// untouched or refuses it. Pages, files and streams pass.
//
// It must stand before every handler that answers requests: the directive is ordered
// before basic_auth.
type Gateway struct {
	// Platform is "cms" or "wordpress": the set of names that the site uses. Required but with SameAs.
	Platform string `json:"platform,omitempty"`
	// Base is the sub-folder of the install, "/blog". If it is empty, a question takes as
	// its base the path before the REST prefix in the client's request.
	Base string `json:"base,omitempty"`
	// Prefix is the first segment of the pretty form, if the site has changed it. A list has
	// more names of it; questions take the first.
	Prefix call.Prefixes `json:"prefix,omitempty"`
	// Alias are the rewrite rules of the site that make calls of other paths, in the order in
	// which the platform tries them.
	Alias []call.Alias `json:"alias,omitempty"`
	// Release is the release of the shop, "10.7" or "10.7.2", which is the same, or "auto"
	// (the default): policies ask the platform for what they must know.
	Release string `json:"release,omitempty"`
	// Mode is "enforce" (the default) or "observe": decide, count and log, but refuse and
	// change nothing.
	Mode policy.Mode `json:"mode,omitempty"`
	// Misread is what happens when an answer shows that a page was a REST call: "count" (the
	// default), count and log, or "refuse", send 502 in place of a read without credentials.
	Misread string `json:"misread,omitempty"`
	// Credentials names what counts as a credential on this site beside the platform's
	// own.
	Credentials *caller.Own `json:"credentials,omitempty"`
	// Identity bounds the questions about who is calling.
	Identity *Identity `json:"identity,omitempty"`
	// BodyLimit bounds urlencoded, JSON and inspected bodies, in bytes; default 8 MiB.
	BodyLimit int64 `json:"body_limit,omitempty"`
	// UploadLimit bounds multipart bodies, in bytes; default 512 MiB.
	UploadLimit int64 `json:"upload_limit,omitempty"`
	// SpoolLimit bounds, in bytes, what is spooled to disk at one time by all sites with
	// the same limit and directory; default 8 times UploadLimit. A site may hold a quarter, a
	// client's address an eighth.
	SpoolLimit int64 `json:"spool_limit,omitempty"`
	// SpoolDir is the directory for spooled bodies; default the system's for temporary
	// files.
	SpoolDir string `json:"spool_dir,omitempty"`
	// BatchLimit bounds the number of parts of a batch; default the platform's 25 and
	// 100.
	BatchLimit int `json:"batch_limit,omitempty"`
	// PoliciesRaw configures the policies by name. Their order is fixed.
	PoliciesRaw caddy.ModuleMap `json:"policies,omitempty" caddy:"namespace=http.handlers.restwarden.policies"`
	// Journal says of which calls that pass a line is logged with who made them: "off" (the default), "writes", those that
	// may change something, or "all".
	Journal string `json:"journal,omitempty"`
	// RequestID "off" leaves the header X-Request-Id out of refusals.
	RequestID string `json:"request_id,omitempty"`
	// At is where the directive stands, "Caddyfile:2"; for messages.
	At string `json:"at,omitempty"`
	// Imported says where the lines of the directive were imported, for messages and
	// records.
	Imported option.Imports `json:"imported,omitempty"`
	// Tag are words by which commands choose the site among others. They change no decision.
	Tag []string `json:"tag,omitempty"`
	// Lines are the places of the lines that the site has given to the snippet with the directive.
	// Its rules call them "{block}:1" and so on.
	Lines option.Lines `json:"lines,omitempty"`
	// SameAs is the Content of a directive of the same configuration that says all for this one,
	// which has its own At, Imported, Lines and Tag only. The Caddyfile writes equal directives so.
	SameAs string `json:"same_as,omitempty"`

	app    *App
	engine *engine
	server string  // see listeners
	sites  []*site // set by App.assign
	places places  // of sites
}

// Identity bounds the questions about who is calling.
type Identity struct {
	// TTL is how long an answer is believed; default 10s.
	TTL policy.Duration `json:"ttl,omitempty"`
	// Timeout is how long a question goes on that nobody waits for, and when one that a client
	// waits for makes room for others; default 30s.
	Timeout policy.Duration `json:"timeout,omitempty"`
	// MaxInFlight is how many questions may be under way at once, for all sites with the
	// same number; default 128. A site may have a quarter, a client's address an eighth.
	MaxInFlight int `json:"max_in_flight,omitempty"`
	// Rate is how many questions one client address may cause about credentials that the
	// platform does not accept: "120/1m", the default.
	Rate string `json:"rate,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Gateway) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.restwarden", New: func() caddy.Module { return new(Gateway) }}
}

// Provision prepares the gateway. It makes a file in the spool's directory, and does no other
// I/O.
func (g *Gateway) Provision(ctx caddy.Context) error {
	if err := g.provision(ctx); err != nil {
		if _, placed := errors.AsType[routing.RefusedError](err); placed {
			return err
		}
		return g.placed(fmt.Errorf("restwarden: %w", err))
	}
	return nil
}

func (g *Gateway) provision(ctx caddy.Context) error {
	check := g.Validate
	if g.SameAs != "" { // the rest is checked where it stands
		check = func() error { return validateTags(g.Tag) }
	}
	if err := check(); err != nil {
		return err
	}
	app, err := appOf(ctx)
	if err != nil {
		return err
	}
	if err := app.survey(); err != nil {
		return err
	}
	if err := g.resolve(app.said); err != nil {
		return err
	}
	g.app, g.server = app, listeners(ctx)
	if g.engine, err = g.app.engineOf(ctx, g); err != nil {
		return err
	}
	g.app.oddRules(g)
	g.app.gateways = append(g.app.gateways, g)
	return nil
}

// placed adds to an error, if there is one, what it lacks of its place.
func (g *Gateway) placed(err error) error {
	if line, ok := errors.AsType[*policy.PlacedError](err); ok {
		line.At = g.Lines.In(line.At)
	}
	if err = g.Imported.Placed(err, g.At); err == nil {
		return nil
	}
	if text := g.Lines.In(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// Validate checks everything that does not depend on the rest of the configuration.
func (g *Gateway) Validate() error {
	_, identity := g.Identity.options()
	return cmp.Or(
		validatePlatform(g.Platform), validateBase(g.Base), g.Prefix.Validate(), validateAliases(g.Alias), validateRelease(g.Release), g.Mode.Validate(), validateTags(g.Tag),
		typo.CheckOption("request_id", g.RequestID, "on", "off"), validateMisread(g.Misread), validateJournal(g.Journal), g.Credentials.Validate(), identity,
		validateNotNegative("body_limit", g.BodyLimit), validateNotNegative("upload_limit", g.UploadLimit),
		validateNotNegative("spool_limit", g.SpoolLimit), validateNotNegative("batch_limit", int64(g.BatchLimit)),
	)
}

// The checks of single options, for Caddyfile and JSON alike.

func validatePlatform(name string) error {
	if name == "" {
		return fmt.Errorf("platform: %s must be named", platforms.List("or"))
	}
	if err := typo.Check(name, platforms.Names()...); err != nil {
		return fmt.Errorf("platform: %w", err)
	}
	return nil
}

func validateBase(base string) error {
	if err := call.CheckBase(base); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	return nil
}

func validateAliases(aliases []call.Alias) error {
	for i, a := range aliases {
		if err := a.Validate(); err != nil {
			return fmt.Errorf("alias: %w", err)
		}
		if slices.Contains(aliases[:i], a) {
			return fmt.Errorf("%s: stands twice", a)
		}
	}
	return nil
}

func validateRelease(release string) error {
	_, err := policy.ParseRelease(release)
	return err
}

func validateNotNegative(option string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%s: %d is negative", option, n)
	}
	return nil
}

// options checks i and fills in the defaults; a nil i means all defaults.
func (i *Identity) options() (caller.Options, error) {
	var opts caller.Options
	if i != nil {
		if i.TTL < 0 || i.Timeout < 0 || i.MaxInFlight < 0 {
			return opts, errors.New("identity: a negative value")
		}
		if i.Rate != "" {
			rate, err := policy.ParseRate(i.Rate)
			if err != nil {
				return opts, fmt.Errorf("identity: rate: %w", err)
			}
			opts.Rate, opts.Per = rate.Count, rate.Per
		}
		opts.TTL, opts.Timeout, opts.MaxInFlight = time.Duration(i.TTL), time.Duration(i.Timeout), i.MaxInFlight
	}
	return opts.WithDefaults(), nil
}

// listeners identifies the server of a gateway by its addresses. It keeps the callers of
// different servers apart: the key of a caller includes the host, but which site answers
// for a host depends on the server.
func listeners(ctx caddy.Context) string {
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		return strings.Join(server.Listen, " ")
	}
	return ""
}

// mode returns the mode of the directive.
func (g *Gateway) mode() policy.Mode { return cmp.Or(g.Mode, policy.Enforce) }

// Cleanup releases what Provision and App.assign acquired.
func (g *Gateway) Cleanup() error {
	var errs []error
	for _, s := range g.sites {
		errs = append(errs, s.close())
	}
	if g.app != nil && g.app.http == nil { // no other gateway has this app
		errs = append(errs, g.app.Cleanup())
	}
	return errors.Join(errs...)
}

// Interface guards
var (
	_ caddy.Module                = (*Gateway)(nil)
	_ caddy.Provisioner           = (*Gateway)(nil)
	_ caddy.Validator             = (*Gateway)(nil)
	_ caddy.CleanerUpper          = (*Gateway)(nil)
	_ caddyhttp.MiddlewareHandler = (*Gateway)(nil)
	_ caddyfile.Unmarshaler       = (*Gateway)(nil)
)
