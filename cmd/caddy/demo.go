package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// demo is a reference platform with a gateway in front of it.
type demo struct {
	options       site.Options
	listen        string
	backendListen string
	json, once    bool
	show          sections
	dir           string // for all that Caddy writes, and for the socket of its admin endpoint
}

func demoCommand() *cobra.Command { return new(demo).command() }

// command fills d from its flags.
func (d *demo) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo [--once] [--curl] [--users] [--caddyfile] [--json] [--listen ADDRESS] [--backend-listen ADDRESS] [--release 10.7|10.8|11.1] [--cookie-plugin 4.4.1|4.4.2] [--base PATH] [--platform wordpress|cms] [--smtp ADDRESS]",
		Short: "Tries attacks and honest calls on a reference platform, bare and behind a gateway",
		Long: `Starts the reference platform on loopback, bare and behind a gateway, tries
attacks and honest calls on both, and prints a table of what came of them. If a
row is not as expected, that is an error. Then it serves a fresh platform until
interrupted, and prints a line for each refusal. With --json it tries nothing,
and one JSON object is all that goes to standard output.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return d.run(ctx, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&d.once, "once", false, "end after the table")
	f.BoolVar(&d.show.Curl, "curl", false, "print lines to type")
	f.BoolVar(&d.show.Users, "users", false, "print log-ins, ids and keys")
	f.BoolVar(&d.show.Caddyfile, "caddyfile", false, "print the gateway's Caddyfile")
	f.BoolVar(&d.json, "json", false, "print one JSON object instead of text")
	f.StringVar(&d.listen, "listen", "127.0.0.1:0", "address of the gateway")
	f.StringVar(&d.backendListen, "backend-listen", "127.0.0.1:0", "address of the bare platform")
	f.StringVar(&d.options.Release, "release", "10.7", "release of the shop: 10.7, 10.8 or 11.1")
	f.StringVar(&d.options.CookiePlugin, "cookie-plugin", "4.4.1", "version of the cookie plugin: 4.4.1, with holes to guard, or 4.4.2")
	f.StringVar(&d.options.Base, "base", "", "sub-folder of the install, such as /blog")
	f.StringVar(&d.options.Platform, "platform", "wordpress", "names: wordpress or cms")
	f.StringVar(&d.options.SMTP, "smtp", "", "mail server, host:port, for the mail about a withdrawal; none sends no mail")
	for _, text := range []string{"once", "curl", "users", "caddyfile"} {
		cmd.MarkFlagsMutuallyExclusive("json", text)
	}
	return cmd
}

// run prints the table and serves until ctx ends.
func (d *demo) run(ctx context.Context, out io.Writer) error {
	if err := d.start(ctx, out); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

func (d *demo) start(ctx context.Context, out io.Writer) (err error) {
	if err := call.CheckBase(d.options.Base); err != nil { // the platform is less strict than the directive
		return fmt.Errorf("--base: %w", err)
	}
	p, err := startPlatform(ctx, d.options, d.backendListen)
	if err != nil {
		return err
	}
	defer p.stop()
	d.options = p.Options()
	if _, err := freeAddress(ctx, d.listen); err != nil { // before the table
		return fmt.Errorf("--listen: %w", err)
	}
	if d.dir, err = os.MkdirTemp("", "restwarden-demo-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
	if !d.json {
		if err := d.printWalk(ctx, out); err != nil || d.once {
			return err
		}
	}
	return d.serve(ctx, out, p)
}

// serve serves p behind a gateway.
func (d *demo) serve(ctx context.Context, out io.Writer, p *platform) error {
	running, err := d.startGateway(ctx, p.address.dial(), p.Info())
	if err != nil {
		return err
	}
	defer caddy.Stop() //nolint:errcheck // the process ends
	if d.json {
		if err := running.print(out, true); err != nil {
			return err
		}
		return p.wait(ctx)
	}
	if err := running.learn(newVisitor(ctx, p.Site, running.Gateway)); err != nil { // the routes, for the lines of refusals
		return err
	}
	follower, err := running.follow()
	if err != nil {
		return err
	}
	defer follower.leave()
	if running.page, err = running.openPage(ctx); err != nil {
		return err
	}
	if err := running.print(out, false); err != nil {
		return err
	}
	follower.print(out)
	return p.wait(ctx)
}

// platform is a reference platform that listens.
type platform struct {
	*site.Site
	address address
	failed  chan error
	server  *http.Server
}

// startPlatform starts a fresh platform. Its errors name the flag.
func startPlatform(ctx context.Context, options site.Options, on string) (*platform, error) {
	s, err := site.New(options)
	if err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	listener, address, err := listen(ctx, on)
	if err != nil {
		return nil, fmt.Errorf("--backend-listen: %w", err)
	}
	p := &platform{s, address, make(chan error, 1), &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}}
	go func() { p.failed <- p.server.Serve(listener) }()
	return p, nil
}

// wait waits until ctx ends. The error says that the platform has ended before.
func (p *platform) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.failed:
		return fmt.Errorf("the platform stopped: %w", err)
	}
}

func (p *platform) stop() { _ = p.server.Close() }

// startGateway loads a Caddy configuration with the gateway in front of backend.
func (d *demo) startGateway(ctx context.Context, backend string, info site.Info) (*runningDemo, error) {
	running, err := d.newGateway(ctx, backend, info)
	if err != nil {
		return nil, err
	}
	return running, running.load()
}

// newGateway finds addresses and writes the Caddyfile of a gateway in front of backend.
func (d *demo) newGateway(ctx context.Context, backend string, info site.Info) (*runningDemo, error) {
	held, gateway, err := listen(ctx, d.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	metrics, err := freeAddress(ctx, "127.0.0.1:0") // another one than the gateway's, which is held meanwhile
	if err = errors.Join(err, held.Close()); err != nil {
		return nil, err
	}
	names, _ := platforms.ByName(info.Platform)
	running := &runningDemo{
		Gateway: "http://" + gateway.dial(), Backend: "http://" + backend, Metrics: "http://" + metrics.dial() + "/metrics",
		Base: d.options.Base, Prefix: names.Prefix, Info: info, show: d.show, smtp: d.options.SMTP,
		admin: "unix/" + filepath.ToSlash(filepath.Join(d.dir, "admin.sock")),
	}
	running.caddyfile = string(caddyfile.Format([]byte(running.writeCaddyfile(gateway, metrics, backend, d.dir))))
	return running, nil
}

// load makes Caddy run the Caddyfile.
func (d *runningDemo) load() error {
	adapted, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(d.caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return fmt.Errorf("the gateway's Caddyfile: %w", err)
	}
	if len(warnings) > 0 {
		return fmt.Errorf("the gateway's Caddyfile: %v", warnings)
	}
	if err := caddy.Load(adapted, true); err != nil {
		return err
	}
	d.config = adapted
	d.api, err = adminapi.New(d.admin)
	return err
}

// runningDemo holds what a person needs to try the demo.
type runningDemo struct {
	Gateway string `json:"gateway"`
	Backend string `json:"backend"`
	Metrics string `json:"metrics"`
	Base    string `json:"base"`
	Prefix  string `json:"prefix"`
	site.Info
	Try []string `json:"try"`

	api       *adminapi.Client
	page      string // address of the status page
	admin     string // address of Caddy's admin endpoint, as --address of "caddy restwarden status" takes it
	caddyfile string
	config    []byte // the Caddyfile as Caddy's own JSON
	show      sections
	smtp      string // mail server
}

func (d *runningDemo) print(out io.Writer, asJSON bool) (err error) {
	if d.Try, err = d.lines(); err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false) // people read the shell lines
		return encoder.Encode(d)
	}
	text, err := d.text()
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}
