package command

import "github.com/restwarden/restwarden/policies/plugins"

// pluginList is the JSON of "plugins": all plugins, those of a site, or one.
type pluginList struct {
	Version int         `json:"v"` // 1
	Site    *pluginSite `json:"site,omitempty"`
	// Plugins are all, or those that were recognised on the site.
	Plugins []pluginRow `json:"plugins,omitempty"`
	// Unknown are the namespaces of the site that are of none of them.
	Unknown []string `json:"unknown_namespaces,omitempty"`
	// Unseen is how many plugins no REST root shows.
	Unseen int          `json:"unrecognisable,omitempty"`
	Plugin *pluginEntry `json:"plugin,omitempty"`
}

// pluginSite is the site whose root was read.
type pluginSite struct {
	Name    string `json:"name,omitempty"`
	Home    string `json:"home,omitempty"`
	Address string `json:"address,omitempty"` // that was read; none for a file
	Routes  int    `json:"routes"`
}

// pluginRow is a plugin in the table.
type pluginRow struct {
	Slug  string      `json:"slug"`
	Name  string      `json:"name"`
	Needs []groupNeed `json:"needs"`
	Risky int         `json:"risky"` // rows
	CVEs  int         `json:"cves"`
	// By are the namespaces and the routes that a REST root shows it by.
	By []string `json:"recognised_by"`
}

// groupNeed is how many rows a group has.
type groupNeed struct {
	Group plugins.Group `json:"group"`
	Rows  int           `json:"rows"`
}

// pluginEntry is one plugin with all that the catalogue has.
type pluginEntry struct {
	*plugins.Plugin
	By         []string       `json:"recognised_by"`
	Recognised bool           `json:"recognised,omitempty"` // on the site that was looked at
	Lines      []plugins.Line `json:"lines"`
}

func newPluginRow(p *plugins.Plugin) pluginRow {
	row := pluginRow{Slug: p.Slug, Name: p.Name, Needs: []groupNeed{}, Risky: len(p.Risky), By: recognisedBy(p)}
	for _, g := range plugins.Groups {
		need := groupNeed{Group: g}
		for i := range p.Needed {
			if p.Needed[i].Caller.Group() == g {
				need.Rows++
			}
		}
		if need.Rows > 0 {
			row.Needs = append(row.Needs, need)
		}
	}
	for i := range p.Risky {
		row.CVEs += len(p.Risky[i].CVE)
	}
	return row
}

func newEntry(p *plugins.Plugin) *pluginEntry {
	return &pluginEntry{Plugin: p, By: recognisedBy(p), Lines: append([]plugins.Line{}, p.Lines()...)}
}

// recognisedBy returns what plugins.Find knows a plugin by; nothing if it does not.
func recognisedBy(p *plugins.Plugin) []string {
	by := []string{}
	for _, ns := range p.Namespaces {
		if !ns.Shared {
			by = append(by, ns.Name)
		}
	}
	for _, route := range p.Detect {
		by = append(by, route+"/**")
	}
	return by
}
