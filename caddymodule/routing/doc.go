// Package routing reads the HTTP app of a configuration while Caddy loads it: on which
// ways requests reach a handler, which ways lead past it, and what changes a request
// behind it. [Survey] returns what is odd there as findings; [Codes] are their kinds.
//
// Caddy loads an app piece by piece. What it has loaded is typed, and the JSON of it is
// gone; the rest is still JSON. This package reads both.
package routing
