// Package gateway is the directive restwarden, its app and its matcher. It connects package policies,
// which decides, to Caddy. What it needs for that stands in packages beside it, which do not know it;
// the comment of package caddymodule says which is for what.
//
// # Names
//
// The handler is http.handlers.restwarden. Its directive restwarden is ordered before
// basic_auth. Each policy of policies.Catalog is a guest module in the namespace
// http.handlers.restwarden.policies. The matcher http.matchers.rest_call gives other
// directives the same reading of a request.
//
// # The way of a request
//
// The gateway reads the request as the platform will read it. It forwards a page at once.
// A policy that changes requests may change a call, which is then read again. The chain
// judges the call. The gateway refuses it or forwards it byte for byte. The answer
// streams through, unless a policy rewrites it.
//
// A question to the platform (package questions) goes through the rest of the route, as a
// request with its own context and response writer. Of the client's request it takes only the
// credentials and how the client reached the site.
//
// # What is seen from outside
//
// docs/operations.md has the vars {http.vars.restwarden.…}, the metrics caddy_restwarden_… (package
// metrics) and the fields of a record (package record), which is the log line of a refusal and an
// object of the admin endpoint (package admin); tests hold its tables. Metrics belong to one
// configuration: a reload starts them anew.
//
// # What outlives a reload
//
// Configurations share what package pool holds: counters, used signatures, proofs, callers, the
// budgets of request bodies in memory and on disk, the clients of a Redis (package redisstore),
// the links of confirmations (package confirming), what is switched on (package switches), and
// for each site its last refusals (package refusals), the count of its questions, the routes that
// its REST roots have listed, and its misread pages.
//
// # What gateways share
//
// The app "restwarden", written as the global option restwarden { store … }, names a
// Redis. If Redis cannot be reached, the memory of the process takes its place.
package gateway
