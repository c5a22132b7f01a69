package dryrun

import (
	"context"
	"errors"
)

// Options say which configuration to load.
type Options struct {
	// File and Adapter are as the flags --config and --adapter of Caddy. Without a File
	// it is the Caddyfile of the working directory.
	File, Adapter string
	// JSON is a configuration in Caddy's own JSON, in place of File.
	JSON []byte
	// Index is a saved REST root, in JSON; it may be nil.
	Index []byte
	// Live puts questions that only read to the real site.
	Live bool
	// Edit changes the directives before they are loaded; it may be nil. It gets the JSON
	// of each directive with its place, and returns what to load.
	Edit func(at string, directive map[string]any)
}

// Config is a loaded configuration. It is used by one goroutine at a time.
type Config struct{}

// Load adapts and provisions a configuration. It opens no listener, makes no log file, and
// changes nothing that a Caddy on this machine uses. The error is that of Caddy.
func Load(o Options) (*Config, error) { return nil, errors.New("later") }

// Close ends c.
func (c *Config) Close() error { return nil }

// Run runs a request through c. The error says that the request cannot be run at all, for
// example since Raw is no request.
func (c *Config) Run(ctx context.Context, r Request) (*Result, error) {
	return nil, errors.New("later")
}

// Build returns the bytes that curl would send: method, URL, header lines "Name: value"
// and a body. An empty method is GET, or POST with a body. Secure and Port are those of
// the URL.
func Build(method, url string, header []string, body []byte) (Request, error) {
	return Request{}, errors.New("later")
}

// ParseAs reads "anonymous", "user", "role:NAME", "cap:NAME" or "key".
func ParseAs(text string) (As, error) { return As{}, errors.New("later") }
