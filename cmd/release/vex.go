package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// statementsFile has what is known of vulnerabilities in what the programs are built of: a list of
// "vulnerabilities" as CycloneDX has them, without "affects". A statement that none of them is reached
// says in its "detail" how that was found out.
const statementsFile = "cmd/release/vex.json"

// vulnerabilityDocument is a VEX in the form of CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json/.
type vulnerabilityDocument struct {
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Timestamp time.Time `json:"timestamp"`
		Component component `json:"component"`
	} `json:"metadata"`
	Vulnerabilities []map[string]any `json:"vulnerabilities"`
}

// component is what a document is about.
type component struct {
	Ref     string `json:"bom-ref"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// vulnerabilities writes the VEX of the release.
func (r *release) vulnerabilities() error {
	text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(statementsFile)))
	if err != nil {
		return err
	}
	document, err := vex(text, r.version, r.time)
	if err != nil {
		return fmt.Errorf("%s: %w", statementsFile, err)
	}
	name := "restwarden_" + strings.TrimPrefix(r.version, "v") + ".vex.cdx.json"
	return os.WriteFile(filepath.Join(r.dir, name), document, 0o644) //nolint:gosec // for everybody
}

// vex makes the document of a version from the text of statements. Each is about that version.
func vex(statements []byte, version string, at time.Time) ([]byte, error) {
	name := strings.TrimPrefix(repository, "https://")
	purl := "pkg:golang/" + name + "@" + version
	d := vulnerabilityDocument{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	d.Metadata.Timestamp = at
	d.Metadata.Component = component{Ref: purl, Type: "application", Name: name, Version: version, PURL: purl}
	in := json.NewDecoder(bytes.NewReader(statements))
	in.DisallowUnknownFields()
	var read struct {
		Vulnerabilities []map[string]any `json:"vulnerabilities"`
	}
	if err := in.Decode(&read); err != nil {
		return nil, err
	}
	d.Vulnerabilities = []map[string]any{}
	for _, v := range read.Vulnerabilities {
		if err := checkStatement(v); err != nil {
			return nil, err
		}
		v["affects"] = []any{map[string]any{"ref": purl}}
		d.Vulnerabilities = append(d.Vulnerabilities, v)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

// checkStatement wants what a reader needs: which vulnerability, what is so, and how that is known.
func checkStatement(v map[string]any) error {
	id, _ := v["id"].(string)
	analysis, _ := v["analysis"].(map[string]any)
	state, _ := analysis["state"].(string)
	detail, _ := analysis["detail"].(string)
	justification, _ := analysis["justification"].(string)
	switch {
	case id == "" || state == "" || detail == "":
		return fmt.Errorf("%v: a statement needs id, and state and detail of its analysis", v)
	case state == "not_affected" && justification == "":
		return fmt.Errorf("%s: not_affected needs a justification", id)
	case v["affects"] != nil:
		return fmt.Errorf("%s: affects is the release, which the document adds", id)
	}
	return nil
}
