package sitename

import "github.com/restwarden/restwarden/caddymodule/dryrun"

// Known are the sites of a configuration: first those of homes, then those of unreached.
func Known(homes []dryrun.Home, unreached []dryrun.Unreached) (all []Site) {
	for _, home := range homes {
		all = append(all, Site{Names: []string{home.Name}, Tags: home.Tags})
	}
	for _, u := range unreached {
		all = append(all, Site{Names: []string{u.Name}, Tags: u.Tags})
	}
	return all
}
