package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/command/testfile"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/typo"
)

// tester runs tests of the operator's own.
type tester struct {
	configFlags
	runningFlags
	choice  sitename.Choice
	format  string
	verbose bool
}

var testFormats = []string{"text", "json", "junit", "github"}

func testCommand() *cobra.Command {
	var t tester
	cmd := &cobra.Command{
		Use:   "test [--config FILE [--adapter NAME] | --running] [--site SITE | --tag TAG]... [--format text|json|junit|github] [--verbose] FILE...",
		Short: "Runs your own tests against your own configuration",
		Long: `Runs the tests of YAML files against the configuration that each file names, as a
running Caddy would judge the requests. Nothing is sent: what answers behind the
gateway is a stub that plays the caller and the records of each test.

	config: Caddyfile
	tests:
	  - name: nobody lists users, in any spelling
	    request: GET https://shop.example.com/wp-json/wp/v2/users
	    spellings: all
	    as: anonymous
	    expect: { refused: rest_not_logged_in }
	  - name: the contact form works
	    request: POST https://shop.example.com/wp-json/contact-form-7/v1/contact-forms/5/feedback
	    expect: pass
	  - never: { as: anonymous, calls: [POST, PUT, PATCH, DELETE], routes: [/wp/v2/**], at: https://shop.example.com }

"never" and "always" are proofs over all calls of their routes; a counter-example
is printed as a request that can be sent. With "at: all" or "at: tag:shops" a test
runs at each site of the configuration, or of a tag. With --site or --tag the tests of
these sites run.

A line tells of each test that fails: where it stands, what was expected, what
came, and by which rule. Then follow the rules that no test was decided by. The
last line is "N passed, N failed".

The exit status is 0 if all tests have passed, 1 if a test has failed, 2 if the
command, a file or the configuration has an error, and 3 if no test has failed
but one cannot be known or proved.`,
		Example:           "  caddy restwarden test shop.test.yaml\n  caddy restwarden test --format junit *.test.yaml > restwarden.xml",
		Args:              cobra.ArbitraryArgs, // run says what is missing, with the right exit status
		SilenceUsage:      true,
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	t.configFlags.add(cmd, "configuration file, in place of those that the files name")
	t.runningFlags.add(cmd, runningUsage)
	addChoice(cmd, &t.choice, " (default all)")
	f := cmd.Flags()
	f.StringVar(&t.format, "format", "text", "text, json, junit or github")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "list the tests that have passed, too")
	complete(cmd, "format", testFormats...)
	complete(cmd, "adapter", "caddyfile", "json")
	withAnswer(cmd, t.run)
	return cmd
}

// run returns the exit status.
func (t *tester) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 {
		return exitUsage, errors.New("test needs a file, such as shop.test.yaml")
	}
	if err := typo.Check(t.format, testFormats...); err != nil {
		return exitUsage, fmt.Errorf("--format: %w", err)
	}
	if err := t.check(&t.configFlags); err != nil {
		return exitUsage, err
	}
	files, err := readTests(args)
	if err != nil {
		return exitUsage, err
	}
	report, err := t.runAll(cmd, files)
	if err != nil {
		return exitUsage, err
	}
	out := cmd.OutOrStdout()
	switch t.format {
	case "json":
		err = report.JSON(out)
	case "junit":
		err = report.JUnit(out)
	case "github":
		err = report.GitHub(out)
	default:
		err = report.Text(out, terminal.PaletteOf(out), t.verbose)
	}
	if err != nil {
		return exitFailed, err
	}
	return report.Status(), nil
}

// readTests reads all files, so that an error of any of them is told before a test runs.
func readTests(paths []string) ([]*testfile.File, error) {
	files := make([]*testfile.File, len(paths))
	var problems []error
	for i, path := range paths {
		text, err := os.Open(path) //nolint:gosec // the user of the command names the file
		if err == nil {
			files[i], err = testfile.Read(path, text)
			_ = text.Close() // it was only read
		}
		problems = append(problems, err)
	}
	return files, errors.Join(problems...)
}

// runAll runs the tests of all files. Files of one configuration share it, since a rule may
// be tested in any of them.
func (t *tester) runAll(cmd *cobra.Command, files []*testfile.File) (*testfile.Report, error) {
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.End()
	done, total := 0, 0
	for _, f := range files {
		total += len(f.Tests)
	}
	var running dryrun.Options
	if t.running {
		progress.Step("asking the Caddy that runs")
		var err error
		if running.JSON, running.Switches, err = t.load(cmd.Context()); err != nil {
			return nil, err
		}
	}
	outcomes := make([][]testfile.Outcome, len(files))
	var untested []dryrun.Rule
	for first := range files {
		if outcomes[first] != nil {
			continue
		}
		source := t.sourceOf(files[first])
		progress.Step("loading %s", cmp.Or(source.config, "the configuration"))
		err := source.use(running, func(r *testfile.Runner) (err error) {
			r.Choice = t.choice
			r.Step = func(test *testfile.Test) {
				done++
				progress.Step("%d of %d: %s", done, total, test.Name)
			}
			for i := first; i < len(files) && err == nil; i++ {
				if t.sourceOf(files[i]) == source {
					outcomes[i], err = r.Run(cmd.Context(), files[i])
				}
			}
			untested = append(untested, r.Untested()...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	all := slices.Concat(outcomes...)
	if len(all) == 0 {
		return nil, errors.New("no test is about the sites of --site and --tag")
	}
	if !t.choice.All() {
		untested = nil // those of other sites are not to be told apart
	}
	return testfile.NewReport(all, untested), nil
}

// source is what tests are run against.
type source struct{ config, adapter, index, running string }

func (t *tester) sourceOf(f *testfile.File) source {
	s := source{config: f.Config, adapter: f.Adapter, index: f.Index}
	if t.config != "" || t.running {
		s.config, s.adapter, s.running = t.config, "", t.String()
	}
	s.adapter = cmp.Or(t.adapter, s.adapter)
	return s
}

// use loads the configuration, that of the Caddy that runs if there is one, for as long as f runs.
func (s source) use(running dryrun.Options, f func(*testfile.Runner) error) error {
	o := running
	o.File, o.Adapter = s.config, s.adapter
	if s.index != "" {
		index, err := os.ReadFile(s.index)
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		o.Index = index
	}
	gateway, err := testfile.Load(o)
	if err != nil {
		return err
	}
	return errors.Join(f(&testfile.Runner{Gateway: gateway, Flags: s.flags()}), gateway.Close())
}

// flags name the configuration in a command line.
func (s source) flags() string {
	var b strings.Builder
	b.WriteString(s.running)
	for _, flag := range [][2]string{{"--config", s.config}, {"--adapter", s.adapter}} {
		if flag[1] != "" {
			b.WriteString(" " + flag[0] + " " + testfile.Quoted(flag[1]))
		}
	}
	return b.String()
}
