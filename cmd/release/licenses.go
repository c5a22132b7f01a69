package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenseFile fits the names under which modules keep the texts that a copy of them must
// carry.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright)([.-].*)?$`)

// collectLicenses returns the licenses of all modules that are in the programs, one
// after the other. A module without one is an error: it must not be passed on.
func (r *release) collectLicenses(ctx context.Context) ([]byte, error) {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}`
	var modules []string
	for _, system := range systems { // what one system needs is in the file of all
		listed, err := command(ctx, r.root, environment(system), "go", "list", "-deps", "-f", format, "./cmd/caddy")
		if err != nil {
			return nil, err
		}
		modules = append(modules, strings.Split(strings.TrimSpace(listed), "\n")...)
	}
	slices.Sort(modules)
	var all bytes.Buffer
	all.WriteString("This program contains the modules below, under these licenses, and Go itself under that of golang.org/x.\n")
	for _, line := range slices.Compact(modules) {
		parts := strings.SplitN(line, " ", 3)
		if len(parts) < 3 { // the lines of packages without one
			continue
		}
		if err := addLicense(&all, parts[0], parts[2]); err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// addLicense adds the texts of the module in dir.
func addLicense(all *bytes.Buffer, module, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := 0
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name())) //nolint:gosec // a file of a module
		if err != nil {
			return err
		}
		found++
		_, _ = fmt.Fprintf(all, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("-", 72), module, e.Name(), bytes.TrimSpace(text))
	}
	if found == 0 {
		return fmt.Errorf("%s has no license", module)
	}
	return nil
}
