// Command caddy is what xcaddy builds of the module: Caddy, its standard modules and
// RestWarden, and nothing else.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
)

func main() { caddycmd.Main() }
