// Command platform runs the reference platform: a site in memory that behaves as
// docs/project/interface says, to try a gateway with.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "platform:", err)
		os.Exit(2)
	}
}

// run serves the site that args describe until ctx ends. It prints the address and the
// fields of Info to out.
func run(ctx context.Context, args []string, out, usage io.Writer) error {
	var options site.Options
	flags := flag.NewFlagSet("platform", flag.ContinueOnError)
	flags.SetOutput(usage)
	listen := flags.String("listen", "127.0.0.1:8080", "address to listen on")
	flags.StringVar(&options.Base, "base", "", "sub-folder of the site, such as /blog")
	flags.StringVar(&options.Install, "install", "", "install path, such as /core, where it is not that of --base")
	flags.StringVar(&options.CookiePath, "cookie-path", "", "path of login cookies, as the site's settings set it; none is the install path")
	flags.StringVar(&options.CookieDomain, "cookie-domain", "", "domain of login cookies; none is the host alone")
	flags.StringVar(&options.Permalinks, "permalinks", "pretty", "pretty or plain")
	flags.StringVar(&options.Platform, "platform", "cms", "set of names: cms or wordpress")
	flags.StringVar(&options.Release, "release", "11.1", "release of the shop: 10.7, 10.8 or 11.1")
	flags.StringVar(&options.Core, "core", "7.0", "release of the platform: 6.8, 6.9 or 7.0")
	flags.BoolVar(&options.Abilities, "abilities-plugin", false, "install the plugin that brings abilities to a platform before 6.9")
	flags.StringVar(&options.CookiePlugin, "cookie-plugin", "4.4.2", "version of the cookie plugin: 4.4.1 or 4.4.2")
	flags.BoolVar(&options.ToolServer, "tool-server", false, "switch the shop's tool server on")
	flags.Func("symbol", "symbol of a currency as a filter of the site overrides it, such as MOP=MOP; may be given again", func(text string) error {
		code, symbol, found := strings.Cut(text, "=")
		if !found {
			return errors.New("want <currency>=<symbol>")
		}
		if options.Symbols == nil {
			options.Symbols = map[string]string{}
		}
		options.Symbols[code] = symbol
		return nil
	})
	flags.StringVar(&options.SMTP, "smtp", "", "mail server, host:port; none sends no mail")
	flags.StringVar(&options.Webhook, "webhook", "", "address that changed products are sent to; none sends none")
	flags.StringVar(&options.Fault, "fault", "", "multilingual, blocked-root, stale-rewrites or firewall")
	flags.BoolVar(&options.LoginOnly, "login-only", false, "limit REST to logged-in users, as a plugin of the site does")
	flags.BoolVar(&options.KeysNeedTLS, "keys-need-tls", false, "ignore shop keys over plain http unless they sign, as a real shop does")
	flags.Func("login-allow", "routes that --login-only leaves open, with commas between them", func(text string) error {
		options.LoginAllow = strings.Split(text, ",")
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	s, err := site.New(options)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "http://%s%s/\n", listener.Addr(), options.Base); err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s.Info()); err != nil {
		return err
	}
	return serve(ctx, listener, s)
}

// serve answers on listener until ctx ends, then lets running requests finish.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(grace)
}
