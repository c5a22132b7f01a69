//go:build agents

package agents

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// debianPackages are what the clients run on. Debian 12 has Node.js 18, and the lock file
// holds nothing that needs a later one.
var debianPackages = []machine.Package{
	{Name: "nodejs", Command: "node"},
	{Name: "npm", Command: "npm"},
	{Name: "ca-certificates", File: "/etc/ssl/certs/ca-certificates.crt"},
}

// clients are the packages by exact version, with the sums of all that they need, and the
// program that drives them.
//
//go:embed clients/package.json clients/package-lock.json clients/drive.mjs
var clients embed.FS

// installLimit bounds the download of the packages.
const installLimit = 2 * time.Minute

// installed is where the clients are. The first test that needs them installs them.
var installed struct {
	once sync.Once
	root string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if installed.root != "" {
		_ = os.RemoveAll(installed.root) // it is in the directory for temporary files
	}
	os.Exit(code)
}

// clientsDir returns the directory with the clients, which lies outside the work tree. What
// is missing fails every test that needs them.
func clientsDir(t *testing.T) string {
	t.Helper()
	installed.once.Do(func() {
		started := time.Now()
		if installed.root, installed.err = install(t.Context()); installed.err == nil {
			t.Logf("the clients are installed (%s)", time.Since(started).Round(100*time.Millisecond))
		}
	})
	if installed.err != nil {
		t.Fatal(installed.err)
	}
	return installed.root + "/clients"
}

// install puts the clients into a new directory, which must be removed in any case.
func install(ctx context.Context) (root string, err error) {
	if out, err := machine.Install(ctx, debianPackages); err != nil {
		return "", fmt.Errorf("%s\n%w", out, err)
	}
	if root, err = os.MkdirTemp("", "restwarden-agents-"); err != nil {
		return "", err
	}
	if err := os.CopyFS(root, clients); err != nil {
		return root, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, installLimit, fmt.Errorf("it took longer than %s", installLimit))
	defer cancel()
	out, err := machine.Run(ctx, root+"/clients", nil, "npm", "ci", "--ignore-scripts", "--prefer-offline",
		"--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--no-audit", "--no-fund", "--no-update-notifier")
	if err != nil {
		err = errors.Join(fmt.Errorf("the clients come from npm, which must be reachable: %w", err), errors.New(out))
	}
	return root, err
}
