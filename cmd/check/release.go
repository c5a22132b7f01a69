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
	made, err := c.releases(ctx, dir)
	if err != nil {
		return
	}
	unpacked, err := c.unpack(ctx, dir, made)
	if err != nil {
		return
	}
	c.dryRelease(ctx, dir)
	c.tryContainer(ctx, dir, unpacked)
	for _, suite := range c.suites() {
		c.tryPackage(ctx, dir, made, suite)
	}
	if c.nightly > 0 {
		c.lintian(ctx, made)
	}
}

// releases makes two and returns the directory of the first. The second is made elsewhere,
// with other settings; with --nightly it takes nothing from an earlier build.
func (c *check) releases(ctx context.Context, dir string) (made string, err error) {
	clone, other, again := filepath.Join(dir, "clone"), filepath.Join(dir, "elsewhere", "another clone"), filepath.Join(dir, "again")
	if err := errors.Join(c.clone(ctx, clone), c.clone(ctx, other)); err != nil {
		return "", err
	}
	if err := c.asInstalled(ctx, clone); err != nil {
		return "", err
	}
	made = filepath.Join(clone, "dist")
	command, env := strings.TrimSuffix(releaseCommand, "dist")+`"$1"`, []string{"TZ=Pacific/Kiritimati"}
	if c.nightly > 0 {
		command, made = `go run ./cmd/release "$1"`, filepath.Join(dir, "made")
		if err := c.makeRelease(ctx, clone, made, command, nil); err != nil {
			return "", err
		}
		env = append(env, "GOCACHE="+filepath.Join(dir, "cache"))
	}
	if err := c.makeRelease(ctx, other, again, "umask 027; "+command, env); err != nil {
		return "", err
	}
	c.results.verdict("both releases are the same", 0, "", sameFile(made, again, "SHA256SUMS"))
	return made, nil
}

// clone clones HEAD.
func (c *check) clone(ctx context.Context, to string) error {
	start := time.Now()
	out, err := output(ctx, time.Minute, c.root, "git", "clone", "--quiet", "--no-hardlinks", c.root, to)
	c.results.verdict("git clone of HEAD into "+filepath.Base(to), time.Since(start), out, err)
	return err
}

// installPage is the page on installing. Its commands make a release in dist.
const installPage = "docs/install.md"

// asInstalled runs the commands of the page on installing, as written.
func (c *check) asInstalled(ctx context.Context, clone string) error {
	text, err := os.ReadFile(filepath.Join(clone, filepath.FromSlash(installPage)))
	commands := shellCommands(string(text))
	if err == nil && !slices.Contains(commands, releaseCommand) {
		err = errors.New("it does not have " + releaseCommand)
	}
	if err != nil {
		c.results.fail(installPage, err.Error())
		return err
	}
	for _, line := range commands {
		start := time.Now()
		out, err := tryCommand(ctx, clone, line)
		c.results.verdict(line, time.Since(start), out, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// releaseCommand is what every run builds for: what the step can run.
const releaseCommand = "go run ./cmd/release --systems linux/amd64 dist"

// releaseLimit bounds one release for all systems, built from nothing.
const releaseLimit = time.Hour

// makeRelease makes a release from a clone by a command, whose $1 is the directory for it.
func (c *check) makeRelease(ctx context.Context, clone, made, command string, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, releaseLimit)
	defer cancel()
	start := time.Now()
	out, err := machine.Run(ctx, clone, env, "bash", "-euc", command, "bash", made)
	c.results.verdict("go run ./cmd/release, in "+filepath.Base(clone), time.Since(start), out, err)
	return err
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
