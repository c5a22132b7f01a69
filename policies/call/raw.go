package call

import (
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// ReadRaw judges the exact bytes of a request, on the way that a live one takes:
// Go's HTTP server parses them, header names with "_" or "." are dropped as Caddy
// does before its handlers, then Read reads what is left. A request that the
// server itself answers with 400 is Refused. The body, up to Limits.Body, has
// been read, so that the Call answers questions; close it afterwards.
func (rd *Reader) ReadRaw(raw []byte) *Call {
	conn := &rawConn{request: bytes.NewReader(raw), closed: make(chan struct{})}
	result := refuse(httpRejected, nil)
	var first sync.Once
	server := &http.Server{
		ErrorLog:                     log.New(io.Discard, "", 0),
		DisableGeneralOptionsHandler: true,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			first.Do(func() {
				if rejected(r) {
					return
				}
				dropAliases(r.Header)
				result = rd.Read(r, nil)
				result.RawBody()
			})
		}),
	}
	server.Serve(&rawListener{conn: conn})
	return result
}

// rejected tells what Caddy itself answers with 400 or 405 beyond Go's server.
func rejected(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return r.Host == "" && r.ProtoMajor == 1 && r.ProtoMinor == 1 || len(r.Method) > 32 ||
		!httpguts.ValidHostHeader(r.Host) || host != "" && strings.Trim(host, ".") == ""
}

func dropAliases(h http.Header) {
	for name := range h {
		if strings.ContainsAny(name, "_.") {
			delete(h, name)
		}
	}
}

// rawListener accepts one connection and ends the server with it.
type rawListener struct {
	conn     *rawConn
	accepted bool
}

func (l *rawListener) Accept() (net.Conn, error) {
	if l.accepted {
		<-l.conn.closed
		return nil, net.ErrClosed
	}
	l.accepted = true
	return l.conn, nil
}

func (l *rawListener) Close() error   { return nil }
func (l *rawListener) Addr() net.Addr { return &net.TCPAddr{} }

// rawConn is a connection whose client has sent everything and reads nothing.
type rawConn struct {
	request *bytes.Reader
	mu      sync.Mutex
	once    sync.Once
	closed  chan struct{}
}

func (c *rawConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.request.Read(p)
}

func (c *rawConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *rawConn) Write(p []byte) (int, error)      { return len(p), nil }
func (c *rawConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *rawConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *rawConn) SetDeadline(time.Time) error      { return nil }
func (c *rawConn) SetReadDeadline(time.Time) error  { return nil }
func (c *rawConn) SetWriteDeadline(time.Time) error { return nil }
