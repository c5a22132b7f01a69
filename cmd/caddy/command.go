package main

import (
	"fmt"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// restwardenCommand is `caddy restwarden` with its subcommands.
func restwardenCommand() caddycmd.Command {
	return caddycmd.Command{
		Name:  "restwarden",
		Usage: "<command>",
		Short: "Tries out the REST gateway and shows how it reads requests",
		Long:  "Commands of RestWarden, the policy gateway in front of a content platform's REST interface.",
		CobraFunc: func(cmd *cobra.Command) {
			// Left to itself, cobra prints the help and succeeds, whatever the word.
			cmd.Args = cobra.NoArgs
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			// A flag behind an unknown word is met before the word is.
			cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
				if c == cmd {
					return fmt.Errorf("%w (%q has the commands demo and classify)", err, cmd.CommandPath())
				}
				return err
			})
			cmd.AddCommand(demoCommand(), classifyCommand())
		},
	}
}
