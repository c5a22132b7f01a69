package workloads

import (
	"bytes"
	"context"
	"fmt"
	"net"
)

// Client sends one workload over a connection that it keeps.
type Client struct {
	request []byte
	answers messages
}

// NewClient returns a client that is connected to address of network, which may be the
// MemoryNetwork. The caller must close it.
func NewClient(ctx context.Context, network, address string, w *Workload) (*Client, error) {
	dial := new(net.Dialer).DialContext
	if network == MemoryNetwork {
		dial = func(ctx context.Context, _, address string) (net.Conn, error) { return dialMemory(ctx, address) }
	}
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &Client{request: w.Request(address), answers: messages{conn: conn}}, nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.answers.conn.Close() }

// Do sends the request once. It returns an error unless the answer has status 200.
func (c *Client) Do() error {
	if _, err := c.answers.conn.Write(c.request); err != nil {
		return err
	}
	head, err := c.answers.next()
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) {
		return fmt.Errorf("%s", head)
	}
	return nil
}
