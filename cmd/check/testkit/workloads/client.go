package workloads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
)

// Client sends one workload over a connection that it keeps.
type Client struct {
	request []byte
	answers messages
}

// NewClient returns a client that is connected to address of network, which may be the
// MemoryNetwork. The caller must close it.
func NewClient(ctx context.Context, network, address string, w *Workload) (*Client, error) {
	c, err := Dial(ctx, network, address)
	if err == nil {
		c.request = w.Request(address)
	}
	return c, err
}

// Dial returns such a client without a workload. What it sends and receives ends with the
// deadline of ctx.
func Dial(ctx context.Context, network, address string) (*Client, error) {
	dial := new(net.Dialer).DialContext
	if network == MemoryNetwork {
		dial = func(ctx context.Context, _, address string) (net.Conn, error) { return dialMemory(ctx, address) }
	}
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline) // fails only where the connection has ended
	}
	return &Client{answers: messages{conn: conn}}, nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.answers.conn.Close() }

// Do sends the workload once, as Send does.
func (c *Client) Do() error { return c.Send(c.request) }

// ErrEnded is returned where the connection has ended before a byte of the answer: a server
// may end one that is idle, and clients then send the request over another one.
var ErrEnded = errors.New("the connection has ended")

// ErrStatus is returned where the answer has another status than 200. The connection is as good as before.
var ErrStatus = errors.New("answered")

// Send sends a request once. It returns an error unless the answer has status 200.
func (c *Client) Send(request []byte) error {
	_, err := c.answers.conn.Write(request)
	var head []byte
	if err == nil {
		head, err = c.answers.next()
	}
	switch {
	case err != nil && c.answers.n == c.answers.last && !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrEnded, err)
	case err != nil:
		return err
	case !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")):
		return fmt.Errorf("%w: %s", ErrStatus, head)
	}
	return nil
}
