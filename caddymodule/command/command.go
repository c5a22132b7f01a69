// Package command holds the commands "caddy restwarden …". Every Caddy that has the
// module has them, too: package caddymodule imports this one.
//
// A program adds commands of its own with Add. The program cmd/caddy does so with its
// demo, which takes the reference platform along.
package command

import (
	"fmt"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// constructors make the commands, in the order in which messages name them.
var constructors = []func() *cobra.Command{explainCommand, checkCommand, testCommand, auditCommand, suggestCommand, credentialsCommand, diffCommand, pluginsCommand, classifyCommand, statusCommand, observeCommand, lockdownCommand, openCommand, closeCommand, confirmationsCommand}

// Add adds a command to "caddy restwarden". A program calls it before caddycmd.Main.
// Messages name the command before those that were there.
func Add(constructor func() *cobra.Command) {
	constructors = slices.Insert(constructors, 0, constructor)
}

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:      "restwarden",
		Usage:     "COMMAND",
		Short:     "Tries out the REST gateway and shows how it reads requests",
		Long:      "Commands of RestWarden, the policy gateway in front of a content platform's REST interface.",
		CobraFunc: build,
	})
}

// build makes cmd the command "caddy restwarden".
func build(cmd *cobra.Command) {
	// Left to itself, cobra prints the help and succeeds, whatever the word.
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	names := make([]string, len(constructors))
	for i, constructor := range constructors {
		c := constructor()
		names[i] = c.Name()
		masking(c)
		cmd.AddCommand(c)
	}
	// Cobra meets a flag behind an unknown word before it meets the word.
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c == cmd {
			return fmt.Errorf("%w (%q has the %s)", err, cmd.CommandPath(), listed(names))
		}
		return err
	})
}

// listed is "command a", or "commands a, b and c".
func listed(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return "command " + names[0]
	}
	return "commands " + strings.Join(names[:last], ", ") + " and " + names[last]
}
