package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Package is a Debian package, and a command or file that shows that it is installed, by
// whatever means. The version in a file's name may differ.
type Package struct{ Name, Command, File string }

// Missing tells whether p is not installed.
func (p Package) Missing() bool {
	if p.Command != "" {
		_, err := LookPath(p.Command)
		return err != nil
	}
	_, err := Newest(p.File)
	return err != nil
}

// LookPath finds a command, also in the directories that only root's PATH has.
func LookPath(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", command))
	}
	return path, err
}

// Newest returns the last file that fits the pattern.
func Newest(pattern string) (string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("there is no %s", pattern)
	}
	return files[len(files)-1], nil
}

// noServices keeps the scripts of packages from starting services.
const noServices = "/usr/sbin/policy-rc.d"

// Install installs the missing ones of packages, and starts no service. The error names
// what is missing if that fails.
func Install(ctx context.Context, packages []Package) (output string, err error) {
	missing := missingOf(packages)
	if len(missing) == 0 {
		return "", nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return "", fmt.Errorf("missing: %s; on Debian, as root: apt-get update && apt-get install -y %s", names, names)
	}
	if _, err := os.Stat(noServices); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(noServices, []byte("#!/bin/sh\nexit 101\n"), 0o755); err != nil { //nolint:gosec // a program, which apt runs
			return "", err
		}
		defer func() { _ = os.Remove(noServices) }() // it was not there before
	}
	output, err = aptGet(ctx, "update")
	if err != nil {
		return output, err
	}
	installed, err := aptGet(ctx, append([]string{"install", "-y", "--no-install-recommends"}, missing...)...)
	if left := missingOf(packages); err == nil && len(left) > 0 {
		err = fmt.Errorf("installed and still not found: %s", strings.Join(left, " "))
	}
	return output + installed, err
}

func missingOf(packages []Package) (names []string) {
	for _, p := range packages {
		if p.Missing() {
			names = append(names, p.Name)
		}
	}
	return names
}

func aptGet(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	args = append([]string{"-o", "DPkg::Lock::Timeout=300"}, args...)
	return Run(ctx, "/", []string{"DEBIAN_FRONTEND=noninteractive"}, "apt-get", args...)
}
