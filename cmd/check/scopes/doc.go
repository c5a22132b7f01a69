// Package scopes makes requests that carry credentials with scopes, and says what has to become
// of them.
//
// The model in it was written from docs/policies/scope and docs/policies/access alone. It takes
// what a request means from the generator and never reads the request, so that it shares no
// mistake with the gateway.
package scopes
