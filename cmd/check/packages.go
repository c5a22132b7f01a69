package main

import "github.com/restwarden/restwarden/cmd/check/testkit/machine"

// debianPackages are what a bare machine with Go lacks: the race detector needs a C
// compiler, the README is tried in a clone, modules come over https, sharing is tested with a
// real Redis, alerts and dashboard with a real Prometheus, and pages in a browser.
var debianPackages = []machine.Package{
	{Name: "gcc", Command: "gcc"},
	{Name: "libc6-dev", File: "/usr/include/stdio.h"},
	{Name: "git", Command: "git"},
	{Name: "ca-certificates", File: "/etc/ssl/certs/ca-certificates.crt"},
	{Name: "redis-server", Command: "redis-server"},
	{Name: "haproxy", Command: "haproxy"}, // in front of two gateways
	{Name: "prometheus", Command: "promtool"},
	{Name: "curl", Command: "curl"}, // runs the demo's lines as printed
	{Name: "openssl", Command: "openssl"},
	{Name: "chromium", Command: "chromium"},
}
