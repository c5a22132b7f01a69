package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// verified does what docs/install.md says to whom has fetched a release: a file is what the sums say, and they are what
// the key has signed. Other sums are not.
func (d *dryRun) verified(ctx context.Context, files map[string]string) error {
	line, err := lineOf(filepath.Join(d.source, filepath.FromSlash(installPage)), verifies)
	if err != nil {
		return err
	}
	public, err := os.ReadFile(filepath.Join(d.source, "cmd", "release", "minisign.pub"))
	if err != nil {
		return err
	}
	_, key, _ := strings.Cut(strings.TrimSpace(string(public)), "\n")
	line = strings.Replace(line, "KEY", key, 1)
	fetched := filepath.Join(d.dir, "fetched")
	if err := os.Mkdir(fetched, 0o700); err != nil {
		return err
	}
	for name, path := range files {
		if err := os.Link(path, filepath.Join(fetched, name)); err != nil {
			return err
		}
	}
	out, err := output(ctx, time.Minute, fetched, "bash", "-euc", line+"\nsha256sum --check --ignore-missing SHA256SUMS")
	if err == nil && !strings.Contains(out, "restwarden "+d.tag+" SHA256SUMS") {
		err = errors.New("the comment that is signed is not that of " + d.tag)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	sums := filepath.Join(fetched, "SHA256SUMS")
	if err := errors.Join(os.Remove(sums), os.WriteFile(sums, []byte("other sums\n"), 0o600)); err != nil {
		return err
	}
	if out, err := output(ctx, time.Minute, fetched, "bash", "-euc", line); err == nil {
		return fmt.Errorf("other sums are verified, too: %s", out)
	}
	return nil
}

// cyclonedxSchemas is the module that has the schemas of CycloneDX, as its project publishes them.
const cyclonedxSchemas = "github.com/CycloneDX/cyclonedx-go@v0.12.0"

// fitSchemas holds SBOM and VEX against the schema of the version that they name.
func (d *dryRun) fitSchemas(ctx context.Context, files map[string]string) error {
	out, err := machine.Run(ctx, d.dir, []string{"GOWORK=off"}, "go", "mod", "download", "-json", cyclonedxSchemas)
	var module struct{ Dir string }
	if err = errors.Join(err, json.Unmarshal([]byte(out), &module)); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	bills, statements := 0, 0
	for name, path := range files {
		switch {
		case strings.HasSuffix(name, ".vex.cdx.json"):
			statements++
		case strings.HasSuffix(name, ".cdx.json"):
			bills++
		default:
			continue
		}
		if err := fits(filepath.Join(module.Dir, "schema"), path); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if bills == 0 || statements != 1 {
		return fmt.Errorf("%d SBOMs and %d VEX", bills, statements)
	}
	return nil
}

// fits holds a document against the schema of its version. Schemas refer to others by an address below that of all:
// these are read from dir as well.
func fits(dir, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var named struct {
		Version string `json:"specVersion"`
	}
	if err := json.Unmarshal(text, &named); err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(schemas(dir))
	schema, err := compiler.Compile(schemaAddress + "bom-" + named.Version + ".schema.json")
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	return schema.Validate(document)
}

// schemaAddress begins the names of all schemas of CycloneDX.
const schemaAddress = "http://cyclonedx.org/schema/"

// schemas loads schemas from a directory.
type schemas string

// Load reads the schema of a name. The module calls one of them .schemax.json.
func (dir schemas) Load(name string) (any, error) {
	path, err := machine.Newest(filepath.Join(string(dir), strings.TrimSuffix(filepath.Base(name), ".json")+"*.json"))
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return jsonschema.UnmarshalJSON(f)
}
