package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/typo"
)

// rootFlags say where the REST root of a site is.
type rootFlags struct {
	index, prefix string
	header        []string
}

func (f *rootFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.index, "index", "", "file with the saved REST root of the site")
	flags.StringVar(&f.prefix, "prefix", "wp-json", "first segment of the site's REST addresses")
	flags.StringArrayVarP(&f.header, "header", "H", nil, "header line for the site, such as Authorization: Basic …, or Host: …; may be repeated")
}

// read reads the root from an address, or from the file of --index. The status is that for
// the error.
func (f *rootFlags) read(ctx context.Context, address string) (root *siteroot.Root, status int, err error) {
	if f.index != "" {
		if address != "" {
			return nil, exitUsage, errors.New("name the address of the site or --index, not both")
		}
		root, err = siteroot.Open(f.index)
		return root, exitUsage, err
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		return nil, exitUsage, fmt.Errorf("%q is no address such as https://shop.example.com", address)
	}
	root, err = siteroot.Fetch(ctx, address, f.prefix, f.header)
	if errors.Is(err, siteroot.ErrUsage) {
		return nil, exitUsage, err
	}
	return root, exitUnknown, err
}

// lister shows the catalogue of plugins.
type lister struct {
	root         rootFlags
	site, format string
}

func pluginsCommand() *cobra.Command {
	l := &lister{}
	cmd := &cobra.Command{
		Use:   "plugins [--for URL | --index FILE] [-H HEADER]… [--format text|json] [NAME]",
		Short: "Shows what plugins need open to callers without a login",
		Long: `Shows the catalogue behind "allow plugin" and "deny plugin": all of its plugins, those
that a site has, or one with its routes, reasons and sources.

With --for, the REST root of the site is read, by one GET (a second one where the site
has plain permalinks), and nothing else is sent anywhere. Only plugins with a
namespace or routes of their own are recognised.

Exit status: 0 fine, 2 usage, 3 the site's REST root cannot be read, or the plugin
that you named is not recognised on the site.`,
		Example: `  caddy restwarden plugins
  caddy restwarden plugins contact-form-7
  caddy restwarden plugins --for https://shop.example.com
  caddy restwarden plugins --index root.json woocommerce`,
		Args:              cobra.ArbitraryArgs,
		SilenceUsage:      true,
		ValidArgsFunction: completePlugin,
	}
	l.root.add(cmd)
	f := cmd.Flags()
	f.StringVar(&l.site, "for", "", "address of a site: show the plugins that it has")
	f.StringVar(&l.format, "format", "text", "text or json")
	complete(cmd, "format", "text", "json")
	withAnswer(cmd, l.run)
	return cmd
}

// completePlugin completes the name of a plugin.
func completePlugin(_ *cobra.Command, args []string, typed string) (words []string, _ cobra.ShellCompDirective) {
	for _, p := range plugins.All() {
		for _, name := range append([]string{p.Slug}, p.Aliases...) {
			if len(args) == 0 && strings.HasPrefix(name, strings.ToLower(typed)) {
				words = append(words, cobra.CompletionWithDesc(name, p.Name))
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// run returns the exit status.
func (l *lister) run(cmd *cobra.Command, args []string) (int, error) {
	if err := typo.Check(l.format, "text", "json"); err != nil {
		return exitUsage, fmt.Errorf("--format: %w", err)
	}
	if err := cobra.MaximumNArgs(1)(cmd, args); err != nil {
		return exitUsage, err
	}
	result := &pluginList{Version: 1}
	if len(args) == 1 {
		p, err := plugins.ByName(args[0])
		if err != nil {
			return exitUsage, err
		}
		result.Plugin = newEntry(p)
	}
	status := 0
	switch {
	case l.site != "" || l.root.index != "":
		progress := terminal.NewProgress(cmd.ErrOrStderr())
		progress.Step("reading the REST root")
		root, status, err := l.root.read(cmd.Context(), l.site)
		progress.End()
		if err != nil {
			return status, err
		}
		result.look(root)
	case result.Plugin == nil:
		result.Plugins = rowsOf(plugins.All())
	}
	if result.Plugin != nil && result.Site != nil && !result.Plugin.Recognised {
		status = exitUnknown
	}
	return status, l.print(cmd, result)
}

func rowsOf(list []*plugins.Plugin) []pluginRow {
	rows := []pluginRow{}
	for _, p := range list {
		rows = append(rows, newPluginRow(p))
	}
	return rows
}

// look adds what a root tells.
func (r *pluginList) look(root *siteroot.Root) {
	found := plugins.Find(root.Namespaces, root.Patterns())
	r.Site = &pluginSite{Name: root.Name, Address: root.Address, Home: root.Home, Routes: len(root.Routes)}
	if r.Plugin != nil {
		r.Plugin.Recognised = slices.ContainsFunc(found.Plugins, func(p *plugins.Plugin) bool { return p.Slug == r.Plugin.Slug })
		return
	}
	r.Plugins, r.Unknown = rowsOf(found.Plugins), append([]string{}, found.Unknown...)
	for i := range r.Plugins {
		r.Plugins[i].By = listedIn(root, r.Plugins[i].By)
	}
	for _, p := range plugins.All() {
		if how := recognisedBy(p); len(how) == 0 {
			r.Unseen++
		}
	}
}
