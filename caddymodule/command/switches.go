package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

func observeCommand() *cobra.Command {
	s := &switcher{}
	cmd := &cobra.Command{
		Use:   "observe SITE | --site SITE | --tag TAG... --for DURATION [--yes]",
		Short: "Lets sites of a running Caddy observe for a while",
		Long: `Switches sites of a running Caddy to observe: for the time they refuse and change
nothing, and record what they would have refused. No reload is needed. The switch
survives reloads and ends by itself; --for 0s ends it now.`,
		Example: `  caddy restwarden observe shop.example.com --for 2h
  caddy restwarden observe --tag shops --for 0s`,
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
	}
	s.add(cmd, "")
	withStatus(cmd, func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0 && !s.choice.All():
			return usage(errors.New("name one site behind observe, or sites with --site and --tag"))
		case len(args) == 0 && s.choice.All():
			return usage(errNoSite)
		}
		if err := s.readFor(); err != nil {
			return usage(err)
		}
		c, err := s.admin.client()
		if err != nil {
			return err
		}
		sites := args
		if len(args) == 0 {
			if sites, err = s.chosen(cmd, c, string(policy.Observe), !s.ends); err != nil {
				return err
			}
		}
		err = atEach(sites, func(site string) error { return s.observe(cmd, c, site) })
		if err != nil && len(args) > 0 && strings.Contains(args[0], "*") {
			err = fmt.Errorf("%w: a name with * for any text belongs behind --site", err)
		}
		return err
	})
	return cmd
}

func (s *switcher) observe(cmd *cobra.Command, c *adminapi.Client, site string) error {
	var answer adminapi.Switched
	body := adminapi.ModeSwitch[string]{Mode: policy.Observe, For: s.lasts}
	if err := c.Ask(cmd.Context(), "POST", adminapi.Named(adminapi.ModePath, site), body, &answer); err != nil {
		return err
	}
	text := fmt.Sprintf("%s: mode %s", answer.Site, answer.Mode)
	if answer.Until != nil {
		text += " until " + moment(*answer.Until)
	}
	if answer.Lockdown != nil {
		text += "; a lockdown is in force and enforces"
	}
	return printSwitched(cmd, text, &answer)
}

func lockdownCommand() *cobra.Command {
	s := &switcher{}
	var hard bool
	cmd := &cobra.Command{
		Use:   "lockdown [--site SITE | --tag TAG]... --for DURATION [--hard] [--yes]",
		Short: "Closes the REST interface of a running Caddy's sites to visitors for a while",
		Long: `Closes the REST interface of all sites of a running Caddy, or of some, to anonymous
callers, whatever the modes say. What stays open: what the rules "allow anyone" and
"allow signed" name, "allow plugin" as well, and the shop's checkout. With --hard the
checkout closes too, also where a rule opens it to anyone. No reload is needed.
The lockdown survives reloads and ends by itself; --for 0s ends it now. One of all
sites and those of single sites are ended apart.`,
		Example: `  caddy restwarden lockdown --for 6h
  caddy restwarden lockdown --tag shops --for 6h --hard`,
		Args:         noSite,
		SilenceUsage: true,
	}
	s.add(cmd, " (default all)")
	cmd.Flags().BoolVar(&hard, "hard", false, "close the shop's checkout as well, whichever rule opens it to anyone")
	withStatus(cmd, func(cmd *cobra.Command, _ []string) error {
		if err := s.readFor(); err != nil {
			return usage(err)
		}
		c, err := s.admin.client()
		if err != nil {
			return err
		}
		what := "lockdown"
		if hard {
			what = "hard lockdown"
		}
		body := adminapi.LockdownSwitch[string]{For: s.lasts, Hard: hard}
		if s.choice.All() {
			what += " of all sites"
		}
		var sites []string
		if !s.choice.All() || s.choice.asks(cmd) { // a lockdown of all needs no list of them
			if sites, err = s.chosen(cmd, c, what, false); err != nil {
				return err
			}
		}
		if s.choice.All() {
			return asked(lockdown(cmd, c, body))
		}
		return atEach(sites, func(site string) error {
			body.Site = &site
			return lockdown(cmd, c, body)
		})
	})
	return cmd
}

// noSite refuses the name of a site where only a flag names one: without it all sites are meant.
func noSite(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("name the site with --site: --site %s", args[0])
	}
	return nil
}

// lockdown switches a lockdown of a site or of all, and prints what counts then.
func lockdown(cmd *cobra.Command, c *adminapi.Client, body adminapi.LockdownSwitch[string]) error {
	var answer adminapi.Switched
	if err := c.Ask(cmd.Context(), "POST", adminapi.LockdownPath, body, &answer); err != nil {
		return err
	}
	text := "no lockdown"
	if on := answer.Lockdown; on != nil {
		if text = "lockdown"; on.Hard {
			text = "hard lockdown"
		}
		if answer.Site == "" {
			text += fmt.Sprintf(" (sites: %d)", answer.Sites)
		}
		text += " until " + moment(on.Until)
		if on.All && answer.Site != "" {
			text += `; a lockdown of all sites is on, which "lockdown --for 0s" ends`
		}
	} else if answer.Sites > 0 {
		text += fmt.Sprintf(" of all sites (sites with their own: %d, which --site '*' ends)", answer.Sites)
	}
	if answer.Site != "" {
		text = answer.Site + ": " + text
	}
	return printSwitched(cmd, text, &answer)
}

// printSwitched prints what counts now and, if other gateways could not be told, a warning.
func printSwitched(cmd *cobra.Command, text string, s *adminapi.Switched) error {
	if s.Error != "" {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), s.Error) // the result tells, too
	}
	gateways := "on this gateway"
	if s.Gateways == adminapi.AllGateways {
		gateways = "on all gateways"
	}
	_, err := io.WriteString(cmd.OutOrStdout(), text+", "+gateways+"\n")
	return err
}
