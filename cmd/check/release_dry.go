package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/workflow"
)

const (
	releaseWorkflow  = ".github/workflows/release.yml"
	contributingPage = ".github/CONTRIBUTING.md"
	makesKey         = "minisign -G " // begins the line that makes the key, on contributingPage
	verifies         = "minisign -Vm" // begins the line that verifies a release, on installPage
)

// dryPackages are what the dry run needs of Debian: the program that verifies a signature.
var dryPackages = []machine.Package{{Name: "minisign", Command: "minisign"}}

// dryRelease runs the workflow of releases as it stands, for the newest version in CHANGELOG.md, with a key that is
// thrown away, and verifies what it would publish as docs/install.md says.
func (c *check) dryRelease(ctx context.Context, dir string) {
	start := time.Now()
	d := &dryRun{check: c, dir: dir, keys: filepath.Join(dir, "keys"), calls: filepath.Join(dir, "calls")}
	w, err := d.prepare(ctx)
	c.results.verdict("a tag, a key and "+releaseWorkflow, time.Since(start), d.out, err)
	if err != nil {
		return
	}
	ran := 0
	last := time.Now()
	runner := d.runner(func(job string, s workflow.Step, out string, err error) {
		if s.Run != "" {
			ran++
		}
		c.results.verdict("dry: "+job+": "+s.String(), time.Since(last), out, err)
		last = time.Now()
	})
	if err := runner.Run(ctx, w); err != nil {
		return // the verdict of the step has it
	}
	c.results.verdict("dry: every command ran", 0, "", allRan(w, ran))
	files, err := d.published()
	c.results.verdict("dry: a draft with every file, and the notes of "+d.tag, 0, "", err)
	if err != nil {
		return
	}
	start = time.Now()
	c.results.verdict("dry: "+verifies+", in another place", time.Since(start), "", d.verified(ctx, files))
	start = time.Now()
	c.results.verdict("dry: SBOM and VEX are of CycloneDX's schema", time.Since(start), "", d.fitSchemas(ctx, files))
}

// dryRun is one dry run of the workflow.
type dryRun struct {
	*check
	dir, keys, calls string
	source           string // the clone whose tag starts the workflow
	tag, secret      string
	out              string
}

// newestVersion is the newest heading of a version in CHANGELOG.md.
var newestVersion = regexp.MustCompile(`(?m)^## (v\d\S*)$`)

