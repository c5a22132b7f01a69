package caddymodule

import _ "github.com/restwarden/restwarden/caddymodule/command" // "caddy restwarden …"
