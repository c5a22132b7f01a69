package examples

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// caddyfile is where a container of an example has it.
const caddyfile = "/etc/caddy/Caddyfile"

// Place says where the parts of an example are on this machine.
type Place struct {
	HTTP, HTTPS, Admin string            // the addresses that Caddy listens on
	Instead            map[string]string // what stands in the configuration, and what takes its place
	Caddyfile          map[string]string // the same in the Caddyfile
}

// Adapt returns the configuration that program, a Caddy, makes of the Caddyfile of a service, in which the
// texts of instead are replaced.
func (e *Example) Adapt(ctx context.Context, program, service string, instead map[string]string) ([]byte, error) {
	file, err := e.Mounted(service, caddyfile)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	moved, err := MoveText(string(text), instead)
	if err != nil {
		return nil, err
	}
	env, err := e.Environment(service)
	if err != nil {
		return nil, err
	}
	cmd, err := machine.Command(ctx, filepath.Dir(file), program, "adapt", "--config", "-", "--adapter", "caddyfile")
	if err != nil {
		return nil, err
	}
	var problems bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = append(cmd.Environ(), env...), strings.NewReader(moved), &problems
	config, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", file, err, &problems)
	}
	return config, err
}

// Odd is what the command check finds in the Caddyfile of a service, nil where it finds nothing.
func (e *Example) Odd(ctx context.Context, program, service string) error {
	file, err := e.Mounted(service, caddyfile)
	if err != nil {
		return err
	}
	env, err := e.Environment(service)
	if err != nil {
		return err
	}
	out, err := machine.Run(ctx, filepath.Dir(file), env, program, "restwarden", "check", "--strict", "--config", file)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return err
}

// Move returns a configuration with everything at its place. What is not found in it is an error, as is
// an upstream without a place.
func (p Place) Move(config []byte) ([]byte, error) {
	m := mover{instead: map[string]string{":443": p.HTTPS}, used: map[string]bool{}}
	maps.Copy(m.instead, p.Instead)
	var all struct {
		Admin   any            `json:"admin"`
		Apps    map[string]any `json:"apps"`
		Storage any            `json:"storage,omitempty"`
	}
	if err := json.Unmarshal(config, &all); err != nil {
		return nil, err
	}
	for name, app := range all.Apps {
		all.Apps[name] = m.move(app)
	}
	all.Storage = m.move(all.Storage)
	all.Admin = map[string]any{"listen": p.Admin, "config": map[string]any{"persist": false}}
	for text := range m.instead {
		if !m.used[text] {
			m.errs = append(m.errs, fmt.Errorf("the configuration has no %q", text))
		}
	}
	if web, ok := all.Apps["http"].(map[string]any); ok {
		web["http_port"], web["https_port"] = port(p.HTTP), port(p.HTTPS)
	}
	all.Apps["pki"] = map[string]any{"certificate_authorities": map[string]any{"local": map[string]any{"install_trust": false}}}
	moved, err := json.Marshal(all)
	return moved, errors.Join(append(m.errs, err)...)
}

func port(address string) int {
	n, err := strconv.Atoi(machine.Port(address))
	if err != nil {
		panic(err) // of a test
	}
	return n
}

// mover replaces strings of a configuration.
type mover struct {
	instead map[string]string
	used    map[string]bool
	errs    []error
}

// move returns v with all that is below it.
func (m *mover) move(v any) any {
	switch v := v.(type) {
	case string:
		if to, known := m.instead[v]; known {
			m.used[v] = true
			return to
		}
	case []any:
		for i, value := range v {
			v[i] = m.move(value)
		}
	case map[string]any:
		if dial, ok := v["dial"].(string); ok && m.instead[dial] == "" {
			m.errs = append(m.errs, fmt.Errorf("nothing stands for the upstream %s", dial))
		}
		for name, value := range v {
			v[name] = m.move(value)
		}
	}
	return v
}

// Upstreams returns the addresses that a configuration sends requests to.
func Upstreams(config []byte) (dials []string, err error) {
	var all any
	err = json.Unmarshal(config, &all)
	collect(all, &dials)
	slices.Sort(dials)
	return slices.Compact(dials), err
}

func collect(v any, dials *[]string) {
	switch v := v.(type) {
	case map[string]any:
		if dial, ok := v["dial"].(string); ok {
			*dials = append(*dials, dial)
		}
		for _, value := range v {
			collect(value, dials)
		}
	case []any:
		for _, value := range v {
			collect(value, dials)
		}
	}
}

// MoveText is [Place.Move] for a configuration that is text: each text of instead stands there once.
func MoveText(text string, instead map[string]string) (string, error) {
	var errs []error
	for from, to := range instead {
		if n := strings.Count(text, from); n != 1 {
			errs = append(errs, fmt.Errorf("%q stands there %d times", from, n))
		}
		text = strings.Replace(text, from, to, 1)
	}
	return text, errors.Join(errs...)
}
