package caddyrun

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// built is the result of Binary. Main removes its directory.
var built struct {
	once      sync.Once
	dir, path string
	err       error
}

// Binary returns the path of cmd/caddy: that of the check, or one that it builds once for all
// tests of a package. Their TestMain must be Main.
func Binary(tb testing.TB) string {
	tb.Helper()
	built.once.Do(build)
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.path
}

func build() {
	if built.dir, built.err = os.MkdirTemp("", "restwarden-test-"); built.err == nil {
		built.path, built.err = machine.Caddy(context.Background(), built.dir)
	}
}

// Main runs the tests of a package and removes the binary.
func Main(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // it is in the directory for temporary files
	}
	os.Exit(code)
}

// Process is Caddy as a program of its own. It gets its listener from the test, as from
// systemd, so that clients can connect while it restarts and all gateways have the same
// Caddyfile.
type Process struct {
	Address string // of its first site

	tb       testing.TB
	dir      string
	admin    string
	listener *os.File
	running  *machine.Process
}

// StartProcess runs Caddy with one site until the test ends. global are more
// global options.
func StartProcess(tb testing.TB, global, site string) *Process {
	tb.Helper()
	l := machine.Listener(tb)
	file, err := l.File()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = file.Close() })
	p := &Process{tb: tb, dir: tb.TempDir(), Address: l.Addr().String(), admin: machine.FreeAddress(tb), listener: file}
	_ = l.Close() // file stays open
	p.Write(global, site)
	p.Start()
	tb.Cleanup(p.Stop)
	return p
}

func (p *Process) file() string { return filepath.Join(p.dir, "Caddyfile") }

// Write writes the Caddyfile, for the next Start or Reload.
func (p *Process) Write(global, site string) {
	p.tb.Helper()
	f := File{
		Admin: p.admin, Log: "stderr", Global: global,
		Sites: []Site{{Address: p.Address, Bind: "fd/3", Body: site}},
	}
	if err := os.WriteFile(p.file(), []byte(f.String()), 0o600); err != nil {
		p.tb.Fatal(err)
	}
}

// Start starts a program that was stopped, and waits until it answers.
func (p *Process) Start() {
	p.tb.Helper()
	running, err := machine.Server{
		Name: Binary(p.tb), Args: []string{"run", "--config", p.file(), "--adapter", "caddyfile"},
		Dir: p.dir, Env: []string{"HOME=" + p.dir, "XDG_DATA_HOME=" + p.dir, "XDG_CONFIG_HOME=" + p.dir}, Files: []*os.File{p.listener},
	}.Start()
	if err != nil {
		p.tb.Fatal(err)
	}
	p.running = running
	if err := running.Ready(p.tb.Context(), p.answers); err != nil {
		running.Kill()
		p.tb.Fatal(err)
	}
}

// answers is a probe.
func (p *Process) answers(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Address+"/", http.NoBody)
	if err != nil {
		return err
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// Stop ends the program with a signal. A client must not keep connections to it, since it
// would wait for them.
func (p *Process) Stop() {
	if p.running == nil {
		return
	}
	if err := p.running.End(15 * time.Second); err != nil {
		p.tb.Error(err)
	}
	p.running = nil
}

// Dir is where Caddy keeps its data.
func (p *Process) Dir() string { return p.dir }

// Admin returns the URL of the admin endpoint.
func (p *Process) Admin() string { return "http://" + p.admin }

// PID returns the number of the process.
func (p *Process) PID() int { return p.running.PID() }

// Reload loads the Caddyfile as it stands now.
func (p *Process) Reload() error {
	source, err := os.ReadFile(p.file())
	if err != nil {
		return err
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(source, map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(p.tb.Context(), http.MethodPost, "http://"+p.admin+"/load", bytes.NewReader(config))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cache-Control", "must-revalidate") // reload even if nothing has changed
	// A kept connection may be one that the reload before has ended.
	res, err := (&http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body) // what there is of it
		return fmt.Errorf("%s: %s", res.Status, text)
	}
	return nil
}
