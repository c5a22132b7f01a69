package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
)

// siteChoice says which sites of a running Caddy a command is about.
type siteChoice struct {
	sitename.Choice
	yes bool
}

// addChoice adds the flags that say which sites are meant; more says which ones without any.
func addChoice(cmd *cobra.Command, c *sitename.Choice, more string) {
	f := cmd.Flags()
	f.StringArrayVar(&c.Sites, "site", nil, "the site, as the command status names it; * stands for any text; may be repeated"+more)
	f.StringArrayVar(&c.Tags, "tag", nil, "the sites whose directive has this tag, beside those of --site; may be repeated")
}

func (s *siteChoice) add(cmd *cobra.Command, more string) {
	addChoice(cmd, &s.Choice, more)
	cmd.Flags().BoolVar(&s.yes, "yes", false, "do not ask; what has to be confirmed needs it without a terminal")
}

// chosen returns the sites that are meant, in the order of Caddy.
func (s *siteChoice) chosen(cmd *cobra.Command, c *adminapi.Client) (names []string, err error) {
	var list adminapi.Sites[adminapi.Site, json.RawMessage]
	if err := asked(c.Ask(cmd.Context(), "GET", adminapi.SitesPath, nil, &list)); err != nil {
		return nil, err
	}
	return among(&s.Choice, list.Sites)
}

// among returns the sites of a list that are meant, by name: one of whose directives is.
func among(c *sitename.Choice, list []adminapi.Site) ([]string, error) {
	var all []sitename.Site
	for i := range list {
		all = append(all, sitename.Site{Names: []string{list[i].Site}, Tags: list[i].Tags})
	}
	names, err := c.Among(all)
	if err != nil {
		return nil, usage(err)
	}
	return names, nil
}

var errNoSite = errors.New("--site or --tag: name the sites")

// asks tells whether somebody can be asked, and has to be: on a terminal, without --yes.
func (s *siteChoice) asks(cmd *cobra.Command) bool { return !s.yes && terminal.Is(cmd.InOrStdin()) }

// sure asks on a terminal whether a switch of some sites is meant, unless --yes says so. Without a terminal there is nobody to ask, and
// --yes is needed where needed tells so.
func (s *siteChoice) sure(cmd *cobra.Command, what string, sites []string, needed bool) error {
	asks := s.asks(cmd)
	switch {
	case s.yes, !asks && !needed:
		return nil
	case !asks:
		return usage(fmt.Errorf("without a terminal, --yes must confirm: %s at %s", what, sitename.Counted(sites)))
	}
	cmd.PrintErrf("%s at %s? [y/N] ", escapedText(what), escapedText(sitename.Counted(sites)))
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err != nil || word != "y" && word != "yes" {
		return errors.New("nothing was switched")
	}
	return nil
}
