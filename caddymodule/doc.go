// Package caddymodule is RestWarden as a Caddy module: it adapts, renders and
// measures what package policies decides.
//
// # Names
//
// The handler is http.handlers.restwarden, its directive restwarden, ordered
// before basic_auth; the policies are guest modules in the namespace
// http.handlers.restwarden.policies, one for each entry of policies.Catalog. The
// matcher http.matchers.rest_call lets other directives use the same reading.
//
// # A request's walk
//
// The request is read as the platform will read it. A page goes on at once. A
// call may be changed by the policies that exist to change requests, and is read
// again; it is judged by the chain; then it is refused, or forwarded byte for
// byte. Its answer streams through, except where a policy rewrites it.
//
// Questions to the platform go through the rest of the route: as requests of
// their own, with a context and a response writer of their own, and nothing of
// the client's but its credentials and how it came.
//
// # What is seen from outside
//
// Vars: {http.vars.restwarden.kind} and .outcome on every request; on calls
// also .route (the rule's, or the namespace), .method, .caller (as far as it was
// asked), .policy and .code. Requests of the gateway's own carry
// {http.vars.restwarden.lookup}.
//
// Metrics: caddy_restwarden_decisions_total{policy,code,outcome},
// caddy_restwarden_decision_duration_seconds,
// caddy_restwarden_lookups_total{kind,result},
// caddy_restwarden_lookup_duration_seconds{kind},
// caddy_restwarden_store_operations_total{op,result},
// caddy_restwarden_spooled_bytes and caddy_restwarden_misconfigured. They count
// for one configuration: a reload begins anew.
//
// Log: one line "request refused", or "request would be refused" in observe mode,
// per refusal, with the fields policy,
// code, outcome, rule, at, route, method, client_ip, caller and error.
//
// # What outlives a reload
//
// Counters, used signatures, record types, callers, the budget of spooled bytes
// and the clients of a Redis are held in a pool that configurations share.
//
// # What gateways share
//
// The app "restwarden", written as the global option restwarden { store … },
// names a Redis. Behind it stands the memory of this process, for the time that
// Redis cannot be reached.
package caddymodule
