// Package npm installs packages of npm for tests, by exact version and with their sums, into
// a directory outside the work tree.
package npm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// debianPackages are what the packages run on. Debian 12 has Node.js 18, so a lock file may
// hold nothing that needs a later one.
var debianPackages = []machine.Package{
	{Name: "nodejs", Command: "node"},
	{Name: "npm", Command: "npm"},
	{Name: "ca-certificates", File: "/etc/ssl/certs/ca-certificates.crt"},
}

// installLimit bounds the download of the packages.
const installLimit = 2 * time.Minute

// Packages are packages that tests share.
type Packages struct {
	// Files are package.json, package-lock.json and the programs that use the packages, in
	// the directory Root.
	Files fs.FS
	Root  string

	once sync.Once
	dir  string // of a copy of Files
	err  error
}

// Dir returns the copy of Root with the packages installed. The first test that needs them
// installs them; what is missing fails every one.
func (p *Packages) Dir(tb testing.TB) string {
	tb.Helper()
	p.once.Do(func() {
		started := time.Now()
		if p.err = p.install(tb.Context()); p.err == nil {
			tb.Logf("installed from npm (%s)", time.Since(started).Round(100*time.Millisecond))
		}
	})
	if p.err != nil {
		tb.Fatal(p.err)
	}
	return filepath.Join(p.dir, p.Root)
}

// Remove removes the directory, if there is one. TestMain calls it after all tests.
func (p *Packages) Remove() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir) // it is in the directory for temporary files
	}
}

func (p *Packages) install(ctx context.Context) error {
	if out, err := machine.Install(ctx, debianPackages); err != nil {
		return fmt.Errorf("%s\n%w", out, err)
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "restwarden-npm-"); err != nil {
		return err
	}
	if err := os.CopyFS(p.dir, p.Files); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, installLimit, fmt.Errorf("it took longer than %s", installLimit))
	defer cancel()
	out, err := machine.Run(ctx, filepath.Join(p.dir, p.Root), nil, "npm", "ci", "--ignore-scripts", "--prefer-offline",
		"--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--no-audit", "--no-fund", "--no-update-notifier")
	if err != nil {
		return errors.Join(fmt.Errorf("the packages come from npm, which must be reachable: %w", err), errors.New(out))
	}
	return nil
}
