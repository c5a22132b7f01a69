package main

import (
	"bytes"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// TestCommand_Unknown: a word that is no command fails, with or without flags.
func TestCommand_Unknown(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"nonsense":                     `unknown command "nonsense" for "caddy restwarden"`,
		"explian Caddyfile":            `unknown command "explian"`,
		"explian --format json":        `unknown flag: --format ("caddy restwarden" has the commands demo`,
		"--json":                       `unknown flag: --json`,
		"demo nonsense":                `unknown command "nonsense" for "caddy restwarden demo"`,
		"demo --json --once":           "[json once] were all set",
		"classify --nonsense":          `unknown flag: --nonsense`,
		"classify --platform joomla -": `--platform "joomla" is neither cms nor wordpress`,
	} {
		out, err := runCommand(strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(out, "Usage:") {
			t.Errorf("%s: %v, want %s, and no help:\n%s", args, err, want, out)
		}
	}
}

// TestCommand_Named: a message about an unknown flag names every command, demo first.
func TestCommand_Named(t *testing.T) {
	t.Parallel()
	c := caddycmd.Commands()["restwarden"]
	cmd := &cobra.Command{Use: c.Name}
	c.CobraFunc(cmd)
	_, err := runCommand("explian", "--format")
	if err == nil || len(cmd.Commands()) < 2 {
		t.Fatalf("%v, %d commands", err, len(cmd.Commands()))
	}
	for _, c := range cmd.Commands() {
		if !strings.Contains(err.Error(), " "+c.Name()) {
			t.Errorf("%s is not named: %v", c.Name(), err)
		}
	}
}

// TestCommand_Help: without a word the command prints its help.
func TestCommand_Help(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}} {
		out, err := runCommand(args...)
		if err != nil || !strings.Contains(out, "demo ") || !strings.Contains(out, "classify ") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// runCommand runs `caddy restwarden …` and returns all its output.
func runCommand(args ...string) (string, error) {
	c := caddycmd.Commands()["restwarden"]
	cmd := &cobra.Command{Use: c.Name + " " + c.Usage, Short: c.Short, Long: c.Long}
	c.CobraFunc(cmd)
	root := &cobra.Command{Use: "caddy", SilenceUsage: true, SilenceErrors: true} // as Caddy's own
	root.AddCommand(cmd)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetIn(strings.NewReader(""))
	root.SetArgs(append([]string{c.Name}, args...))
	err := root.Execute()
	return out.String(), err
}
