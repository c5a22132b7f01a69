package caddyrun

import (
	"bytes"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// Command runs "caddy restwarden …" in this process, which must have registered it. It returns what the command prints, and fails
// the test unless the command succeeds.
func Command(tb testing.TB, args ...string) (out, problems string) {
	tb.Helper()
	c := caddycmd.Commands()["restwarden"]
	cmd := &cobra.Command{Use: c.Name, SilenceUsage: true}
	c.CobraFunc(cmd)
	var o, p bytes.Buffer
	cmd.SetOut(&o)
	cmd.SetErr(&p)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		tb.Fatalf("%q: %v: %s", args, err, p.String())
	}
	return o.String(), p.String()
}
