package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// stopLimit is how long the demo may take to end after an interrupt.
const stopLimit = 20 * time.Second

// tryDemo runs the demo in dir by a command: to the end of its table, which is its own test,
// then as a program that serves.
func tryDemo(ctx context.Context, dir, name string, args ...string) (string, error) {
	if out, err := output(ctx, toolLimit, dir, name, append(slices.Clone(args), "--once")...); err != nil {
		return out, err
	}
	return serveDemo(ctx, dir, name, append(slices.Clone(args), "--json")...)
}

// serveDemo starts the demo in dir by a command, looks at the gateway and at the bare
// platform behind it, and interrupts it as a person would.
func serveDemo(ctx context.Context, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolLimit)
	defer cancel()
	cmd, err := machine.Command(ctx, dir, name, args...)
	if err != nil {
		return "", err
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	answers := json.NewDecoder(stdout)
	var d demo
	err = answers.Decode(&d)
	if err == nil {
		err = d.try(ctx)
	} else {
		err = fmt.Errorf("standard output is not a JSON object: %w", err)
	}
	stopped := machine.Signal(cmd, syscall.SIGINT)
	timer := time.AfterFunc(stopLimit, cancel)
	defer timer.Stop()
	if rest, _ := io.ReadAll(io.MultiReader(answers.Buffered(), stdout)); len(bytes.TrimSpace(rest)) > 0 {
		err = errors.Join(err, fmt.Errorf("more than one object on standard output: %.200s", rest))
	}
	ended := cmd.Wait()
	if ctx.Err() != nil {
		err = errors.Join(err, fmt.Errorf("did not stop when interrupted: %w", ended))
	} else if status := childStatus.FindString(log.String()); status != "" {
		err = errors.Join(err, fmt.Errorf("when interrupted: %s", strings.TrimSpace(status)))
	}
	return log.String(), errors.Join(err, stopped)
}

// childStatus matches what `go run` prints about a child that failed. Its own exit status
// is 1 after any interrupt.
var childStatus = regexp.MustCompile(`(?m)^(exit status \d+|signal: .+)$`)

// demo has the fields that are needed of the demo's object.
type demo struct {
	Gateway  string `json:"gateway"`
	Backend  string `json:"backend"`
	Platform string `json:"platform"`
}

// try asks for the user list. The platform gives it to anybody, the gateway does not.
func (d demo) try(ctx context.Context) error {
	path := "/cms-json/cms/v2/users"
	if d.Platform == "wordpress" {
		path = "/wp-json/wp/v2/users"
	}
	return errors.Join(
		expect(ctx, d.Backend+path, http.StatusOK, ""),
		expect(ctx, d.Gateway+path, http.StatusUnauthorized, "rest_not_logged_in"),
		expect(ctx, d.Gateway+"/", http.StatusOK, ""),
	)
}

// expect asks for url and compares status and, unless empty, error code.
func expect(ctx context.Context, url string, status int, code string) error {
	got, body, err := get(ctx, url)
	if err != nil {
		return err
	}
	var object struct {
		Code string `json:"code"`
	}
	if code != "" {
		if err := json.Unmarshal([]byte(body), &object); err != nil {
			return fmt.Errorf("GET %s: %d: the body is no error object: %w", url, got, err)
		}
	}
	if got != status || object.Code != code {
		return fmt.Errorf("GET %s: %d %q, expected %d %q", url, got, object.Code, status, code)
	}
	return nil
}

// get asks for url and returns the status, and up to a megabyte of the body.
func get(ctx context.Context, url string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, string(text), err
}
