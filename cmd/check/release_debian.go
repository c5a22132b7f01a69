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

// suites are the releases of Debian on which the package is tried.
func (c *check) suites() []string {
	if c.nightly > 0 {
		return []string{"trixie", "bookworm"}
	}
	return []string{"trixie"}
}

// tryPackage installs the package into a small Debian with Debian's own Caddy, upgrades it,
// removes it and purges it.
func (c *check) tryPackage(ctx context.Context, dir, made, suite string) {
	start := time.Now()
	d := &debianRoot{ctx: ctx, dir: filepath.Join(dir, suite)}
	out, err := d.make(made, suite)
	c.results.verdict(suite+": a Debian with its own Caddy", time.Since(start), out, err)
	if err != nil {
		return
	}
	for _, try := range []struct {
		what string
		run  func() error
	}{
		{"installs, and restarts nothing", d.installs},
		{"is Caddy with the module, beside Debian's own", d.isCaddy},
		{"its unit is in order", d.unit},
		{"its example loads", d.example},
		{"an upgrade restarts Caddy if it loads the Caddyfile", d.upgrades},
		{"purged, it leaves nothing", d.purges},
	} {
		start, d.out = time.Now(), ""
		err := try.run()
		c.results.verdict(suite+": the package "+try.what, time.Since(start), d.out, err)
		if err != nil {
			return
		}
	}
}

// lintian holds the package against Debian's own rules.
func (c *check) lintian(ctx context.Context, made string) {
	start := time.Now()
	out, err := machine.Install(ctx, []machine.Package{{Name: "lintian", Command: "lintian"}})
	if err == nil {
		var deb string
		if deb, err = machine.Newest(filepath.Join(made, "*_amd64.deb")); err == nil {
			out, err = output(ctx, toolLimit, made, "lintian", "--allow-root", "--fail-on", "error,warning", deb)
		}
	}
	c.results.verdict("lintian", time.Since(start), out, err)
}

// debianRoot is a Debian in a directory.
type debianRoot struct {
	ctx    context.Context
	dir    string
	before string // what was in it before the package
	out    string // of the commands of one try
}

// systemdStandIns take the place of systemd, which does not run in a directory: they write
// down how the package's scripts call them. What systemd-run is to run runs as the user.
var systemdStandIns = map[string]string{
	"systemctl":          "echo systemctl \"$@\" >>/root/calls\n",
	"deb-systemd-invoke": "echo deb-systemd-invoke \"$@\" >>/root/calls\n",
	"systemd-run":        "while case $1 in -*) ;; *) false ;; esac; do shift; done\nexec runuser -u caddy -- \"$@\"\n",
}

// make installs Debian, and puts the package and the stand-ins into it.
func (d *debianRoot) make(made, suite string) (string, error) {
	out, err := output(d.ctx, toolLimit, "/", "mmdebstrap", "--quiet", "--variant=essential",
		"--include=caddy,ca-certificates,passwd,systemd", suite, d.dir)
	if err != nil {
		return out, err
	}
	deb, err := machine.Newest(filepath.Join(made, "*_amd64.deb"))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(deb)
	if err != nil {
		return "", err
	}
	err = errors.Join(
		os.MkdirAll(d.path("/run/systemd/system"), 0o755), //nolint:gosec // as systemd does
		os.WriteFile(d.path("/root/package.deb"), text, 0o600),
		os.WriteFile(d.path("/root/calls"), nil, 0o600),
	)
	for name, script := range systemdStandIns {
		err = errors.Join(err, os.WriteFile(d.path("/usr/local/bin/"+name), []byte("#!/bin/sh\n"+script), 0o755)) //nolint:gosec // a program
	}
	if err == nil {
		d.before, err = d.state()
	}
	return out, err
}

func (d *debianRoot) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

// run runs a command in it.
func (d *debianRoot) run(args ...string) (string, error) {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TMPDIR=/tmp", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}
	ctx, cancel := context.WithTimeout(d.ctx, toolLimit)
	defer cancel()
	out, err := machine.Run(ctx, "/", env, "chroot", append([]string{d.dir}, args...)...)
	d.out += out
	return out, err
}

// says runs a command and looks for words in what it prints.
func (d *debianRoot) says(want string, args ...string) error {
	out, err := d.run(args...)
	if err == nil && !strings.Contains(out, want) {
		err = fmt.Errorf("%s does not say %q", strings.Join(args, " "), want)
	}
	return err
}

// called returns how the stand-ins were called since the last time.
func (d *debianRoot) called() (string, error) {
	text, err := os.ReadFile(d.path("/root/calls"))
	return string(text), errors.Join(err, os.WriteFile(d.path("/root/calls"), nil, 0o600))
}

// state is all that a package could leave: each file with owner, mode and sum, diversions,
// packages. What dpkg writes down of its own work is left out, and what the check does as root.
func (d *debianRoot) state() (string, error) {
	const script = `cd /
rest() {
	find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./root -o -path ./var/log \
		-o -path './var/lib/dpkg/status*' -o -path './var/lib/dpkg/diversions*' \) -prune -o "$@"
}
rest -printf '%p %M %U %G %l\n'
rest -type f -exec sha256sum {} +
dpkg-divert --list
dpkg-query --show`
	out := d.out
	text, err := d.run("sh", "-euc", script)
	d.out = out // too long to be printed
	return text, err
}

// different are the lines that only one of two texts has.
func different(before, after string) (lines []string) {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	slices.Sort(was)
	slices.Sort(is)
	for _, line := range was {
		if _, found := slices.BinarySearch(is, line); !found {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range is {
		if _, found := slices.BinarySearch(was, line); !found {
			lines = append(lines, "+ "+line)
		}
	}
	return lines
}
