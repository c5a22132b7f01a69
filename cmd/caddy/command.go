package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// restwardenCommand is `caddy restwarden` with its subcommands.
func restwardenCommand() caddycmd.Command {
	return caddycmd.Command{
		Name:  "restwarden",
		Usage: "<command>",
		Short: "Tries out and explains the REST gateway",
		Long:  "Commands of RestWarden, the policy gateway in front of a content platform's REST interface.",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.AddCommand(demoCommand(), classifyCommand())
		},
	}
}
