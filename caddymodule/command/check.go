package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/typo"
)

// checker says what is odd in a configuration.
type checker struct {
	configFlags
	root   rootFlags
	live   string
	named  string // the site, by --site
	format string
	strict bool
}

var checkFormats = []string{"text", "json", "sarif"}

func checkCommand() *cobra.Command {
	c := &checker{}
	cmd := &cobra.Command{
		Use:   "check [--config FILE] [--adapter NAME] [--live URL [-H HEADER]… | --index FILE] [--site NAME] [--strict] [--format text|json|sarif]",
		Short: "Says what is odd in a configuration",
		Long: `Reads your own configuration as Caddy does, with the plugins of this Caddy, and says
what is odd in it: directives that guard less than it seems, ways past them, and rules
that never decide. Each line has a code, file and line, what is odd, and what to do.
docs/commands/checks.md explains the codes.

Nothing is started, sent or written. A variable of the environment that is not set
here gets a stand-in.

With --live, the REST root of the site is read, by one GET, or with --index from a file:
check then also says which routes, roles and plugins the site does not have. With --live
and -H it also asks whether anybody has a role that neither the core nor the shop has.

Exit status: 0 fine, 1 something is odd and --strict is set, 2 usage, or the
configuration does not load, 3 it cannot be known, or the REST root cannot be read.`,
		Example: `  caddy restwarden check
  caddy restwarden check --live https://shop.example.com
  caddy restwarden check --config /etc/caddy/Caddyfile --strict
  caddy restwarden check --format sarif > restwarden.sarif`,
		SilenceUsage: true,
	}
	c.add(cmd, configUsage)
	c.root.add(cmd)
	f := cmd.Flags()
	f.StringVar(&c.live, "live", "", "address of the site, or of the platform behind the gateway: read its REST root")
	f.StringVar(&c.named, "site", "", "site of the configuration that the REST root is of, host and folder (default that of the root's home)")
	f.BoolVar(&c.strict, "strict", false, "exit with 1 if something is odd")
	f.StringVar(&c.format, "format", "text", strings.Join(checkFormats, ", ")+": how to print what is odd")
	complete(cmd, "format", checkFormats...)
	withAnswer(cmd, c.run)
	return cmd
}

// checked is what is odd in a configuration. It is the JSON of "check".
type checked struct {
	Version  int       `json:"v"` // 1
	Findings []oddness `json:"findings"`
	Notes    []oddness `json:"notes"` // nothing is wrong
}

// oddness is one finding.
type oddness struct {
	Code     string   `json:"code"`
	At       string   `json:"at"`
	Imported string   `json:"imported,omitempty"`
	Imports  []string `json:"imports,omitempty"` // all of them, if a snippet has several
	Sites    []string `json:"sites"`             // empty for all hosts
	Problem  string   `json:"problem"`
	Do       string   `json:"do"`

	text string // in one line
	note bool
}

