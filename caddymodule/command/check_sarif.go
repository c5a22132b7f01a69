package command

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/routing"
)

// The part of SARIF 2.1.0 that "check" writes (OASIS, Static Analysis Results Interchange
// Format). The names are those of the standard.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		Help                 sarifText          `json:"help"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"` // the import
	}
	sarifLocation struct {
		Message  *sarifText    `json:"message,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// newSARIF writes findings for code review. The file is the configuration, for findings
// without a place.
func newSARIF(c *checked, file string) *sarifLog {
	driver := sarifDriver{Name: "RestWarden"}
	for _, code := range routing.Codes {
		driver.Rules = append(driver.Rules, sarifRule{
			ID: code.Name, ShortDescription: sarifText{sentence(code.Title)}, Help: sarifText{sentence(code.Title) + " " + sentence(code.Do)},
			DefaultConfiguration: sarifConfiguration{levelOf(code.Note)},
		})
	}
	run := sarifRun{Tool: sarifTool{driver}, Results: []sarifResult{}}
	for _, o := range slices.Concat(c.Findings, c.Notes) {
		i := slices.IndexFunc(routing.Codes, func(code routing.Code) bool { return code.Name == o.Code })
		result := sarifResult{
			RuleID: o.Code, RuleIndex: i, Level: levelOf(o.note), Message: sarifText{o.text},
			Locations: []sarifLocation{locationOf(o.At, file, nil)},
		}
		imports := strings.Join(append([]string{o.Imported}, o.Imports[min(1, len(o.Imports)):]...), ", ")
		for _, imported := range strings.FieldsFunc(strings.ReplaceAll(imports, " or ", ", "), func(r rune) bool { return r == ',' }) {
			result.Related = append(result.Related, locationOf(strings.TrimSpace(imported), file, &sarifText{"It is imported here."}))
		}
		run.Results = append(run.Results, result)
	}
	return &sarifLog{Schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func levelOf(note bool) string {
	if note {
		return "note"
	}
	return "warning"
}

// sentence writes a text with a capital letter and a full stop.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func locationOf(at, file string, message *sarifText) sarifLocation {
	name, line := routing.SplitPlace(at)
	if name == "" {
		name = file
	}
	l := sarifLocation{Message: message, Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(name)}}}
	if line > 0 {
		l.Physical.Region = &sarifRegion{line}
	}
	return l
}

// uriOf returns the address of a file: relative for what is below the working directory,
// where code review looks for it.
func uriOf(file string) string {
	if dir, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if relative, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(relative) {
			file = relative
		}
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(file))}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}
