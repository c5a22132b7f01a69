// Package drytest holds package dryrun against a Caddy that runs: the verdict of a dry run
// is that of the running gateway, over the same configuration, request and caller. It
// consists of tests.
package drytest
