package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies/call"
)

// demo is a reference platform with a gateway in front of it.
type demo struct {
	options       site.Options
	listen        string
	backendListen string
	json          bool
}

func demoCommand() *cobra.Command { return new(demo).command() }

// command fills d from its flags.
func (d *demo) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo [--json] [--listen ADDRESS] [--backend-listen ADDRESS] [--release 10.7|10.8|11.1] [--cookie-plugin 4.4.1|4.4.2] [--base PATH] [--platform cms|wordpress] [--smtp ADDRESS]",
		Short: "Starts the reference platform and a gateway in front of it",
		Long: `Starts the reference platform and a gateway in front of it on loopback,
prints addresses, credentials and curl lines to try, and serves until
interrupted. With --json, one JSON object is all that goes to standard output.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return d.run(ctx, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&d.json, "json", false, "print one JSON object instead of text")
	f.StringVar(&d.listen, "listen", "127.0.0.1:0", "address of the gateway")
	f.StringVar(&d.backendListen, "backend-listen", "127.0.0.1:0", "address of the bare platform")
	f.StringVar(&d.options.Release, "release", "10.7", "release of the shop: 10.7, 10.8 or 11.1")
	f.StringVar(&d.options.CookiePlugin, "cookie-plugin", "4.4.1", "version of the cookie plugin: 4.4.1, with holes to guard, or 4.4.2")
	f.StringVar(&d.options.Base, "base", "", "sub-folder of the install, such as /blog")
	f.StringVar(&d.options.Platform, "platform", "cms", "names: cms or wordpress")
	f.StringVar(&d.options.SMTP, "smtp", "", "mail server, host:port, for the mail about a withdrawal; none sends no mail")
	return cmd
}

// run serves until ctx ends.
func (d *demo) run(ctx context.Context, out io.Writer) error {
	if err := call.CheckBase(d.options.Base); err != nil { // the platform is less strict than the directive
		return fmt.Errorf("demo: --base: %w", err)
	}
	platform, err := site.New(d.options)
	if err != nil {
		return fmt.Errorf("demo: --%w", err)
	}
	listener, address, err := listen(ctx, d.backendListen)
	if err != nil {
		return fmt.Errorf("demo: --backend-listen: %w", err)
	}
	backend := &http.Server{Handler: platform, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- backend.Serve(listener) }()
	defer func() { _ = backend.Close() }()

	running, err := d.startGateway(ctx, address.dial(), platform.Info())
	if err != nil {
		return err
	}
	defer caddy.Stop() //nolint:errcheck // the process ends
	if err := running.print(out, d.json); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("demo: the platform stopped: %w", err)
	}
}

// startGateway loads a Caddy configuration with the gateway in front of backend.
func (d *demo) startGateway(ctx context.Context, backend string, info site.Info) (*runningDemo, error) {
	gateway, err := freeAddress(ctx, d.listen)
	if err != nil {
		return nil, fmt.Errorf("demo: --listen: %w", err)
	}
	metrics, err := freeAddress(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	text := string(caddyfile.Format([]byte(demoCaddyfile(gateway, metrics, backend, d.options.Base, info))))
	adapted, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return nil, fmt.Errorf("demo: the gateway's Caddyfile: %w", err)
	}
	if len(warnings) > 0 {
		return nil, fmt.Errorf("demo: the gateway's Caddyfile: %v", warnings)
	}
	if err := caddy.Load(adapted, true); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	names, _ := call.PlatformByName(info.Platform)
	return &runningDemo{
		Gateway: "http://" + gateway.dial(), Backend: "http://" + backend, Metrics: "http://" + metrics.dial() + "/metrics",
		Base: d.options.Base, Prefix: names.Prefix, Info: info, caddyfile: text, smtp: d.options.SMTP,
	}, nil
}

// address is where a server of the demo listens; without a host, everywhere.
type address struct{ host, port string }

// listen listens on text, and returns the port that it got for port 0.
func listen(ctx context.Context, text string) (net.Listener, address, error) {
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		return nil, address{}, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", text)
	if err != nil {
		return nil, address{}, err
	}
	return l, address{host, strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}, nil
}

// freeAddress returns text with a port that is free now. A port in use is an error: Caddy
// would share it with its owner without a message.
func freeAddress(ctx context.Context, text string) (address, error) {
	l, a, err := listen(ctx, text)
	if err != nil {
		return a, err
	}
	return a, l.Close()
}

// site returns the beginning of a site block that answers any Host at this address.
func (a address) site() string {
	begin := "http://:" + a.port + " {"
	if a.host == "" {
		return begin
	}
	return begin + "\n\tbind " + a.host
}

// dial returns host and port for a client on this machine.
func (a address) dial() string {
	host := a.host
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, a.port)
}

func demoCaddyfile(gateway, metrics address, backend, base string, info site.Info) string {
	baseLine := "# at the root of the address: no base"
	if base != "" {
		baseLine = "base " + base
	}
	return fmt.Sprintf(`{
	admin off
	persist_config off
	auto_https off
	metrics
}

%[1]s
	restwarden %[2]s {
		%[3]s
		login_only
		allow anyone POST %[4]s
		allow anyone POST %[5]s
		allow signed cookie_plugin,cookie_plugin_request %[6]s
		abilities {
			allow readonly %[10]s/*
			allow resource shop://*
		}
		signature cookie_plugin {
			key       %[7]q
			tolerance 5m
		}
		signature cookie_plugin_request {
			scheme    request
			once
			key       %[7]q
			tolerance 5m
		}
	}
	reverse_proxy %[8]s
}

%[9]s
	metrics /metrics
}
`, gateway.site(), info.Platform, baseLine, info.Routes.Consent, info.Routes.Notify, info.Routes.StoreAuth,
		info.Keys.CookiePlugin, backend, metrics.site(), shopWord(info.Platform))
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

	caddyfile string
	smtp      string // mail server
}

func (d *runningDemo) print(out io.Writer, asJSON bool) (err error) {
	if d.Try, err = d.lines(); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false) // people read the shell lines
		return encoder.Encode(d)
	}
	text, err := d.text()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	_, err = io.WriteString(out, text)
	return err
}
