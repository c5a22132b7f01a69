package command

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// lineSwitcher opens calls of sites of a running Caddy, or closes them.
type lineSwitcher struct {
	switcher
	word   string  // switches.KindOpen or switches.KindClose
	partly []error // what counts, and is not kept or not told to all gateways
	plugin string
	list   bool
	format string
}

func openCommand() *cobra.Command {
	s := &lineSwitcher{word: switches.KindOpen}
	cmd := &cobra.Command{
		Use:   "open --site SITE | --tag TAG... --for DURATION [--yes] [METHODS] ROUTE | --plugin NAME | --list [--format text|json|caddyfile]",
		Short: "Opens calls of sites of a running Caddy to anyone for a while",
		Long: `Opens the calls of a route to anyone, for 7 days at most and without a reload. It gives
way to every line of yours that refuses the caller or asks for a signature, to built-in
rules, to a lockdown and to "close"; the answer names what it cannot pass. What would let
nobody pass is not switched on. With --plugin it opens what visitors need of a plugin.
The line survives reloads and restarts and ends by itself; --for 0s with the same methods
and route takes it back. --list shows what is open, and with --format caddyfile the lines
that make it last.`,
		Example: `  caddy restwarden open --site shop.example.com --for 24h POST /acme/v1/callback
  caddy restwarden open --site shop.example.com --for 0s POST /acme/v1/callback`,
		SilenceUsage: true,
		Args:         cobra.ArbitraryArgs, // body says what is wrong
	}
	s.add(cmd)
	cmd.Flags().StringVar(&s.plugin, "plugin", "", "in place of a route: a plugin of the catalogue")
	return cmd
}

func closeCommand() *cobra.Command {
	s := &lineSwitcher{word: switches.KindClose}
	cmd := &cobra.Command{
		Use:   "close --site SITE | --tag TAG... [--for DURATION] [METHODS] ROUTE | --list [--format text|json]",
		Short: "Closes calls of a running Caddy's sites to everybody whom the platform has not verified",
		Long: `Closes the calls of a route to everybody whom the platform has not verified, whatever the
rules and modes say, without a reload: for the night in which a hole becomes known.
Verified users go on as the rules say. It stays until it is taken back, over reloads
and restarts, or ends after --for. --for 0s with the same methods and route takes it
back. --list shows what is closed.`,
		Example: `  caddy restwarden close --site '*' GET /acme/v1/export
  caddy restwarden close --site '*' --for 0s GET /acme/v1/export`,
		SilenceUsage: true,
		Args:         cobra.ArbitraryArgs, // body says what is wrong
	}
	s.add(cmd)
	return cmd
}

func (s *lineSwitcher) add(cmd *cobra.Command) {
	s.switcher.add(cmd, "")
	f := cmd.Flags()
	f.BoolVar(&s.list, "list", false, "show what is switched on")
	f.StringVar(&s.format, "format", "text", "with --list: "+strings.Join(s.formats(), ", "))
	complete(cmd, "format", s.formats()...)
	withStatus(cmd, s.run)
}

// formats are those of a list: what closes calls is no line of a configuration.
func (s *lineSwitcher) formats() []string {
	if s.word == switches.KindOpen {
		return []string{"text", "json", "caddyfile"}
	}
	return []string{"text", "json"}
}

func (s *lineSwitcher) run(cmd *cobra.Command, args []string) error {
	body, err := s.body(cmd, args)
	if err != nil {
		return usage(err)
	}
	c, err := s.admin.client()
	if err != nil {
		return err
	}
	if s.list {
		return s.show(cmd, c)
	}
	sites, err := s.choice.chosen(cmd, c)
	if err != nil {
		return err
	}
	opens := s.word == switches.KindOpen && !s.ends
	if opens || len(sites) > 1 {
		if err := s.choice.sure(cmd, s.what(s.word+" "+body.Text()), sites, opens); err != nil {
			return err
		}
	}
	return s.turnAll(cmd, c, sites, body)
}

