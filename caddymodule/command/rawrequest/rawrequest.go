// Package rawrequest reads the exact bytes of a request as a gateway that received
// them would read them.
//
// The bytes take the way of a live request: the HTTP server of Go parses them, header
// names with "_" or "." are dropped as Caddy drops them before its handlers, and package
// call reads what is left. The command "caddy restwarden classify" and the tests with
// recorded requests are made of it.
package rawrequest

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/hosts"
)

// Read returns what rd reads in raw, the bytes of one request. A request that the server
// itself answers with 400 is Refused for the reason "http". The body, up to Limits.Body,
// has been read, so that the Call answers questions. The caller closes the Call.
func Read(rd *call.Reader, raw []byte) *call.Call {
	result := &call.Call{Kind: call.Refused, Refusal: errHTTP}
	Serve(raw, new(net.TCPAddr), 0, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if rejected(r) {
			return
		}
		DropAliases(r.Header)
		result = rd.Read(r, nil)
		_, _ = result.RawBody() // what is wrong with it is asked of the Call again
	}))
	return result
}

// Serve has the HTTP server of Go read raw, the bytes of one request that a client at an
// address sends to a port, and returns the bytes of the answer, [MaxAnswer] at most. The handler gets at most
// one request, and none if the server itself answers with 400.
func Serve(raw []byte, client *net.TCPAddr, port int, handler http.Handler) []byte {
	conn := &rawConn{request: bytes.NewReader(raw), closed: make(chan struct{}), client: client, port: port}
	var first sync.Once
	server := &http.Server{
		ErrorLog:                     log.New(io.Discard, "", 0),
		ReadHeaderTimeout:            time.Minute, // never reached: the bytes are all there
		DisableGeneralOptionsHandler: true,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			first.Do(func() { handler.ServeHTTP(w, r) })
		}),
	}
	_ = server.Serve(&rawListener{conn: conn}) // ends with the listener's net.ErrClosed
	return conn.answer.Bytes()
}

// errHTTP is the HTTP server's own 400.
var errHTTP = &call.Refusal{Status: http.StatusBadRequest, Code: call.CodeAmbiguous, Reason: "http"}

// rejected tells what Caddy itself answers with 400 or 405 beyond Go's server.
func rejected(r *http.Request) bool {
	host := hosts.Name(r.Host)
	return r.Host == "" && r.ProtoMajor == 1 && r.ProtoMinor == 1 || len(r.Method) > 32 ||
		!httpguts.ValidHostHeader(r.Host) || host != "" && strings.Trim(host, ".") == ""
}

// DropAliases deletes the header names with "_" or ".", as Caddy does before its handlers.
func DropAliases(h http.Header) {
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

// rawConn is a connection whose client has sent everything.
type rawConn struct {
	request *bytes.Reader
	mu      sync.Mutex
	once    sync.Once
	closed  chan struct{}
	client  *net.TCPAddr
	port    int
	answer  bytes.Buffer
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

// MaxAnswer bounds the bytes of an answer, with those that come before it (103).
const MaxAnswer = 72 << 20

var errTooLong = fmt.Errorf("an answer has %d bytes at most", MaxAnswer)

// Write keeps the answer.
func (c *rawConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer.Len()+len(p) > MaxAnswer {
		return 0, errTooLong
	}
	return c.answer.Write(p)
}

func (c *rawConn) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.port} }
func (c *rawConn) RemoteAddr() net.Addr             { return c.client }
func (c *rawConn) SetDeadline(time.Time) error      { return nil }
func (c *rawConn) SetReadDeadline(time.Time) error  { return nil }
func (c *rawConn) SetWriteDeadline(time.Time) error { return nil }
