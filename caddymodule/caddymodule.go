// Package caddymodule is RestWarden as a Caddy module: the import path that a build of Caddy names.
//
// It registers the directive restwarden with its app and its matcher (package gateway), and the commands
// "caddy restwarden …" (package command). Around the gateway stand
//   - what it is configured by: option reads the lines of a Caddyfile, routing knows on which ways requests reach the
//     directive;
//   - what a request needs: questions asks the platform, answers takes its answers, confirming lets a person confirm a call;
//   - what outlives a configuration: pool, redisstore, switches and refusals;
//   - what it tells: record and adminapi declare it, admin answers with it at Caddy's admin endpoint, metrics counts.
//
// Package dryrun runs requests through a configuration without a network.
package caddymodule

import (
	_ "github.com/restwarden/restwarden/caddymodule/command" // the commands
	_ "github.com/restwarden/restwarden/caddymodule/gateway" // the directive
)
