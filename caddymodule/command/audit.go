package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/policies/typo"
)

// auditor says what reaches a site.
type auditor struct {
	configFlags
	choice                            sitename.Choice
	index, prefix, format, diff, html string
	header, failOn                    []string
	all                               bool
}

var auditFormats = []string{"text", "json"}

func auditCommand() *cobra.Command {
	a := &auditor{}
	cmd := &cobra.Command{
		Use:   "audit [--site SITE] [--config FILE] [--index FILE] [-H HEADER]... [URL] | --all | --site SITE | --tag TAG...",
		Short: "Says what reaches a site, and which lines open exactly what its plugins need",
		Long: `Reads the REST root of a site with one GET, and says what of it reaches the site
under your configuration: which routes for whom, what callers without a login may
write, published holes, the plugins that the site has, what each of them needs
open, what is risky, and which lines to add. Without a configuration it says so of
a site without the gateway. docs/commands/audit.md explains the report.

Nothing else is sent, nothing is started or changed.

Without a URL and a saved REST root it reads those of the sites of the configuration:
all of them (--all), or those of --site and --tag. It prints a line for each site, and
with --html writes a page for each into a directory, and an index of them.

Exit status: 0 fine, 1 the report has something that --fail-on names, 2 usage, or
the configuration does not load, 3 it cannot be known, 4 the gateway is not on the
way to the site.`,
		Example: `  caddy restwarden audit https://shop.example.com
  caddy restwarden audit --format json https://shop.example.com > audit.json
  caddy restwarden audit --all --html pages`,
		SilenceUsage: true,
	}
	a.add(cmd, configUsage)
	addChoice(cmd, &a.choice, "; with a URL it is one site")
	f := cmd.Flags()
	f.StringVar(&a.index, "index", "", "file with a saved REST root, in place of the GET")
	f.StringVar(&a.prefix, "prefix", "", "first segment of the site's REST addresses (default that of the configuration, or wp-json)")
	f.StringArrayVarP(&a.header, "header", "H", nil, "header line of the GET, \"Name: value\"")
	f.StringVar(&a.diff, "diff", "", "file with an earlier report in JSON: print what has changed since, and nothing else; of several sites, compare each for --fail-on")
	f.StringSliceVar(&a.failOn, "fail-on", nil, "exit with 1 for any of these: "+strings.Join(audit.Kinds(), ", "))
	f.StringVar(&a.html, "html", "", "write the report as a page for the owner of the site, too; without a URL, pages into this directory")
	f.BoolVar(&a.all, "all", false, "without a URL, all sites of the configuration; else print each route")
	f.StringVar(&a.format, "format", "text", strings.Join(auditFormats, " or "))
	complete(cmd, "format", auditFormats...)
	complete(cmd, "fail-on", audit.Kinds()...)
	withAnswer(cmd, a.run)
	return cmd
}

// run returns the exit status.
func (a *auditor) run(cmd *cobra.Command, args []string) (int, error) {
	if err := typo.Check(a.format, auditFormats...); err != nil {
		return exitUsage, fmt.Errorf("--format: %w", err)
	}
	if cmd.Flags().Changed("fail-on") && len(a.failOn) == 0 {
		return exitUsage, errors.New("--fail-on names nothing: is a variable empty?")
	}
	if err := audit.CheckKinds(a.failOn, a.diff != ""); err != nil {
		return exitUsage, fmt.Errorf("--fail-on: %w", err)
	}
	if len(args) == 0 && a.index == "" && (a.all || !a.choice.All()) {
		return a.runAll(cmd)
	}
	address, err := a.address(args)
	if err != nil {
		return exitUsage, err
	}
	if len(a.choice.Sites) > 1 || len(a.choice.Tags) > 0 {
		return exitUsage, errors.New("a URL or a saved REST root is one site's: name it with one --site, or leave the URL out")
	}
	old, err := a.old()
	if err != nil {
		return exitUsage, err
	}
	report, err := a.report(cmd, address)
	switch {
	case err != nil:
		return unread(err), err
	case old != nil && old.Site != report.Site:
		return exitUsage, fmt.Errorf("--diff: %s is a report of %q, and this one is of %q", a.diff, old.Site, report.Site)
	}
	return a.answer(cmd, report, old)
}

// unread is the exit status of an error for which there is no report.
func unread(err error) int {
	switch {
	case errors.Is(err, errUnknowable):
		return exitUnknown
	case errors.Is(err, errNotGuarded):
		return exitNotReached
	}
	return exitUsage
}

// old reads the report of --diff. It is nil without one.
func (a *auditor) old() (*audit.Report, error) {
	if a.diff == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.diff)
	if err != nil {
		return nil, err
	}
	old, err := audit.Read(text)
	if err != nil {
		return nil, fmt.Errorf("--diff: %s: %w", a.diff, err)
	}
	return old, nil
}

