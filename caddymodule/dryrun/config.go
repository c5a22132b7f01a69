package dryrun

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Options say which configuration to load.
type Options struct {
	// File and Adapter are as the flags --config and --adapter of Caddy. Without a File
	// it is the Caddyfile of the working directory.
	File, Adapter string
	// JSON is a configuration in Caddy's own JSON, in place of File.
	JSON []byte
	// Index is a saved REST root, in JSON; it may be nil.
	Index []byte
	// Live puts questions that only read to the real site.
	Live bool
	// Behind lets RoundTrip ask the real site.
	Behind bool
	// Edit gets each directive before it is loaded, and may change it; it may be nil.
	Edit func(*gateway.Gateway) error
	// Odd gets what is odd in the rules of the directives, notes as well; it may be nil.
	Odd func(routing.Finding)
	// Installed is what is known of a site of the configuration; nil if nothing is.
	Installed *Installed
	// Switches are what is switched on at sites, by their names; nil if nothing is.
	Switches map[string]*policy.Switches
}

// Config is a loaded configuration. It is used by one goroutine at a time.
type Config struct {
	// JSON is the configuration as Caddy's adapter gives it.
	JSON []byte
	// Report is what is odd in the layout of the configuration.
	Report routing.Report

	app        *caddyhttp.App
	end        func()            // of the modules
	observer   *gateway.Observer // of its gateways
	guards     []*guard
	assumed    []string
	said       map[string]string // see harmless
	looked     bool
	homes      []Home
	unreached  []Unreached
	directives map[string]map[string]any // of Alone, by their Said
	index      []byte
	live       bool
	asksSites  bool
	key        string
	dir        string
}

