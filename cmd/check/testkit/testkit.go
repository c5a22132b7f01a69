// Package testkit holds what several tests and checks need:
//
//   - machine: child processes, Debian packages, free addresses
//   - caddyrun: Caddy, in the process of the test or as a program of its own
//   - redisrun: Redis servers, a Cluster, a Sentinel, a slow connection
//   - mailsink: a mail server
//   - client: ordinary requests; rawhttp: requests byte for byte, HTTP/1.1 to 3
//   - names: the platform's names for the neutral names of tests
//   - recordings: what real platforms made of thousands of requests
//   - doors: the ways to update a subscription through an order route
//   - wait: waiting for background work
//
// The gateway uses none of it: only tests and cmd/check import it.
package testkit
