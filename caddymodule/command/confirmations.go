package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/typo"
)

func confirmationsCommand() *cobra.Command {
	var admin adminFlags
	var site string
	cmd := &cobra.Command{
		Use:   "confirmations [--site SITE] [list | show ID | give ID | reject ID]",
		Short: "Shows the calls that wait for a person, and decides on them",
		Long: `Shows the calls of a running Caddy's sites that wait for a person, since a line
"confirm" of the policy abilities names what they run. "show" also shows what the call
is to run with. "give" lets the same call pass once, "reject" does not; both count on
all gateways. Each link opens a page that does the same: who has it can decide.`,
		Args:         cobra.MaximumNArgs(2),
		SilenceUsage: true,
	}
	admin.add(cmd)
	admin.addOperator(cmd)
	cmd.Flags().StringVar(&site, "site", "", "the site (default all)")
	withStatus(cmd, func(cmd *cobra.Command, args []string) error {
		word, id, err := confirmationWords(args)
		if err != nil {
			return usage(err)
		}
		var list adminapi.Confirmations
		if err := admin.ask(cmd, "GET", adminapi.ConfirmationsPath, nil, &list); err != nil {
			return err
		}
		found := list.Confirmations[:0]
		for _, c := range list.Confirmations {
			if (site == "" || c.Site == site) && (id == "" || c.ID == id) {
				found = append(found, c)
			}
		}
		switch {
		case word == "list":
			return listConfirmations(cmd.OutOrStdout(), found)
		case len(found) == 0:
			return usage(fmt.Errorf("no call waits with the confirmation %s", id))
		case word == "show":
			return showConfirmation(cmd.OutOrStdout(), &found[0])
		}
		var decided adminapi.Confirmation
		if err := admin.ask(cmd, "POST", adminapi.Named(adminapi.ConfirmationPath, id), adminapi.Decision{Give: new(word == "give")}, &decided); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: confirmation %s %s\n", plain(decided.Site), plain(decided.ID), plain(string(decided.State)))
		return err
	})
	return cmd
}

// confirmationWords returns what to do, and with which confirmation.
func confirmationWords(args []string) (word, id string, err error) {
	word = "list"
	if len(args) > 0 {
		word = args[0]
	}
	if err := typo.Check(word, "list", "show", "give", "reject"); err != nil {
		return "", "", err
	}
	switch {
	case word == "list" && len(args) > 1:
		return "", "", fmt.Errorf("list takes no id")
	case word != "list" && len(args) < 2:
		return "", "", fmt.Errorf("%s: say which one; list shows them", word)
	case word != "list":
		id = args[1]
	}
	return word, id, nil
}

// plain makes text safe for a terminal, on one line.
func plain(text string) string { return strings.ReplaceAll(confirm.Plain(text), "\n", `\n`) }

func listConfirmations(out io.Writer, all []adminapi.Confirmation) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no call waits for a person")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) } // Flush returns the error
	line("ID", "SITE", "STATE", "CALLER", "RUNS", "UNTIL", "LINK")
	for _, c := range all {
		line(plain(c.ID), plain(c.Site), plain(string(c.State)), plain(c.Caller), plain(c.Ability), moment(c.Expires), plain(c.Link))
	}
	return w.Flush()
}

func showConfirmation(out io.Writer, c *adminapi.Confirmation) error {
	arguments := "none"
	if len(c.Arguments) > 0 {
		arguments = "\n" + confirm.Show(string(c.Arguments))
	}
	if len(c.Beside) > 0 {
		arguments += "\nalso sent     \n" + confirm.Show(string(c.Beside))
	}
	_, err := fmt.Fprintf(out, "confirmation  %s\nsite          %s\nstate         %s\ncaller        %s\nruns          %s\ndoor          %s\nuntil         %s\nlink          %s\narguments     %s\n",
		plain(c.ID), plain(c.Site), plain(string(c.State)), plain(c.Caller), plain(c.Ability), plain(c.Door), moment(c.Expires), plain(c.Link), arguments)
	return err
}
