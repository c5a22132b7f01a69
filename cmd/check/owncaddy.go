package main

import (
	"context"
	_ "embed" // for the plugin
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// besidePlugin is the source of a plugin that a Caddy may have beside the module.
//
//go:embed testdata/beside.go
var besidePlugin []byte

// besideModule is the name of its module.
const besideModule = "example.test/beside"

// writeBeside writes that module. It requires the Caddy of a version.
func writeBeside(dir, caddy string) error {
	mod := fmt.Sprintf("module %s\n\ngo 1.26.0\n\nrequire %s %s\n", besideModule, caddyModule, caddy)
	return errors.Join(
		os.Mkdir(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "beside.go"), besidePlugin, 0o600),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600),
	)
}

// besideDirective is the line for the plugin in the Caddyfile.
const besideDirective = "\t\tbeside * /beside\n"

// ownFiles are what a Caddy is asked about.
var ownFiles = map[string]string{
	"Caddyfile": `http://shop.example.com {
	route {
` + besideDirective + `		restwarden wordpress {
			login_only
		}
		reverse_proxy 127.0.0.1:8080
	}
}
`,
	"shop.test.yaml": `config: Caddyfile
tests:
  - name: posts are closed
    request: GET http://shop.example.com/wp-json/wp/v2/posts
    expect: { refused: rest_not_logged_in }
  - never: { as: anonymous, calls: [POST], routes: [/wp/v2/**], at: "http://shop.example.com" }
`,
	"recorded": `{"id":"x","request":"` + base64.StdEncoding.EncodeToString([]byte("GET /wp-json/wp/v2/posts HTTP/1.1\r\nHost: localhost\r\n\r\n")) + "\"}\n",
}

// tryOwnCaddy holds that the Caddy in dir has the module, and the plugin where it was built with it, and that the
// commands work.
func tryOwnCaddy(ctx context.Context, dir string, beside bool) (string, error) {
	for name, text := range ownFiles {
		if !beside {
			text = strings.Replace(text, besideDirective, "", 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	own := ownCaddyIn{ctx, dir, beside}
	for _, try := range []func() (string, error){own.modules, own.classifies, own.explains, own.checks, own.tests, own.manuals, own.completes} {
		if out, err := try(); err != nil {
			return out, err
		}
	}
	return "", nil
}

// ownCaddyIn is the Caddy in a directory.
type ownCaddyIn struct {
	ctx    context.Context
	dir    string
	beside bool // it has the plugin, too
}

// run runs it. A command may end with another status than 0: that is no error.
func (c ownCaddyIn) run(status int, args ...string) (string, error) {
	out, err := output(c.ctx, toolLimit, c.dir, "./caddy", args...)
	var ended *exec.ExitError
	switch {
	case err == nil && status != 0:
		return out, fmt.Errorf("caddy %s: exit status 0, want %d", strings.Join(args, " "), status)
	case err == nil, errors.As(err, &ended) && ended.ExitCode() == status:
		return out, nil
	}
	return out, fmt.Errorf("caddy %s: %w", strings.Join(args, " "), err)
}

// has runs it, and looks for words in what it prints.
func (c ownCaddyIn) has(status int, words []string, args ...string) (string, error) {
	out, err := c.run(status, args...)
	for _, word := range words {
		if err == nil && !strings.Contains(out, word) {
			err = fmt.Errorf("caddy %s does not say %q", strings.Join(args, " "), word)
		}
	}
	return out, err
}

func (c ownCaddyIn) modules() (string, error) {
	out, err := c.has(0, []string{"http.handlers.restwarden\n"}, "list-modules")
	if has := strings.Contains(out, "http.handlers.beside\n"); err == nil && has != c.beside {
		err = fmt.Errorf("it has the plugin: %v", has)
	}
	return out, err
}

func (c ownCaddyIn) classifies() (string, error) {
	return c.has(0, []string{`"id":"x"`}, "restwarden", "classify", "recorded")
}

// explains holds that a request is decided, and that the dry run names the plugin that it passes.
func (c ownCaddyIn) explains() (string, error) {
	for path, status := range map[string]int{"/wp-json/wp/v2/posts": 1, "/beside": 0} {
		out, err := c.run(status, "restwarden", "explain", "--format", "json", "http://shop.example.com"+path)
		if err != nil {
			return out, err
		}
		var result struct{ Assumed []string }
		if err := json.Unmarshal([]byte(out), &result); err != nil {
			return out, err
		}
		if named := slices.ContainsFunc(result.Assumed, func(s string) bool { return strings.Contains(s, "beside") }); named != c.beside {
			return out, fmt.Errorf("explain names a plugin that it has left out: %v", named)
		}
	}
	return "", nil
}

func (c ownCaddyIn) checks() (string, error) {
	return c.has(0, []string{"nothing odd"}, "restwarden", "check", "--strict")
}

func (c ownCaddyIn) tests() (string, error) {
	return c.has(0, []string{"2 passed, 0 failed"}, "restwarden", "test", "shop.test.yaml")
}

// documented are the commands whose manual page is held against their help.
var documented = []string{"explain", "check", "test"}

var word = regexp.MustCompile(`[\pL\pN]+`)

// manuals holds that the manual page of a command has every word of its help, in order.
func (c ownCaddyIn) manuals() (string, error) {
	if out, err := c.run(0, "manpage", "--directory", "man"); err != nil {
		return out, err
	}
	for _, name := range documented {
		help, err := c.run(0, "restwarden", name, "--help")
		if err != nil {
			return help, err
		}
		page, err := os.ReadFile(filepath.Join(c.dir, "man", "caddy-restwarden-"+name+".8"))
		if err != nil {
			return "", err
		}
		long, rest, _ := strings.Cut(help, "\nUsage:\n")
		usage, _, _ := strings.Cut(rest, "\n\n")
		for _, part := range []string{long, strings.TrimSuffix(usage, " [flags]")} {
			if !strings.Contains(wordsOf(string(page)), wordsOf(part)) {
				return "", fmt.Errorf("the manual page of %s does not have this text of its help:\n%s", name, part)
			}
		}
	}
	return "", nil
}

// macros are the commands of a manual page.
var macros = regexp.MustCompile(`(?m)^\.[A-Za-z]+|\\f[A-Z]`)

// wordsOf returns the words of a text alone.
func wordsOf(text string) string {
	return " " + strings.Join(word.FindAllString(macros.ReplaceAllString(text, " "), -1), " ") + " "
}

func (c ownCaddyIn) completes() (string, error) {
	if out, err := c.has(0, []string{"__complete"}, "completion", "bash"); err != nil {
		return out, err
	}
	if out, err := c.has(0, []string{"explain\t", "check\t", "test\t"}, "__complete", "restwarden", ""); err != nil {
		return out, err
	}
	return c.has(0, []string{"anonymous\n", "key\n", "role:editor\n"}, "__complete", "restwarden", "explain", "--as", "")
}
