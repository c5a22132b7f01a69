package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// demo is a reference platform with a gateway in front of it.
type demo struct {
	options       site.Options
	listen        string
	backendListen string
	json          bool
}

func demoCommand() *cobra.Command {
	d := demo{}
	cmd := &cobra.Command{
		Use:   "demo [--json] [--listen <address>] [--backend-listen <address>] [--release 10.7|10.8|11.1] [--base <path>] [--platform cms|wordpress]",
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
	f.StringVar(&d.options.Base, "base", "", "sub-folder of the install, such as /blog")
	f.StringVar(&d.options.Platform, "platform", "cms", "names: cms or wordpress")
	return cmd
}

// run serves until ctx ends.
func (d *demo) run(ctx context.Context, out io.Writer) error {
	platform, err := site.New(d.options)
	if err != nil {
		return fmt.Errorf("demo: --%w", err)
	}
	listener, err := net.Listen("tcp", d.backendListen)
	if err != nil {
		return fmt.Errorf("demo: --backend-listen: %w", err)
	}
	backend := &http.Server{Handler: platform, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- backend.Serve(listener) }()
	defer backend.Close()

	running, err := d.startGateway(listener.Addr().String(), platform.Info())
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
func (d *demo) startGateway(backend string, info site.Info) (*runningDemo, error) {
	listen, err := freeAddress(d.listen)
	if err != nil {
		return nil, fmt.Errorf("demo: --listen: %w", err)
	}
	metrics, err := freeAddress("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	base := strings.TrimSuffix(d.options.Base, "/")
	text := string(caddyfile.Format([]byte(demoCaddyfile(listen, metrics, backend, base, info))))
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
	return &runningDemo{
		Gateway: "http://" + listen, Backend: "http://" + backend, Metrics: "http://" + metrics + "/metrics",
		Base: base, Info: info, caddyfile: text,
	}, nil
}

// freeAddress replaces port 0 by a port that is free now.
func freeAddress(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != "0" {
		return address, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func demoCaddyfile(listen, metrics, backend, base string, info site.Info) string {
	host, _, _ := net.SplitHostPort(listen)
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

http://%[1]s {
	bind %[2]s
	restwarden %[3]s {
		%[4]s
		login_only
		allow anyone POST %[5]s
		allow anyone POST %[6]s
		allow signed cookie_plugin,cookie_plugin_request %[7]s
		signature cookie_plugin {
			key       %[8]q
			tolerance 5m
		}
		signature cookie_plugin_request {
			scheme    request
			key       %[8]q
			tolerance 5m
		}
	}
	reverse_proxy %[9]s
}

http://%[10]s {
	bind 127.0.0.1
	metrics /metrics
}
`, listen, host, info.Platform, baseLine, info.Routes.Consent, info.Routes.Notify, info.Routes.StoreAuth,
		info.Keys.CookiePlugin, backend, metrics)
}

// runningDemo is what a person needs to try the demo out.
type runningDemo struct {
	Gateway string `json:"gateway"`
	Backend string `json:"backend"`
	Metrics string `json:"metrics"`
	Base    string `json:"base"`
	site.Info

	caddyfile string
}

func (d *runningDemo) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(d)
	}
	text, err := d.text()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	_, err = io.WriteString(out, text)
	return err
}
