package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	gomodule "golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// moduleProxy is a directory that the go command reads as a module proxy. Each module in it has one version, which no
// other proxy has, and no other run: what an earlier one left in the module cache is not taken for it.
type moduleProxy struct {
	dir     string
	at      time.Time
	modules []gomodule.Version
}

// addHead adds the module whose repository is in dir, as it is in HEAD. It is packed by the rules by which the go
// command packs a published version.
func (p *moduleProxy) addHead(dir, revision string) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	return p.add(mod, revision, func(w io.Writer, m gomodule.Version) error { return modzip.CreateFromVCS(w, m, dir, revision, "") })
}

// addFiles adds the module that is in a directory.
func (p *moduleProxy) addFiles(dir string) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	return p.add(mod, strings.Repeat("0", 12), func(w io.Writer, m gomodule.Version) error { return modzip.CreateFromDir(w, m, dir) })
}

// add writes the files of a module. Its list of releases is empty: the go command then asks for the latest version.
func (p *moduleProxy) add(mod []byte, revision string, pack func(io.Writer, gomodule.Version) error) error {
	m := gomodule.Version{Path: modfile.ModulePath(mod), Version: gomodule.PseudoVersion("v0", "", p.at, revision[:12])}
	var zip bytes.Buffer
	if err := pack(&zip, m); err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	info, err := json.Marshal(map[string]any{"Version": m.Version, "Time": p.at.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	versions := filepath.Join(p.dir, m.Path, "@v")
	p.modules = append(p.modules, m)
	return errors.Join(
		os.MkdirAll(versions, 0o700),
		os.WriteFile(filepath.Join(p.dir, m.Path, "@latest"), info, 0o600),
		os.WriteFile(filepath.Join(versions, "list"), nil, 0o600),
		os.WriteFile(filepath.Join(versions, m.Version+".info"), info, 0o600),
		os.WriteFile(filepath.Join(versions, m.Version+".mod"), mod, 0o600),
		os.WriteFile(filepath.Join(versions, m.Version+".zip"), zip.Bytes(), 0o600),
	)
}

// environment is what the go command needs to take these modules from the directory, and all others from where it takes
// them anyway: proxies and noSums are what go env says of GOPROXY and GONOSUMDB.
func (p *moduleProxy) environment(proxies, noSums string) []string {
	for _, m := range p.modules {
		noSums = strings.TrimPrefix(noSums+","+m.Path, ",")
	}
	return []string{"GOPROXY=file://" + filepath.ToSlash(p.dir) + "," + proxies, "GONOSUMDB=" + noSums}
}

// forget removes the modules from a module cache. Its directories cannot be written to.
func (p *moduleProxy) forget(cache string) error {
	var errs []error
	for _, m := range p.modules {
		files, err := filepath.Glob(filepath.Join(cache, "cache", "download", m.Path, "@v", m.Version+".*"))
		errs = append(errs, err)
		for _, file := range files {
			errs = append(errs, os.Remove(file))
		}
		unpacked := filepath.Join(cache, m.String())
		err = filepath.WalkDir(unpacked, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(path, 0o700) //nolint:gosec // a directory
			}
			return err
		})
		if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err, os.RemoveAll(unpacked))
		}
	}
	return errors.Join(errs...)
}
