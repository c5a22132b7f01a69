package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// releasePackages are what the step needs of Debian: its own installer of a Debian without a
// kernel, and the tools of util-linux that confine a program.
var releasePackages = []machine.Package{
	{Name: "mmdebstrap", Command: "mmdebstrap"},
	{Name: "debian-archive-keyring", File: "/usr/share/keyrings/debian-archive-keyring.gpg"},
	{Name: "util-linux", Command: "unshare"},
}

// release makes a release from two clones of HEAD, which must be the same, and tries what is
// in it. With --nightly that is for all systems, and on more than one Debian.
func (c *check) release(ctx context.Context) {
	start := time.Now()
	out, err := machine.Install(ctx, releasePackages)
	if err == nil && os.Geteuid() != 0 {
		err = errors.New("it installs into directories and mounts: run it as root")
	}
	c.results.verdict("packages", time.Since(start), out, err)
	if err != nil {
		return
	}
	dir, err := os.MkdirTemp("", "restwarden-released-")
	if err == nil {
		err = os.Chmod(dir, 0o711) //nolint:gosec // other users work in directories below it
	}
	if err != nil {
		c.results.fail("release", err.Error())
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	clone := filepath.Join(dir, "clone")
	if !c.clone(ctx, clone) || !c.asInstalled(ctx, clone) {
		return
	}
	made := filepath.Join(clone, "dist")
	if c.nightly > 0 {
		made = filepath.Join(dir, "made")
		if !c.makeRelease(ctx, clone, made) {
			return
		}
	}
	other, again := filepath.Join(dir, "elsewhere", "another clone"), filepath.Join(dir, "again")
	if c.clone(ctx, other) && c.makeRelease(ctx, other, again) {
		c.results.verdict("both releases are the same", 0, "", sameFile(made, again, "SHA256SUMS"))
	}
	unpacked, err := c.unpack(ctx, dir, made)
	if err != nil {
		return
	}
	c.tryContainer(ctx, dir, unpacked)
	for _, suite := range c.suites() {
		c.tryPackage(ctx, dir, made, suite)
	}
}

// clone clones HEAD.
func (c *check) clone(ctx context.Context, to string) bool {
	start := time.Now()
	out, err := output(ctx, time.Minute, c.root, "git", "clone", "--quiet", "--no-hardlinks", c.root, to)
	c.results.verdict("git clone of HEAD into "+filepath.Base(to), time.Since(start), out, err)
	return err == nil
}

// installPage is the page on installing. Its commands make a release in dist.
const installPage = "docs/install.md"

// asInstalled runs the commands of the page on installing, as written.
func (c *check) asInstalled(ctx context.Context, clone string) bool {
	text, err := os.ReadFile(filepath.Join(clone, filepath.FromSlash(installPage)))
	if err != nil {
		c.results.fail(installPage, err.Error())
		return false
	}
	commands := shellCommands(string(text))
	if !slices.Contains(commands, releaseCommand) {
		c.results.fail(installPage, "it does not have "+releaseCommand)
		return false
	}
	for _, line := range commands {
		start := time.Now()
		out, err := tryCommand(ctx, clone, line)
		c.results.verdict(line, time.Since(start), out, err)
		if err != nil {
			return false
		}
	}
	return true
}

// releaseCommand is what every run builds for: what the step can run.
const releaseCommand = "go run ./cmd/release --systems linux/amd64 dist"

// makeRelease makes a release from a clone.
func (c *check) makeRelease(ctx context.Context, clone, made string) bool {
	args := strings.Fields(strings.TrimPrefix(releaseCommand, "go "))
	args[len(args)-1] = made
	if c.nightly > 0 { // for all systems
		args = []string{"run", "./cmd/release", made}
	}
	start := time.Now()
	out, err := output(ctx, lintLimit, clone, "go", args...)
	c.results.verdict("go run ./cmd/release, in "+filepath.Base(clone), time.Since(start), out, err)
	return err == nil
}

// sameFile compares a file of two directories.
func sameFile(one, other, name string) error {
	a, err := os.ReadFile(filepath.Join(one, name))
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(other, name))
	if err == nil && string(a) != string(b) {
		err = fmt.Errorf("%s differs:\n%s\n%s", name, a, b)
	}
	return err
}

// unpack does what somebody does who has fetched the archive, and returns the directory with
// its files.
func (c *check) unpack(ctx context.Context, dir, made string) (string, error) {
	start := time.Now()
	out, err := output(ctx, time.Minute, made, "sha256sum", "--check", "--strict", "SHA256SUMS")
	c.results.verdict("sha256sum --check", time.Since(start), out, err)
	if err != nil {
		return "", err
	}
	start = time.Now()
	unpacked, out, err := unpackIn(ctx, dir, made)
	c.results.verdict("the archive: its program knows its version", time.Since(start), out, err)
	return unpacked, err
}

func unpackIn(ctx context.Context, dir, made string) (unpacked, out string, err error) {
	archive, err := machine.Newest(filepath.Join(made, "restwarden_*_linux_amd64.tar.gz"))
	if err != nil {
		return "", "", err
	}
	if out, err = output(ctx, time.Minute, dir, "tar", "--extract", "--file", archive); err != nil {
		return "", out, err
	}
	name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
	unpacked = filepath.Join(dir, name)
	version := "v" + strings.TrimSuffix(strings.TrimPrefix(name, "restwarden_"), "_linux_amd64")
	out, err = output(ctx, time.Minute, unpacked, "./caddy", "build-info")
	if want := "mod\tgithub.com/restwarden/restwarden\t" + version; err == nil && !strings.Contains(out, want) {
		err = fmt.Errorf("caddy build-info does not say %q", want)
	}
	return unpacked, out, err
}
