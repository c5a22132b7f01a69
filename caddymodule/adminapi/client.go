package adminapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// patience is how long Caddy may take before it begins to answer, and to end an answer that
// is read at once. A switch waits for Redis, which has a deadline of its own.
const patience = 30 * time.Second

// maxProblem bounds, in bytes, what is read of an answer that is an error.
const maxProblem = 64 << 10

// Client asks one Caddy. It keeps connections.
type Client struct {
	address string // as configured
	origin  string
	tcp     bool
	http    *http.Client

	header   http.Header // of each request
	patience time.Duration
}

// With returns a client that also sends some header lines.
func (c *Client) With(header http.Header) *Client {
	other := *c
	other.header = header
	return &other
}

// New returns a client for an admin endpoint, with an address as Caddy's `admin` has it:
// "localhost:2019", "unix//run/caddy/admin.sock".
func New(address string) (*Client, error) {
	to, err := caddy.ParseNetworkAddress(address)
	if err != nil || to.PortRangeSize() > 1 {
		return nil, fmt.Errorf("invalid admin address %q", address)
	}
	c := &Client{address: address, tcp: !to.IsUnixNetwork() && !to.IsFdNetwork(), origin: "http://127.0.0.1", patience: patience} // which Caddy takes on a socket
	if c.tcp {
		c.origin = "http://" + to.JoinHostPort(0)
	} else {
		to.Host, _, _ = strings.Cut(to.Host, "|") // the permissions that the socket is made with
	}
	d := net.Dialer{Timeout: patience}
	c.http = &http.Client{Transport: &http.Transport{
		ResponseHeaderTimeout: patience,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, to.Network, to.JoinHostPort(0))
		},
	}}
	return c, nil
}

// Address is the address of the endpoint.
func (c *Client) Address() string { return c.address }

// Error is an answer of Caddy that is an error.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return e.Message }

// Open sends a request for a path below [Path], with body as JSON unless it is nil. The
// caller closes the answer's body. The error is an *Error if the answer is one.
func (c *Client) Open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	return c.open(ctx, method, Path+path, body)
}

// Config returns the configuration that Caddy runs, in its own JSON.
func (c *Client) Config(ctx context.Context) (json.RawMessage, error) {
	var config json.RawMessage
	return config, c.ask(ctx, http.MethodGet, "/config/", nil, &config)
}

func (c *Client) open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var text io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.origin+path, text)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, c.header)
	if c.tcp {
		req.Header.Set("Origin", c.origin)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		err = errors.Unwrap(err) // without method and path, which Do adds
		return nil, fmt.Errorf("no Caddy answers at %s (%w); --address names another admin endpoint; with `admin off` it shows no status and cannot be switched while it runs", c.address, err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		defer func() { _ = res.Body.Close() }() // it was only read
		return nil, c.problem(res)
	}
	return res, nil
}

// problem returns what an answer says that is an error.
func (c *Client) problem(res *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	var said struct {
		Error string `json:"error"`
	}
	if err != nil || json.Unmarshal(text, &said) != nil || said.Error == "" {
		said.Error = fmt.Sprintf("the Caddy at %s has no RestWarden, or one without this command: it answers %d", c.address, res.StatusCode)
	}
	return &Error{res.StatusCode, said.Error}
}

// Ask is Open, and reads the answer into v.
func (c *Client) Ask(ctx context.Context, method, path string, body, v any) error {
	return c.ask(ctx, method, Path+path, body, v)
}

func (c *Client) ask(ctx context.Context, method, path string, body, v any) error {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	res, err := c.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if err := json.NewDecoder(res.Body).Decode(v); err != nil {
		return fmt.Errorf("the answer of Caddy at %s: %w", c.address, err)
	}
	return nil
}
