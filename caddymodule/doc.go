// Package caddymodule is RestWarden as a Caddy module. It connects package policies,
// which decides, to Caddy: configuration, requests and answers, questions, metrics, log
// and Redis.
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
// A question to the platform goes through the rest of the route, as a request with its
// own context and response writer. Of the client's request it takes only the credentials
// and how the client reached the site.
//
// # What is seen from outside
//
// Vars: {http.vars.restwarden.kind} and .outcome on every request; on calls also .route
// (the rule's, or the namespace), .method, .caller (once a policy has asked for it),
// .policy and .code. Questions carry {http.vars.restwarden.lookup}.
//
// Metrics: caddy_restwarden_decisions_total{policy,code,outcome},
// caddy_restwarden_decision_duration_seconds,
// caddy_restwarden_lookups_total{kind,result},
// caddy_restwarden_lookup_duration_seconds{kind},
// caddy_restwarden_store_operations_total{op,result}, caddy_restwarden_spooled_bytes,
// caddy_restwarden_buffered_bytes, caddy_restwarden_lockdown{site},
// caddy_restwarden_misread_total{site} and caddy_restwarden_misconfigured. They belong to one
// configuration: a reload starts them anew.
//
// Log: one line per refusal, "request refused" or in observe mode "request would be
// refused", with the fields policy, code, outcome, rule, at, route, method, client_ip,
// caller and error. "could not decide, passed" reports a call that passed by on_error
// pass.
//
// # What outlives a reload
//
// A pool that configurations share holds counters, used signatures, proofs, callers, the
// budgets of request bodies in memory and on disk, the clients of a Redis, and for each
// site its last refusals, the count of its questions, and what is switched on.
//
// # What gateways share
//
// The app "restwarden", written as the global option restwarden { store … }, names a
// Redis. If Redis cannot be reached, the memory of the process takes its place.
package caddymodule