// prepare makes the clone with a tag, and in it the key, by the line that a maintainer types.
func (d *dryRun) prepare(ctx context.Context) (*workflow.Workflow, error) {
	out, err := machine.Install(ctx, dryPackages)
	if err != nil {
		d.out = out
		return nil, err
	}
	d.source = filepath.Join(d.dir, "tagged")
	if d.out, err = output(ctx, time.Minute, d.root, "git", "clone", "--quiet", "--no-hardlinks", d.root, d.source); err != nil {
		return nil, err
	}
	changes, err := os.ReadFile(filepath.Join(d.source, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	m := newestVersion.FindSubmatch(changes)
	if m == nil {
		return nil, errors.New("CHANGELOG.md has no heading of a version")
	}
	d.tag = string(m[1])
	line, err := lineOf(filepath.Join(d.source, filepath.FromSlash(contributingPage)), makesKey)
	if err != nil {
		return nil, err
	}
	const commit = "git -c user.name=check -c user.email=check@localhost commit --quiet --message key cmd/release/minisign.pub\n" +
		"git tag --force \"$TAG\"\n"
	// the page keeps the secret half beside the clone
	d.out, err = machine.Run(ctx, d.source, []string{"TAG=" + d.tag}, "bash", "-euc", line+" </dev/null\n"+commit)
	if err != nil {
		return nil, err
	}
	secret, err := os.ReadFile(filepath.Join(d.dir, "restwarden.key"))
	d.secret = string(secret)
	if err != nil {
		return nil, err
	}
	return workflow.Read(filepath.Join(d.source, filepath.FromSlash(releaseWorkflow)))
}

// lineOf is the line of a page that begins as this.
func lineOf(page, begins string) (string, error) {
	text, err := os.ReadFile(page)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, begins) {
			return strings.TrimSpace(line), nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("%s has no line %q", page, begins))
}

// standIns take the place of programs: gh writes down its words and its notes and sends nothing; go, but for
// --nightly, makes a release for one system.
var standIns = map[string]string{
	"gh": "printf '%s\\n' \"$GH_REPO\" \"$GH_TOKEN\" \"$@\" >\"$CALLS\"\n",
	"go": "if [ \"${1-} ${2-} ${3-}\" = 'run ./cmd/release --version' ]; then shift 2; set -- run ./cmd/release --systems linux/amd64 \"$@\"; fi\nexec \"$GO\" \"$@\"\n",
}

// runner returns what runs the workflow.
func (d *dryRun) runner(done func(string, workflow.Step, string, error)) *workflow.Runner {
	programs := filepath.Join(d.dir, "programs")
	real, err := machine.LookPath("go")
	for name, text := range standIns {
		if name == "go" && d.nightly > 0 {
			continue
		}
		path := filepath.Join(programs, name)
		err = errors.Join(err, os.MkdirAll(programs, 0o700), os.WriteFile(path, []byte("#!/bin/bash\n"+text), 0o700)) //nolint:gosec // a program
	}
	return &workflow.Runner{
		Dir: filepath.Join(d.dir, "machines"), Source: d.source, Tag: d.tag, Done: done,
		Values: map[string]string{"github.token": "no token", "github.repository": "restwarden/restwarden", "secrets.MINISIGN_SECRET_KEY": d.secret},
		Env:    []string{"PATH=" + programs + ":" + os.Getenv("PATH"), "GO=" + real, "CALLS=" + d.calls},
		Matrix: func(dimension, value string) bool {
			return d.nightly > 0 || dimension != "system" || value == "linux_amd64"
		},
		Command: func(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
			if err != nil {
				return "", err
			}
			ctx, cancel := context.WithTimeout(ctx, releaseLimit)
			defer cancel()
			return machine.Run(ctx, dir, env, name, args...)
		},
	}
}

// allRan tells whether as many commands ran as the workflow has, or more where a job runs for several values.
func allRan(w *workflow.Workflow, ran int) error {
	if all := len(w.Commands()); all == 0 || ran < all {
		return fmt.Errorf("%d of %d commands", ran, all)
	}
	return nil
}

// published returns the files that gh was told to publish, by name.
func (d *dryRun) published() (map[string]string, error) {
	text, err := os.ReadFile(d.calls)
	if err != nil {
		return nil, fmt.Errorf("gh was not called: %w", err)
	}
	words := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(words) < 5 || !slices.Equal(words[:5], []string{"restwarden/restwarden", "no token", "release", "create", d.tag}) {
		return nil, fmt.Errorf("gh was called with %q", words)
	}
	// those of gh release create that make a draft of a tag which there is
	flags := flag.NewFlagSet("gh release create", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	draft, verify := flags.Bool("draft", false, ""), flags.Bool("verify-tag", false, "")
	title, notes := flags.String("title", "", ""), flags.String("notes-file", "", "")
	if err := flags.Parse(words[5:]); err != nil {
		return nil, err
	}
	if !*draft || !*verify || *title != d.tag {
		return nil, fmt.Errorf("no draft of an existing tag: %q", words)
	}
	if text, err = os.ReadFile(*notes); err != nil {
		return nil, err
	}
	if !strings.Contains(string(text), "/blob/"+d.tag+"/") {
		return nil, fmt.Errorf("no notes of %s: %s", d.tag, text)
	}
	return d.filesIn(flags.Args())
}

// filesIn holds that the files are those that the sums name, the sums, and their signature.
func (d *dryRun) filesIn(paths []string) (map[string]string, error) {
	files := map[string]string{}
	for _, path := range paths {
		files[filepath.Base(path)] = filepath.Join(d.dir, "machines", "publish-0", "workspace", path)
	}
	sums, err := os.ReadFile(files["SHA256SUMS"])
	if err != nil {
		return nil, fmt.Errorf("sums are not among %q: %w", paths, err)
	}
	want := []string{"SHA256SUMS", "SHA256SUMS.minisig"}
	for line := range strings.Lines(string(sums)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want = append(want, name)
	}
	for _, name := range want {
		if _, err := os.Stat(files[name]); err != nil {
			return nil, fmt.Errorf("%s is not published: %w", name, err)
		}
	}
	if len(files) != len(want) {
		return nil, fmt.Errorf("%d files are published, and the sums are of %q", len(files), want)
	}
	return files, nil
}
