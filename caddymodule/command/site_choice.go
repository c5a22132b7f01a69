package command

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/typo"
)

// maxNamed bounds the sites that a question names.
const maxNamed = 5

// counted says which sites are meant: "a.example", "3 sites (a.example, b.example, c.example)".
func counted(sites []string) string {
	if len(sites) == 1 {
		return sites[0]
	}
	named := strings.Join(sites[:min(len(sites), maxNamed)], ", ")
	if more := len(sites) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d sites (%s)", len(sites), named)
}

// siteChoice says which sites of a running Caddy a command is about.
type siteChoice struct {
	sites []string
	yes   bool
}

func (s *siteChoice) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.sites, "site", nil, "the site, as the command status names it; * stands for any text; may be repeated")
	f.BoolVar(&s.yes, "yes", false, "do not ask; what has to be confirmed needs it without a terminal")
}

// chosen returns the sites that are meant, in the order of Caddy.
func (s *siteChoice) chosen(cmd *cobra.Command, c *adminapi.Client) (names []string, err error) {
	var list adminapi.Sites[adminapi.Site, json.RawMessage]
	if err := asked(c.Ask(cmd.Context(), "GET", adminapi.SitesPath, nil, &list)); err != nil {
		return nil, err
	}
	return s.among(&list)
}

// among returns the sites of a list that are meant.
func (s *siteChoice) among(list *adminapi.Sites[adminapi.Site, json.RawMessage]) (names []string, err error) {
	var all []string
	for i := range list.Sites {
		if name := list.Sites[i].Site; !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, pattern := range s.sites {
		fit := func(name string) bool { return sitename.Fits(pattern, name) }
		if !slices.ContainsFunc(all, fit) {
			return nil, usage(fmt.Errorf("no site is called %q: %s", pattern, cmp.Or(typo.Hint(pattern, all...), counted(all))))
		}
	}
	for _, name := range all {
		if s.wants(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// wants tells whether a site is meant; without --site each is.
func (s *siteChoice) wants(name string) bool {
	return len(s.sites) == 0 || slices.ContainsFunc(s.sites, func(pattern string) bool { return sitename.Fits(pattern, name) })
}

var errNoSite = errors.New("--site: name the site")

// sure asks on a terminal whether a switch of some sites is meant, unless --yes says so. Without a terminal there is nobody to ask, and
// --yes is needed where needed tells so.
func (s *siteChoice) sure(cmd *cobra.Command, what string, sites []string, needed bool) error {
	asks := terminal.Is(cmd.InOrStdin())
	switch {
	case s.yes, !asks && !needed:
		return nil
	case !asks:
		return usage(fmt.Errorf("without a terminal, --yes must confirm: %s at %s", what, counted(sites)))
	}
	cmd.PrintErrf("%s at %s? [y/N] ", escapedText(what), escapedText(counted(sites)))
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err != nil || word != "y" && word != "yes" {
		return errors.New("nothing was switched")
	}
	return nil
}
