// Package dryrun runs requests through a configuration as a running Caddy would, without a
// network: Caddy's own adapter reads the configuration, Caddy provisions it, and the real
// server, routes and policies judge the request. What answers behind the gateway is a stub
// that plays the chosen caller and the chosen records.
//
// The commands explain and test are made of it.
package dryrun
