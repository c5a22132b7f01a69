package redisrun

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// Lag is a proxy in front of a server, whose answers it can delay or withhold.
type Lag struct {
	Addr string

	mu     sync.Mutex
	delay  time.Duration
	closed bool
	conns  []net.Conn
}

// StartLag runs a proxy to an address until the test ends.
func StartLag(tb testing.TB, to string) *Lag {
	tb.Helper()
	l := machine.Listener(tb)
	p := &Lag{Addr: l.Addr().String()}
	tb.Cleanup(p.Cut)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.connect(client, to)
		}
	}()
	return p
}

func (p *Lag) connect(client net.Conn, to string) {
	server, err := net.Dial("tcp", to) //nolint:noctx // it answers or refuses at once, on loopback
	if err != nil || !p.accept(client, server) {
		_ = client.Close() // as the server would
		return
	}
	go p.copy(server, client, false)
	go p.copy(client, server, true)
}

// Set delays each answer from now on.
func (p *Lag) Set(delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = delay
}

// Refuse makes the proxy take no connections, or take them again.
func (p *Lag) Refuse(closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = closed
}

func (p *Lag) accept(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = server.Close() // nothing was said
		return false
	}
	p.conns = append(p.conns, client, server)
	return true
}

// Cut ends all connections.
func (p *Lag) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close() // it may be closed already
	}
	p.conns = nil
}

func (p *Lag) copy(to, from net.Conn, delayed bool) {
	defer func() { _, _ = to.Close(), from.Close() }() // the other direction may have done it
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if delayed {
			p.mu.Lock()
			delay := p.delay
			p.mu.Unlock()
			time.Sleep(delay)
		}
		if _, werr := to.Write(b[:n]); err != nil || werr != nil {
			return
		}
	}
}
