// Command caddy is Caddy with RestWarden. It has the demo among the commands "caddy
// restwarden …".
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/command"
)

func init() { command.Add(demoCommand) }

func main() { caddycmd.Main() }
