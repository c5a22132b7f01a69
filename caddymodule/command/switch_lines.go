package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// lineSwitcher opens calls of sites of a running Caddy, or closes them.
type lineSwitcher struct {
	admin  adminFlags
	choice siteChoice
	word   string // "open" or "close"
	lasts  string
	plugin string
	list   bool
	format string
}

func openCommand() *cobra.Command {
	s := &lineSwitcher{word: "open"}
	cmd := &cobra.Command{
		Use:   "open --site SITE... --for DURATION [--yes] [METHODS] ROUTE | --plugin NAME | --list [--format text|json|caddyfile]",
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
		Args:         cobra.MaximumNArgs(2),
	}
	s.add(cmd)
	cmd.Flags().StringVar(&s.plugin, "plugin", "", "in place of a route: a plugin of the catalogue")
	return cmd
}

func closeCommand() *cobra.Command {
	s := &lineSwitcher{word: "close"}
	cmd := &cobra.Command{
		Use:   "close --site SITE... [--for DURATION] [METHODS] ROUTE | --list [--format text|json]",
		Short: "Closes calls of sites of a running Caddy to whom the platform does not know",
		Long: `Closes the calls of a route to everybody whom the platform has not verified, whatever the
rules and modes say, without a reload: for the night in which a hole becomes known.
Verified users go on as the rules say. It stays until it is taken back, over reloads
and restarts, or ends after --for. --for 0s with the same methods and route takes it
back. --list shows what is closed.`,
		Example: `  caddy restwarden close --site '*' GET /acme/v1/export
  caddy restwarden close --site '*' --for 0s GET /acme/v1/export`,
		SilenceUsage: true,
		Args:         cobra.MaximumNArgs(2),
	}
	s.add(cmd)
	return cmd
}

func (s *lineSwitcher) add(cmd *cobra.Command) {
	s.admin.add(cmd)
	s.choice.add(cmd)
	f := cmd.Flags()
	f.StringVar(&s.lasts, "for", "", "how long, such as 24h or 2d; 0s takes it back")
	f.BoolVar(&s.list, "list", false, "show what is switched on")
	f.StringVar(&s.format, "format", "text", "with --list: "+strings.Join(s.formats(), ", "))
	complete(cmd, "format", s.formats()...)
	withStatus(cmd, s.run)
}

// formats are those of a list: what closes calls is no line of a configuration.
func (s *lineSwitcher) formats() []string {
	if s.word == "open" {
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
	if s.word == "open" && s.lasts != "0s" {
		if err := s.choice.sure(cmd, "open "+textOf(body), sites); err != nil {
			return err
		}
	}
	var failed error
	for _, site := range sites {
		if err := s.turn(cmd, c, site, body); err != nil {
			if errors.Is(err, errUsage) {
				return err
			}
			failed = errors.Join(failed, fmt.Errorf("%s: %w", site, err))
		}
	}
	return failed
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
	case len(s.choice.sites) == 0:
		return nil, errNoSite
	case s.plugin != "" && len(args) > 0:
		return nil, errors.New("--plugin: a plugin has its own routes")
	case s.plugin == "" && len(routes) != 1:
		return nil, errors.New("name one route, behind methods if not all are meant: POST /acme/v1/callback")
	case s.lasts == "" && s.word == "open":
		return nil, errNoFor
	}
	if s.plugin == "" {
		b.Methods, b.Route = methods, routes[0]
	}
	if s.lasts != "" {
		b.For = &s.lasts
	}
	return b, nil
}

// textOf is what a line says: "POST /acme/v1/callback".
func textOf(b *adminapi.LineSwitch) string {
	if b.Plugin != "" {
		return "plugin " + b.Plugin
	}
	return strings.TrimSpace(strings.Join(b.Methods, ",") + " " + b.Route)
}

// turn switches a line of one site, and prints what counts then.
func (s *lineSwitcher) turn(cmd *cobra.Command, c *adminapi.Client, site string, body *adminapi.LineSwitch) error {
	path := map[string]string{"open": adminapi.OpenPath, "close": adminapi.ClosePath}[s.word]
	var answer adminapi.LineSwitched
	err := c.Ask(cmd.Context(), "POST", adminapi.Named(path, site), body, &answer)
	if said, ok := errors.AsType[*adminapi.Error](err); ok && (said.Status == http.StatusConflict || said.Status == http.StatusNotFound) {
		return err // at this site; it may be possible at others
	}
	if err != nil {
		return asked(err)
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
	if err := printSwitched(cmd, escapedText(text), &adminapi.Switched{Gateways: answer.Gateways, Error: answer.Error}); err != nil {
		return err
	}
	for _, stop := range answer.Stops {
		of := policy.Prefixed(": ", stop.Call)
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "  it does not pass %s%s%s\n", escapedText(stop.Line), escapedText(policy.Prefixed(" at ", stop.At)), escapedText(of)); err != nil {
			return err
		}
	}
	return nil
}

// listed is a site in a list.
type listedLines struct {
	Site  string          `json:"site"`
	Lines []adminapi.Line `json:"lines"`
}

// show prints the lines that are switched on.
func (s *lineSwitcher) show(cmd *cobra.Command, c *adminapi.Client) error {
	var list adminapi.Sites[adminapi.Site, json.RawMessage]
	if err := asked(c.Ask(cmd.Context(), "GET", adminapi.SitesPath, nil, &list)); err != nil {
		return err
	}
	if _, err := s.choice.among(&list); err != nil {
		return err
	}
	found, seen := []listedLines{}, map[string]bool{}
	for i := range list.Sites {
		site := &list.Sites[i]
		wanted := len(s.choice.sites) == 0
		for _, pattern := range s.choice.sites {
			wanted = wanted || sitename.Fits(pattern, site.Site)
		}
		lines := site.Opens
		if s.word == "close" {
			lines = site.Closes
		}
		if wanted && len(lines) > 0 && !seen[site.Site] {
			seen[site.Site] = true
			found = append(found, listedLines{site.Site, lines})
		}
	}
	switch s.format {
	case "json":
		return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
	case "caddyfile":
		return lasting(cmd.OutOrStdout(), found)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	writeCells(w, "SITE", "LINE", "SINCE", "UNTIL", "BY")
	for _, site := range found {
		for _, l := range site.Lines {
			writeCells(w, site.Site, s.word+" "+l.Line, moment(l.Since), untilOf(&l), l.By)
		}
	}
	return w.Flush()
}

func untilOf(l *adminapi.Line) string {
	if l.Until == nil {
		return "taken back"
	}
	return moment(*l.Until)
}

// lasting prints the lines of a Caddyfile that open the same calls for good.
func lasting(out io.Writer, found []listedLines) error {
	for _, site := range found {
		if _, err := fmt.Fprintf(out, "# %s\n", escapedText(site.Site)); err != nil {
			return err
		}
		for _, l := range site.Lines {
			line := "allow anyone " + l.Line
			if strings.HasPrefix(l.Line, "plugin ") {
				line = "allow " + l.Line
			}
			if _, err := fmt.Fprintf(out, "%s # until %s\n", escapedText(line), untilOf(&l)); err != nil {
				return err
			}
		}
	}
	return nil
}
