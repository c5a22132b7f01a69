package workloads

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

// MemoryNetwork is a network without sockets, for Caddy's bind and for this package. Its
// connections never enter the kernel, whose scheduling makes bare Caddy differ from itself by
// more than the gateway adds.
const MemoryNetwork = "memory"

// ProxyTo is the site's body that proxies to address of the MemoryNetwork.
func ProxyTo(address string) string {
	return "\treverse_proxy " + address + " {\n\t\ttransport " + MemoryNetwork + "\n\t}"
}

func init() {
	caddy.RegisterNetwork(MemoryNetwork, func(_ context.Context, _, host, _ string, _ uint, _ net.ListenConfig) (any, error) {
		return ListenMemory(host), nil
	})
	caddy.RegisterModule(new(transport))
}

// memory are the listeners of the MemoryNetwork, by address.
var memory sync.Map

// ListenMemory listens on address of the MemoryNetwork.
func ListenMemory(address string) net.Listener {
	l := &memoryListener{address: address, accepted: make(chan net.Conn), closed: make(chan struct{})}
	memory.Store(address, l)
	return l
}

func dialMemory(ctx context.Context, address string) (net.Conn, error) {
	found, ok := memory.Load(address)
	if !ok {
		return nil, fmt.Errorf("nothing listens on %s of the network in memory", address)
	}
	client, server := net.Pipe()
	l := found.(*memoryListener)
	select {
	case l.accepted <- loopbackConn{server}:
		return loopbackConn{client}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type memoryListener struct {
	address  string
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return loopback }

// loopbackConn has the addresses of a client that a gateway meets.
type loopbackConn struct{ net.Conn }

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 49152}

// SetReadDeadline knows no deadline to come: the pipe makes a timer for one, where a socket needs no memory.
func (c loopbackConn) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(past(t)) }

// SetWriteDeadline is likewise.
func (c loopbackConn) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(past(t)) }

// past returns t, or no time where t is to come.
func past(t time.Time) time.Time {
	if time.Until(t) > 0 {
		return time.Time{}
	}
	return t
}

func (loopbackConn) LocalAddr() net.Addr  { return loopback }
func (loopbackConn) RemoteAddr() net.Addr { return loopback }

// transport is Caddy's transport of HTTP over the MemoryNetwork, to the host of an upstream.
type transport struct {
	reverseproxy.HTTPTransport
}

// CaddyModule registers transport.
func (*transport) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.reverse_proxy.transport." + MemoryNetwork, New: func() caddy.Module { return new(transport) }}
}

// UnmarshalCaddyfile takes no options.
func (*transport) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }

// Provision sets the transport up.
func (t *transport) Provision(ctx caddy.Context) error {
	if err := t.HTTPTransport.Provision(ctx); err != nil {
		return err
	}
	// One idle connection: net/http allocates a list for the first of a host, so that a side with a second one would
	// seem to need less.
	t.Transport.MaxIdleConnsPerHost = 1
	t.Transport.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return dialMemory(ctx, host)
	}
	return nil
}
