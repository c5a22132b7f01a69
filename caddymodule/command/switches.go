package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

var errNoFor = errors.New(`--for: say how long, such as 2h; 0s ends it`)

func observeCommand() *cobra.Command {
	var admin adminFlags
	var lasts string
	cmd := &cobra.Command{
		Use:   "observe SITE --for DURATION",
		Short: "Lets a site of a running Caddy observe for a while",
		Long: `Switches a site of a running Caddy to observe: for the time it refuses and changes
nothing, and records what it would have refused. No reload is needed. The switch
survives reloads and ends by itself; --for 0s ends it now.`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
	}
	admin.add(cmd)
	cmd.Flags().StringVar(&lasts, "for", "", "how long, such as 2h or 1d; 0s ends it")
	withStatus(cmd, func(cmd *cobra.Command, args []string) error {
		if lasts == "" {
			return usage(errNoFor)
		}
		var answer adminapi.Switched
		body := adminapi.ModeSwitch[string]{Mode: policy.Observe, For: lasts}
		if err := admin.ask(cmd, "POST", adminapi.Named(adminapi.ModePath, args[0]), body, &answer); err != nil {
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
	})
	return cmd
}

func lockdownCommand() *cobra.Command {
	var admin adminFlags
	var lasts, site string
	var hard bool
	cmd := &cobra.Command{
		Use:   "lockdown [--site SITE] --for DURATION [--hard]",
		Short: "Closes the REST interface of a running Caddy's sites to visitors for a while",
		Long: `Closes the REST interface of all sites of a running Caddy, or of one, to anonymous
callers, whatever the modes say. What stays open: what the rules "allow anyone" and
"allow signed" name, "allow plugin" as well, and the shop's checkout. With --hard the
checkout closes too, also where a rule opens it to anyone. No reload is needed.
The lockdown survives reloads and ends by itself; --for 0s ends it now.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
	}
	admin.add(cmd)
	f := cmd.Flags()
	f.StringVar(&lasts, "for", "", "how long, such as 6h or 1d; 0s ends it")
	f.StringVar(&site, "site", "", "the site (default all)")
	f.BoolVar(&hard, "hard", false, "close the shop's checkout as well, whichever rule opens it to anyone")
	withStatus(cmd, func(cmd *cobra.Command, _ []string) error {
		if lasts == "" {
			return usage(errNoFor)
		}
		body := adminapi.LockdownSwitch[string]{For: lasts, Hard: hard}
		if cmd.Flags().Changed("site") {
			body.Site = &site
		}
		var answer adminapi.Switched
		if err := admin.ask(cmd, "POST", adminapi.LockdownPath, body, &answer); err != nil {
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
		} else if answer.Sites > 0 {
			text += fmt.Sprintf(" of all sites (sites with their own: %d)", answer.Sites)
		}
		if answer.Site != "" {
			text = answer.Site + ": " + text
		}
		return printSwitched(cmd, text, &answer)
	})
	return cmd
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
