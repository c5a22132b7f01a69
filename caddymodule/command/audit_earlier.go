package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
)

// earlier are the reports of an earlier run, as lines of JSON; nil if none are compared.
type earlier map[string][]byte

func siteKey(site, address string) string { return site + " " + address }

// readEarlier reads what --format json has printed.
func readEarlier(file string) (earlier, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the user of the command names the file
	if err != nil {
		return nil, err
	}
	all, number := earlier{}, 0
	for line := range bytes.Lines(text) {
		number++
		var of unreadLine
		if err := json.Unmarshal(line, &of); err != nil || of.Version != 1 {
			return nil, fmt.Errorf(`%s: line %d is no report of a site: make the file with "audit --all --format json"`, file, number)
		}
		if of.Error != "" {
			line = nil
		}
		all[siteKey(of.Site, of.Address)] = line
	}
	return all, nil
}

// since compares a report with the earlier one of its site.
func (e earlier) since(report *audit.Report) (*audit.Diff, error) {
	if e == nil {
		return nil, nil
	}
	line := e[siteKey(report.Site, report.Address)]
	if line == nil {
		return &audit.Diff{Limits: []string{"the earlier run has no report of the site"}}, nil
	}
	old, err := audit.Read(line)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", report.Site, err)
	}
	return report.Since(old), nil
}
