package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// CaddyVariable names a cmd/caddy that is built already. The check sets it, so that not every
// package of tests links its own.
const CaddyVariable = "RESTWARDEN_CADDY"

// Caddy returns the path of cmd/caddy, which it builds into dir unless CaddyVariable names one.
func Caddy(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv(CaddyVariable); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, "caddy")
	if out, err := Run(ctx, ".", nil, "go", "build", "-o", path, "github.com/restwarden/restwarden/cmd/caddy"); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}

// StartCaddy runs the program binary in dir, with a Caddyfile, and waits until it listens on
// address.
func StartCaddy(ctx context.Context, binary, dir, caddyfile, address string) (*Process, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(caddyfile), 0o600); err != nil {
		return nil, err
	}
	process, err := Server{
		Name: binary, Args: []string{"run", "--config", filepath.Base(file), "--adapter", "caddyfile"}, Dir: dir,
		Env: []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir},
	}.Start()
	if err != nil {
		return nil, err
	}
	if err := process.Ready(ctx, Connects("tcp", address)); err != nil {
		process.Kill()
		return nil, err
	}
	return process, nil
}

// Admin is the address of the admin endpoint of a Caddy.
type Admin string

// Get asks for a target.
func (a Admin) Get(ctx context.Context, target string) ([]byte, error) {
	return a.send(ctx, http.MethodGet, target, "", "")
}

// Load replaces the configuration, also by an equal one.
func (a Admin) Load(ctx context.Context, config, contentType string) error {
	_, err := a.send(ctx, http.MethodPost, "/load", config, contentType)
	return err
}

// send repeats a request that has waited in the backlog of a listener which a reload has closed.
func (a Admin) send(ctx context.Context, method, target, body, contentType string) (answer []byte, err error) {
	for range 6 {
		answer, err = a.sendOnce(ctx, method, target, body, contentType)
		if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			break
		}
	}
	return answer, err
}

func (a Admin) sendOnce(ctx context.Context, method, target, body, contentType string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+string(a)+target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Cache-Control", "must-revalidate")
	}
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", target, res.Status, answer)
	}
	return answer, err
}
