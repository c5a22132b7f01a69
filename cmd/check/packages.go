package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// debianPackage is a package and how to tell that it is there, however it was
// installed: by one of its commands or files.
type debianPackage struct{ name, command, file string }

// debianPackages are what a bare machine with Go lacks: the race detector links
// with a C compiler, the README is tried in a clone, modules come over https,
// what gateways share is tested with a real Redis.
var debianPackages = []debianPackage{
	{name: "gcc", command: "gcc"},
	{name: "libc6-dev", file: "/usr/include/stdio.h"},
	{name: "git", command: "git"},
	{name: "ca-certificates", file: "/etc/ssl/certs/ca-certificates.crt"},
	{name: "redis-server", command: "redis-server"},
	{name: "curl", command: "curl"}, // the demo's lines are run as printed
	{name: "openssl", command: "openssl"},
}

func (p debianPackage) missing() bool {
	if p.command != "" {
		_, err := exec.LookPath(p.command)
		return err != nil
	}
	_, err := os.Stat(p.file)
	return err != nil
}

// installPackages installs those of packages that are missing. It returns what
// apt printed, and an error that names what is missing where it may not install.
func installPackages(ctx context.Context, packages []debianPackage) (string, error) {
	var missing []string
	for _, p := range packages {
		if p.missing() {
			missing = append(missing, p.name)
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return "", fmt.Errorf("missing: %s; on Debian, as root: apt-get update && apt-get install -y %s", names, names)
	}
	updated, err := output(ctx, 5*time.Minute, "/", "apt-get", "update")
	if err != nil {
		return updated, err
	}
	args := append([]string{"DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1", "apt-get", "install", "-y", "--no-install-recommends"}, missing...)
	installed, err := output(ctx, 10*time.Minute, "/", "env", args...)
	if err != nil {
		return updated + installed, err
	}
	for _, p := range packages {
		if p.missing() {
			err = errors.Join(err, fmt.Errorf("%s is installed and still not found", p.name))
		}
	}
	return updated + installed, err
}