// run returns the exit status.
func (c *checker) run(cmd *cobra.Command, args []string) (int, error) {
	if err := typo.Check(c.format, checkFormats...); err != nil {
		return exitUsage, fmt.Errorf("--format: %w", err)
	}
	if err := cobra.NoArgs(cmd, args); err != nil {
		return exitUsage, err
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	progress.Step("reading the configuration")
	site, status, err := c.site(cmd.Context())
	if err != nil {
		progress.End()
		return status, err
	}
	found, err := c.findings(site)
	progress.End()
	switch {
	case errors.Is(err, dryrun.ErrUnknowable):
		return exitUnknown, err
	case err != nil:
		return exitUsage, err
	}
	result := newChecked(found)
	if err := c.print(cmd.OutOrStdout(), result); err != nil {
		return exitUsage, err
	}
	if c.strict && len(result.Findings) > 0 {
		return exitNo, nil
	}
	return 0, nil
}

// findings loads the configuration and returns all that is odd in it.
func (c *checker) findings(site *dryrun.Installed) ([]routing.Finding, error) {
	var found []routing.Finding
	config, err := dryrun.Load(dryrun.Options{
		File: c.config, Adapter: c.adapter, Odd: func(f routing.Finding) { found = append(found, f) }, Installed: site,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = config.Close() }() // a directory of its own is left
	if site != nil {
		found = append(found, config.Absent(site)...)
	}
	if len(config.Report.Directives) == 0 {
		found = append(found, routing.Finding{
			Code: "W02", Text: "no route of the configuration leads to a directive restwarden, so that nothing is guarded", Do: "add the directive to each site that needs it",
		})
	}
	spools, err := spoolFindings(config.Report.Directives)
	return slices.Concat(config.Report.Odd, found, spools), err
}

// spoolFindings looks at the directories for spooled bodies, each once. The dry run does not
// use them. The error says that one cannot be used.
func spoolFindings(directives []*routing.Directive) ([]routing.Finding, error) {
	seen := map[pool.Spool]bool{}
	var found []routing.Finding
	for _, d := range directives {
		dir, err := option.Resolved(cmp.Or(d.SpoolDir, os.TempDir()))
		s := pool.Spool{Dir: dir, Limit: d.SpoolLimit}
		if err != nil || seen[s] {
			continue // this machine does not know the directory
		}
		seen[s] = true
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no directory", dir)
		}
		if err != nil {
			return nil, fmt.Errorf("restwarden at %s: spool_dir: %w", routing.Place(cmp.Or(d.At, "the configuration"), d.Imported), err)
		}
		for _, text := range budget.LookAtSpool(dir, d.SpoolLimit) {
			found = append(found, routing.Finding{Code: budget.CodeSpool, At: d.At, Imported: d.Imported, Text: text})
		}
	}
	return found, nil
}

// newChecked sorts findings by file, line and code, and takes the notes apart.
func newChecked(found []routing.Finding) *checked {
	slices.SortStableFunc(found, func(a, b routing.Finding) int {
		return cmp.Or(routing.ComparePlaces(a.At, b.At), cmp.Compare(a.Code, b.Code), routing.ComparePlaces(a.Imported, b.Imported))
	})
	c := &checked{Version: 1, Findings: []oddness{}, Notes: []oddness{}}
	for _, f := range found {
		code := routing.CodeOf(f.Code)
		f.Do = cmp.Or(f.Do, code.Do)
		o := oddness{
			Code: f.Code, At: f.At, Imported: f.Imported, Sites: append([]string{}, f.Sites...),
			Problem: f.Text, Do: f.Do, text: f.Problem(), note: code.Note || f.Note,
		}
		if o.note {
			c.Notes = append(c.Notes, o)
		} else {
			c.Findings = append(c.Findings, o)
		}
	}
	c.Findings, c.Notes = append([]oddness{}, once(c.Findings)...), append([]oddness{}, once(c.Notes)...)
	return c
}

// once makes one of the findings that a snippet causes wherever it is imported.
func once(found []oddness) (list []oddness) {
	type same struct{ code, at, text string }
	first := map[same]int{}
	for _, o := range found {
		key := same{o.Code, o.At, o.text}
		i, known := first[key]
		if !known || o.At == "" {
			first[key] = len(list)
			list = append(list, o)
			continue
		}
		all := &list[i]
		if all.Imports == nil {
			all.Imports = []string{all.Imported}
		}
		all.Imports = append(all.Imports, o.Imported)
		for _, site := range o.Sites {
			if !slices.Contains(all.Sites, site) {
				all.Sites = append(all.Sites, site)
			}
		}
	}
	return list
}

// place is where a finding stands, for people.
func (o *oddness) place() string {
	imported := o.Imported
	if imported != "" && len(o.Imports) > 1 {
		imported = fmt.Sprintf("%s and %d more", imported, len(o.Imports)-1)
	}
	return routing.Place(cmp.Or(o.At, "the configuration"), imported)
}

func (c *checker) print(out io.Writer, result *checked) error {
	switch c.format {
	case "json":
		return printIndented(out, result)
	case "sarif":
		return printIndented(out, newSARIF(result, c.file()))
	}
	palette := terminal.PaletteOf(out)
	var text strings.Builder
	for _, o := range result.Findings {
		fmt.Fprintf(&text, "%s %s: %s\n", palette.Odd(o.Code), palette.Strong(o.place()), o.text)
	}
	for _, o := range result.Notes {
		fmt.Fprintf(&text, "note %s %s: %s\n", o.Code, o.place(), o.text)
	}
	if len(result.Findings) == 0 {
		text.WriteString(palette.Good("nothing odd") + "\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// file is the configuration file, as the user names it.
func (c *checker) file() string { return cmp.Or(c.config, "Caddyfile") }
