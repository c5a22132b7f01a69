// Package caddymodule is RestWarden as a Caddy module: the import path that a build of Caddy names.
//
// It registers the directive restwarden with its app and its matcher (package gateway), and the commands
// "caddy restwarden …" (package command). Package routing knows on which ways requests reach the directive,
// package dryrun runs requests through a configuration without a network. Packages record and adminapi
// declare what a running gateway tells, package admin answers with it at Caddy's admin endpoint. Package option reads
// the lines of a Caddyfile. What outlives a configuration is in packages redisstore, switches and refusals; what takes
// the platform's answers, asks it, and lets a person confirm calls in answers, questions and confirming.
package caddymodule

import (
	_ "github.com/restwarden/restwarden/caddymodule/command" // the commands
	_ "github.com/restwarden/restwarden/caddymodule/gateway" // the directive
)
