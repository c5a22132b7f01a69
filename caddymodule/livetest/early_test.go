package livetest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// tickets is a client's memory of one server.
type tickets struct {
	ticket atomic.Pointer[tls.ClientSessionState]
}

// Get implements tls.ClientSessionCache.
func (c *tickets) Get(string) (*tls.ClientSessionState, bool) {
	t := c.ticket.Load()
	return t, t != nil
}

// Put implements tls.ClientSessionCache.
func (c *tickets) Put(_ string, t *tls.ClientSessionState) {
	if t != nil {
		c.ticket.Store(t)
	}
}

// forger is the socket of a client whose address may be forged. It sends a first flight with
// a request in early data. Until it hears, it does not react to what the server sends.
type forger struct {
	net.PacketConn
	once  sync.Once
	asked chan struct{} // closed when the request is on its way
	hears atomic.Bool
}

// ReadFrom implements net.PacketConn.
func (f *forger) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := f.PacketConn.ReadFrom(b)
	select {
	case <-f.asked:
	case <-time.After(patience): // there is no early data, and the test fails
	}
	return n, from, err
}

// WriteTo implements net.PacketConn.
func (f *forger) WriteTo(b []byte, to net.Addr) (int, error) {
	select {
	case <-f.asked:
		if !f.hears.Load() && !hasEarlyData(b) {
			return len(b), nil // it would end the handshake
		}
	default:
	}
	n, err := f.PacketConn.WriteTo(b, to)
	if hasEarlyData(b) {
		// The end of the stream may come in a packet of its own, on a busy machine late. Without it the
		// server may have no room to answer: it sends an unproven address no more than three times what came.
		f.once.Do(func() { time.AfterFunc(500*time.Millisecond, func() { close(f.asked) }) })
	}
	return n, err
}

// hasEarlyData tells whether a datagram holds a 0-RTT packet (RFC 9000, 17.2).
func hasEarlyData(b []byte) bool {
	const initial, zeroRTT = 0, 1
	for len(b) > 7 && b[0]&0x80 != 0 {
		kind := b[0] >> 4 & 3
		if kind == zeroRTT {
			return true
		}
		b = b[5:]
		b = b[1+b[0]:] // the connection's two names
		b = b[1+b[0]:]
		if kind == initial {
			n, size, _ := quicvarint.Parse(b)
			b = b[size+int(n):] // a token
		}
		n, size, _ := quicvarint.Parse(b)
		b = b[size+int(n):]
	}
	return false
}

// dialEarly opens a connection to a server that the client knows, without a wait for the
// handshake.
func dialEarly(t *testing.T, address string) (*quic.Conn, *forger) {
	t.Helper()
	to, err := net.ResolveUDPAddr("udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	known := rawhttp.Trusting("h3")
	cache := new(tickets)
	known.ClientSessionCache = cache
	before := dialKnown(t, to, known, nil)
	eventually(t, "a ticket", func() bool { return cache.ticket.Load() != nil })
	_ = before.CloseWithError(0, "")
	socket := &forger{asked: make(chan struct{})}
	return dialKnown(t, to, known, socket), socket
}

// dialKnown dials from a socket of its own, by f if there is one.
func dialKnown(t *testing.T, to *net.UDPAddr, config *tls.Config, f *forger) *quic.Conn {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	transport := &quic.Transport{Conn: socket}
	if f != nil {
		f.PacketConn = socket
		transport.Conn = f
	}
	t.Cleanup(func() {
		_ = transport.Close()
		_ = socket.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	conn, err := transport.DialEarly(ctx, to, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestHTTP3_EarlyData: a request that comes before the handshake has ended may be a copy
// of an earlier one, and its client's address may be forged. Calls are refused until then,
// with a status that has the client send them again. Pages are none of the gateway's
// business.
func TestHTTP3_EarlyData(t *testing.T) {
	b := newBackend(t)
	site := func(options string) block {
		return block{Secure: true, Body: "\ttls internal\n\trestwarden wordpress {\n" + options + "\t}\n\twitness\n" + b.proxied()}
	}
	addresses := run(t, "", site(""), site("\t\tmode observe\n"))
	dialHTTP3(t, addresses[0]) // until the certificates are there
	dialHTTP3(t, addresses[1])
	const asForm = "content-type application/x-www-form-urlencoded"
	for _, c := range []struct {
		name string
		streamed
		site   int
		status int
	}{
		{"update", streamed{fields: post("/wp-json/wp/v2/posts/5", "content-type application/json"), body: `{"title":"x"}`}, 0, 425},
		{"read", streamed{fields: get("/wp-json/wp/v2/posts")}, 0, 425},
		{"read by variable", streamed{fields: get("/?rest_route=/wp/v2/posts")}, 0, 425},
		{"form", streamed{fields: post("/contact/", asForm), body: "rest_route=/wp/v2/posts"}, 0, 425},
		{"batch", streamed{fields: post("/wp-json/batch/v1", "content-type application/json"), body: `{"requests":[{"path":"/wp/v2/posts/5","method":"POST"}]}`}, 0, 425},
		{"preflight", streamed{fields: append(fields{":method OPTIONS"}, get("/wp-json/wp/v2/posts", "origin https://other.example", "access-control-request-method GET")[1:]...)}, 0, 425},
		{"page", streamed{fields: get("/about/")}, 0, 200},
		{"form of a page", streamed{fields: post("/contact/", asForm), body: "a=b"}, 0, 200},
		{"observed", streamed{fields: get("/wp-json/wp/v2/posts")}, 1, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, socket := dialEarly(t, addresses[c.site])
			defer func() { _ = conn.CloseWithError(0, "") }()
			p := passage{reply: reply{conn: connection(conn.LocalAddr().String(), conn.RemoteAddr())}}
			answer, err := rawhttp.HTTP3(conn, c.request("https"), time.Now().Add(patience))
			if err != nil {
				t.Fatal(err)
			}
			p.status, p.judged = answer.Status, ledger.take(p.conn)
			for _, j := range p.judged {
				p.arrived = append(p.arrived, b.take(j.n)...)
			}
			if refused := c.status == http.StatusTooEarly; refused {
				p.refused(t, c.status)
			} else if p.status != c.status || len(p.arrived) != 1 {
				t.Errorf("got %d, %d arrived", p.status, len(p.arrived))
			}
			socket.hears.Store(true)
			if got := ask3(t, conn, streamed{fields: get("/wp-json/wp/v2/posts")}); got != "200" {
				t.Errorf("once the handshake has ended: %s", got)
			}
			for _, j := range ledger.take(p.conn) {
				b.take(j.n)
			}
			if !conn.ConnectionState().Used0RTT {
				t.Error("it was no early data")
			}
		})
	}
}