// Load adapts and provisions a configuration. It opens no listener, makes no log file, and
// changes nothing that a Caddy on this machine uses. The error is that of Caddy: the
// configuration does not load. The caller must close the Config.
func Load(o Options) (*Config, error) {
	c := &Config{JSON: o.JSON, index: o.Index, live: o.Live, asksSites: o.Behind, key: rand.Text()}
	var err error
	if c.JSON == nil {
		if c.JSON, err = Adapt(o.File, o.Adapter); err != nil {
			return nil, err
		}
	}
	if err := quiet(); err != nil {
		return nil, err
	}
	if c.Report, err = survey(c.JSON); err != nil {
		return nil, err
	}
	if err := c.Report.Err(); err != nil {
		return nil, err
	}
	if err := c.place(o.Installed); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp("", "restwarden-dry-run-"); err != nil {
		return nil, err
	}
	if err := c.provision(&o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// ErrUnknowable is wrapped by the errors of what a dry run cannot find out.
var ErrUnknowable = errors.New("this cannot be known")

func (c *Config) provision(o *Options) error {
	h := &harmless{dir: c.dir, run: c.key, live: c.live || c.asksSites, edit: o.Edit, said: map[string]string{}}
	config, err := h.make(c.JSON)
	if err != nil {
		return err
	}
	if len(h.inner) > 0 {
		return fmt.Errorf("%w: the handler %s holds a directive restwarden, and is not run here", ErrUnknowable, h.inner[0])
	}
	c.observer = observer(c.odd(o.Odd), c.installed(o.Installed))
	c.observer.Switches = func(site string) *policy.Switches { return o.Switches[site] }
	configs.Store(c.key, c)
	if c.app, c.end, err = provision(config); err != nil {
		return err
	}
	c.assumed, c.said = h.assumed, h.said
	c.guards = guardsOf(c.app)
	return nil
}

// odd returns what reports what is odd in rules to report, with the hosts of the directive.
func (c *Config) odd(report func(routing.Finding)) func(f routing.Finding, at, imported string) {
	if report == nil {
		return nil
	}
	return func(f routing.Finding, at, imported string) {
		f.Sites = c.Report.HostsOf(at, imported)
		report(f)
	}
}

// Close removes what Load has made, and releases what its modules hold.
func (c *Config) Close() error {
	configs.Delete(c.key)
	if c.end != nil {
		loading.Lock() // certificates that one load looks at are not to end with another
		c.end()
		loading.Unlock()
		c.end = nil
	}
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}

// Run runs a request through c. The error says that the request cannot be run at all, for
// example since Raw is no request.
func (c *Config) Run(ctx context.Context, r Request) (*Result, error) {
	_, result, err := c.Reach(ctx, r)
	return result, err
}

// Reach is Run. It also returns the site that the request has reached; nil if none.
func (c *Config) Reach(ctx context.Context, r Request) (*gateway.ServedSite, *Result, error) {
	host, line, err := target(r.Raw)
	if err != nil {
		return nil, nil, err
	}
	run := &run{result: Result{Version: 1, Request: line, As: r.As.String(), Assumed: slices.Clone(c.assumed)}}
	server, direct := c.serverFor(r, host)
	if server == nil {
		run.result.Answer = NotReached
		run.result.Missed = &Missed{Answered: fmt.Sprintf("Caddy has no server on port %d, so that something else", r.port())}
		return nil, &run.result, nil
	}
	if !direct {
		run.assume("a proxy before Caddy listens on port %d and hands the request on as it is", r.port())
		r.Secure = r.Secure && len(server.TLSConnPolicies) > 0
	}
	guard := c.guardFor(server, host)
	holder := Holder{r.As, r.Credential}
	if r.Credential.Kind == "" {
		if holder, err = r.As.On(guard.site); err != nil {
			return nil, nil, err
		}
	}
	if several := c.listening(r.port()); len(several) > 1 {
		run.assume("of the %d servers on port %d, which listen on other addresses, the request comes to the one with the closest host", len(several), r.port())
	}
	r.As = holder.As
	run.live = c.live && (r.As.Kind == Anonymous || r.As.Kind == "" || r.saysWho(guard))
	run.stub = stub{
		as: holder.As, has: holder.Credential, records: r.Records, ability: r.Abilities, index: c.index,
		platform: &guard.site.Platform, home: guard.home(r, host), release: guard.site.Release, secure: r.Secure,
	}
	status := 0
	res, err := serve(ctx, run, server, r, r.withCredentials(guard, holder.Credential))
	switch {
	case err != nil:
		return nil, nil, err
	case res != nil:
		status = res.StatusCode
		_ = res.Body.Close() // it is in memory
	}
	run.mu.Lock() // a question may still be under way
	defer run.mu.Unlock()
	run.finish(r, status, guard)
	result := run.result
	return run.site, &result, nil
}

// finish says what became of the request.
func (r *run) finish(req Request, status int, g *guard) {
	res := &r.result
	switch {
	case r.site == nil:
		res.Answer, res.Missed = NotReached, r.missed(req, status, g)
		return
	case !r.decided:
		res.Answer = Page
		return
	}
	r.answeredBehind()
	d := r.decision
	res.Answer = map[policy.Outcome]Answer{policy.Pass: Pass, policy.Refuse: Refused, policy.WouldRefuse: WouldRefuse}[d.Outcome]
	if d.Outcome != policy.Pass {
		res.Decision = &Decision{
			Policy: d.Policy, Code: string(d.Code()), Status: d.Verdict.Status, Message: d.Verdict.Message,
			Rule: d.Verdict.Rule, At: d.Verdict.Pos, Origin: d.Verdict.Origin, Why: d.Why(),
		}
		if d.Verdict.Answer != nil {
			res.Decision.Code = d.Verdict.Answer.Code()
		}
		if d.Outcome == policy.Refuse && status > 0 { // agents get another one, see policy.RefusalWriter
			res.Decision.Status = status
		}
		if d.Verdict.Pos != "" {
			res.Decision.Imported = r.site.ImportedAt(d.Verdict.Pos)
		}
	}
	if d.Err != nil && res.Decision != nil {
		res.Decision.Error = d.Err.Error()
	}
	if errors.Is(d.Err, caller.ErrUntold) && r.stub.as.Kind == OfScope {
		res.Missing = append(res.Missing, unknownRights(r.stub.as).what)
	}
	if len(res.Missing) > 0 && (d.Outcome == policy.Pass || d.Err != nil) {
		res.Answer = Unknown
	}
}

// answeredBehind notes that Caddy itself answers behind the gateway, so that a call that
// passes does not come to the site.
func (r *run) answeredBehind() {
	name, _, _ := strings.Cut(r.behind, " ")
	switch {
	case r.decision.Outcome == policy.Refuse, routing.KindOf(name).Leads():
	case r.behind == "":
		r.result.Assumed = append(r.result.Assumed, "something answers behind the gateway: the configuration has nothing there")
	default:
		r.result.Behind = r.behind
		r.result.Assumed = append(r.result.Assumed, r.behind+", which answers behind the gateway, is the site")
	}
}

// missed says why the gateway is not on the request's way.
func (r *run) missed(req Request, status int, g *guard) *Missed {
	m := &Missed{Answered: r.last, Status: status, At: g.at, Imported: g.imported, handler: r.last != ""}
	if r.began != nil {
		m.Matcher = g.leftOut(r.began)
	}
	switch {
	case m.Answered != "":
	case status == http.StatusPermanentRedirect && !req.Secure:
		m.Answered = "the redirect to https that Caddy makes by itself"
	case status == http.StatusOK:
		m.Answered = "no route: Caddy's empty answer"
	default:
		m.Answered = "Caddy itself"
	}
	return m
}

// guardFor returns the directive that is to guard a host on a server: the one with a way
// for the host, else the first.
func (c *Config) guardFor(server *caddyhttp.Server, host string) *guard {
	for _, fits := range []func(*guard) bool{
		func(g *guard) bool { return g.way.Server == server && g.covers(host) },
		func(g *guard) bool { return g.covers(host) },
	} {
		if i := slices.IndexFunc(c.guards, fits); i >= 0 {
			return c.guards[i]
		}
	}
	if len(c.guards) > 0 {
		return c.guards[0]
	}
	return noGuard
}
