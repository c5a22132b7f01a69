// Command caddy is Caddy with RestWarden in it, and the commands
// `caddy restwarden …`.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
)

func main() {
	caddycmd.RegisterCommand(restwardenCommand())
	caddycmd.Main()
}
