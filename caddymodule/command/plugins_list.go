package command

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
)

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
	// By are the namespaces and the routes that a REST root shows it by: those of the site's
	// root, if one was read.
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

// listedIn returns those of recognisedBy that a root lists.
func listedIn(root *siteroot.Root, all []string) []string {
	by := []string{}
	for _, name := range all {
		below, is := strings.CutSuffix(strings.ToLower(name), "/**")
		listed := slices.ContainsFunc(root.Namespaces, func(ns string) bool { return strings.EqualFold(ns, name) })
		if is {
			listed = slices.ContainsFunc(root.Routes, func(r index.Listed) bool {
				return strings.HasPrefix(strings.ToLower(r.Pattern)+"/", below+"/")
			})
		}
		if listed {
			by = append(by, name)
		}
	}
	return by
}
