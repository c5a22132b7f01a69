// Package testkit is where tests and checks have what several of them need:
//
//   - machine: child processes, Debian packages, free addresses
//   - caddyrun: Caddy, in the process of the test or as a program of its own
//   - redisrun: Redis servers, a Cluster, a Sentinel, a slow connection
//   - mailsink: a mail server
//   - client: ordinary requests; rawhttp: requests byte for byte, HTTP/1.1 to 3
//   - names: the platform's names for what tests name neutrally
//   - recordings: what real platforms made of thousands of requests
//   - doors: the ways to update a subscription through an order route
//   - wait: waiting for what happens in the background
//
// Nothing of it is part of the gateway: only tests and cmd/check import it.
package testkit
