package command

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// switcher switches something of sites of a running Caddy for a while.
type switcher struct {
	admin  adminFlags
	choice siteChoice
	lasts  string
	ends   bool // lasts is zero: what is switched on is taken back
}

// add adds the flags; more says which sites are meant without --site and --tag.
func (s *switcher) add(cmd *cobra.Command, more string) {
	s.admin.add(cmd)
	s.admin.addOperator(cmd)
	s.choice.add(cmd, more)
	cmd.Flags().StringVar(&s.lasts, "for", "", "how long, such as 2h or 1d; 0s ends it")
}

var errNoFor = errors.New(`--for: say how long, such as 2h; 0s ends it`)

// readFor reads --for.
func (s *switcher) readFor() error {
	if s.lasts == "" {
		return errNoFor
	}
	lasts, err := policy.ParseDuration(s.lasts)
	if err != nil {
		return fmt.Errorf("--for: %w", err)
	}
	s.ends = lasts == 0
	return nil
}

// what names a switch in the question whether it is meant.
func (s *switcher) what(word string) string {
	if s.ends {
		return "take back " + word
	}
	return word + policy.Prefixed(" for ", s.lasts)
}

// chosen returns the sites that are meant. Where there are several, it asks on a terminal, and needs --yes without one if needed says so.
func (s *switcher) chosen(cmd *cobra.Command, c *adminapi.Client, what string, needed bool) (sites []string, err error) {
	if sites, err = s.choice.chosen(cmd, c); err == nil && len(sites) > 1 {
		err = s.choice.sure(cmd, s.what(what), sites, needed)
	}
	return sites, err
}

// atEach switches something at each site. A site that Caddy refuses it for, or that is gone, does not keep the others from it; any other
// error would be that of all sites.
func atEach(sites []string, turn func(site string) error) error {
	var failed []error
	for _, site := range sites {
		err := turn(site)
		said, ok := errors.AsType[*adminapi.Error](err)
		switch {
		case err == nil:
		case ok && said.Status == http.StatusConflict:
			failed = append(failed, fmt.Errorf("%s: %w", site, err))
		case ok && said.Status == http.StatusNotFound:
			failed = append(failed, usage(err))
		default:
			return errors.Join(append(failed, asked(err))...)
		}
	}
	return errors.Join(failed...)
}