// answer prints the report, or what has changed since old, and returns the exit status.
func (a *auditor) answer(cmd *cobra.Command, report, old *audit.Report) (status int, err error) {
	out := cmd.OutOrStdout()
	var diff *audit.Diff
	if old != nil {
		diff = report.Since(old)
	}
	failed, unknown := report.FailOn(a.failOn, diff)
	if diff != nil {
		diff.Failed, diff.Undecided = failed, unknown
		err = show(out, a.format, diff, func(d *audit.Diff) string { return d.Text(terminal.PaletteOf(out)) })
	} else {
		report.Failed, report.Undecided = failed, unknown
		err = show(out, a.format, report, func(r *audit.Report) string { return r.Text(terminal.PaletteOf(out), a.all) })
	}
	if err = errors.Join(err, page(a.html, report)); err != nil {
		return exitUsage, err
	}
	return tellFailures(cmd, "", failed, unknown), nil
}

// tellFailures prints what --fail-on has found and what it could not decide, of a site where several are meant. It returns the exit
// status.
func tellFailures(cmd *cobra.Command, site string, failed, unknown []audit.Failure) (status int) {
	if site != "" {
		site += ": "
	}
	for _, f := range slices.Concat(failed, unknown) {
		cmd.PrintErrln(escapedText(site + f.String()))
	}
	switch {
	case len(failed) > 0:
		return exitNo
	case len(unknown) > 0:
		return exitUnknown
	}
	return 0
}

// page writes the page of a report; file is "" for none.
func page(file string, report *audit.Report) error {
	if file == "" {
		return nil
	}
	shown, err := printable(report)
	if err != nil {
		return err
	}
	return writePage(file, shown.HTML)
}

// writePage writes a page into a file.
func writePage(file string, html func(io.Writer) error) error {
	var page bytes.Buffer
	if err := html(&page); err != nil {
		return err
	}
	return os.WriteFile(file, masked(page.Bytes()), 0o644) //nolint:gosec // a page for others to read
}

// show prints v as JSON or as text.
func show[T any](out io.Writer, format string, v *T, text func(*T) string) error {
	if format == "json" {
		return printIndented(out, v)
	}
	shown, err := printable(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text(shown))
	return err
}

// address returns the URL that the command names, or "".
func (a *auditor) address(args []string) (string, error) {
	switch {
	case len(args) > 1:
		return "", errors.New("name one URL")
	case len(args) == 0 && a.index == "":
		return "", errors.New("name the URL of the site, such as https://shop.example.com, a saved REST root with --index, or sites of the configuration with --all, --site or --tag")
	case len(args) == 0:
		return "", nil
	}
	address := args[0]
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	if _, err := url.Parse(address); err != nil { // the text of err may have a password
		return "", errors.New("the URL cannot be read: write it as https://shop.example.com")
	}
	return address, nil
}

// report makes the report.
func (a *auditor) report(cmd *cobra.Command, address string) (*audit.Report, error) {
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	progress.Step("reading the configuration")
	g, err := a.guarded(cmd.Context(), address)
	if err != nil {
		return nil, err
	}
	root, err := a.root(cmd, g, address, progress)
	if err != nil {
		return nil, err
	}
	progress.Step("reasoning about %d routes", len(root.Routes))
	return g.report(root, address)
}

// report makes the report of the site from its REST root.
func (g *guardedSite) report(root *siteroot.Root, address string) (*audit.Report, error) {
	g.chooses(root)
	in := audit.Input{
		Site: g.name, Address: shownAddress(root.Address), Root: root.Root, Now: g.gateway, LoginOnly: g.loginOnly, Limits: g.limits, With: g.with,
		Configured: g.configured, NotEnforced: g.notEnforced, Past: g.past,
	}
	if in.Site == "" {
		in.Site = siteOfAddress(cmp.Or(address, root.Home, root.URL))
	}
	return audit.New(in)
}

// root reads the REST root.
func (a *auditor) root(cmd *cobra.Command, g *guardedSite, address string, progress *terminal.Progress) (*siteroot.Root, error) {
	if a.index != "" {
		return siteroot.Open(a.index)
	}
	progress.Step("reading %s", shownAddress(address))
	root, err := siteroot.Fetch(cmd.Context(), address, cmp.Or(a.prefix, g.prefix, "wp-json"), a.header)
	switch {
	case errors.Is(err, siteroot.ErrUsage):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnknowable, err)
	}
	return root, nil
}

// shownAddress is an address without what it may have of a login.
func shownAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}

// siteOfAddress names a site by its home address: the host and the folder.
func siteOfAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname()) + strings.TrimSuffix(u.EscapedPath(), "/")
}