// turnAll switches a line of sites. A line is taken back where it is on.
func (s *lineSwitcher) turnAll(cmd *cobra.Command, c *adminapi.Client, sites []string, body *adminapi.LineSwitch) error {
	without := 0
	err := atEach(sites, func(site string) error {
		err := s.turn(cmd, c, site, body)
		if said, ok := errors.AsType[*adminapi.Error](err); ok && said.Status == http.StatusNotFound && s.ends && len(sites) > 1 {
			without++
			return nil
		}
		return err
	})
	if without == len(sites) {
		return usage(fmt.Errorf("none of the %d sites has the line %q", len(sites), s.word+" "+body.Text()))
	}
	return errors.Join(append([]error{err}, s.partly...)...)
}

// body returns what is to be switched, and checks the flags.
func (s *lineSwitcher) body(cmd *cobra.Command, args []string) (*adminapi.LineSwitch, error) {
	if err := typo.Check(s.format, s.formats()...); err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	b := &adminapi.LineSwitch{Plugin: s.plugin}
	methods, routes := policy.MethodsAndRoutes(args)
	switch {
	case s.list && (len(args) > 0 || s.lasts != "" || s.plugin != ""):
		return nil, errors.New("--list: names sites alone")
	case s.list:
		return nil, nil
	case cmd.Flags().Changed("format"):
		return nil, errors.New("--format: only with --list")
	case s.choice.All():
		return nil, errNoSite
	case s.plugin != "" && len(args) > 0:
		return nil, errors.New("--plugin: a plugin has its own routes")
	case s.plugin == "" && (len(routes) != 1 || len(args) > 2):
		return nil, errors.New("name one route, behind methods with commas and no blanks if not all are meant: GET,POST /acme/v1/callback")
	case s.plugin == "" && strings.Contains(routes[0], "://"):
		return nil, errors.New("a route is what stands behind the site's /wp-json: /acme/v1/callback")
	case s.plugin == "" && strings.Contains(routes[0], "(?P<"):
		return nil, errors.New("write :id for (?P<id>…), as rules do: /acme/v1/orders/:id")
	case s.lasts == "" && s.word == switches.KindOpen:
		return nil, errNoFor
	}
	if s.plugin == "" {
		b.Methods, b.Route = methods, routes[0]
	}
	if s.lasts != "" {
		if err := s.readFor(); err != nil {
			return nil, err
		}
		b.For = &s.lasts
	}
	return b, nil
}

// turn switches a line of one site, and prints what counts then.
func (s *lineSwitcher) turn(cmd *cobra.Command, c *adminapi.Client, site string, body *adminapi.LineSwitch) error {
	path := map[string]string{switches.KindOpen: adminapi.OpenPath, switches.KindClose: adminapi.ClosePath}[s.word]
	var answer adminapi.LineSwitched
	if err := c.Ask(cmd.Context(), "POST", adminapi.Named(path, site), body, &answer); err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %s %s", answer.Site, s.word, answer.Line)
	switch {
	case !answer.On:
		text += " is taken back"
	case answer.Until != nil:
		text += " until " + moment(*answer.Until)
	default:
		text += " until it is taken back"
	}
	if err := printSwitched(cmd, escapedText(text), &adminapi.Switched{Gateways: answer.Gateways}); err != nil {
		return err
	}
	if answer.Note != "" {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "  %s\n", escapedText(answer.Note)); err != nil {
			return err
		}
	}
	if answer.Error != "" {
		s.partly = append(s.partly, fmt.Errorf("%s: %s", answer.Site, answer.Error))
	}
	for _, stop := range answer.Stops {
		of := policy.Prefixed(": ", stop.Call)
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "  it does not pass %s%s%s\n", escapedText(stop.Line), escapedText(policy.Prefixed(" at ", stop.At)), escapedText(of)); err != nil {
			return err
		}
	}
	return nil
}
