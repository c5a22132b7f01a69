// Package wire records what clients and a server say to each other, byte by byte, and
// compares two recordings.
package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// Exchange is a request over HTTP/1.1 and its answer.
type Exchange struct {
	Method, Target string
	Request        []byte // as it was sent
	Status         int
	Head           []byte // status line and fields of the answer as they came, with the empty line
	Body           []byte // of the answer, without the frames of chunks; never uncompressed
}

// Recorder stands between clients and a server, which see each other's bytes unchanged. Its
// address stays the same for one server after the other, so that what a site writes into its
// answers is the same, too.
type Recorder struct {
	listener net.Listener
	secure   bool

	mu        sync.Mutex
	open      map[net.Conn]bool // to clients
	server    string
	exchanges []Exchange
	failed    []error
}

// limit bounds what both sides may take for one connection.
const limit = 2 * time.Minute

// Record starts a recorder, which ends with the test. With a certificate it speaks TLS to both
// sides, and checks no certificate of the server's.
func Record(tb testing.TB, certificate *tls.Certificate) *Recorder {
	tb.Helper()
	r := &Recorder{listener: machine.Listener(tb), secure: certificate != nil, open: map[net.Conn]bool{}}
	if r.secure {
		r.listener = tls.NewListener(r.listener, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12})
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := r.listener.Accept()
			if err != nil {
				return // the test is over
			}
			serving.Go(func() { r.serve(conn) })
		}
	})
	tb.Cleanup(func() {
		_ = r.listener.Close()
		r.hangUp()
		serving.Wait()
	})
	return r
}

// Address is where it listens, as "127.0.0.1:port".
func (r *Recorder) Address() string { return r.listener.Addr().String() }

// URL is the address for clients.
func (r *Recorder) URL() string {
	if r.secure {
		return "https://" + r.Address()
	}
	return "http://" + r.Address()
}

// Lead makes the server at an address the one that new connections go to.
func (r *Recorder) Lead(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = address
}

// hangUp closes the connections that clients have kept.
func (r *Recorder) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.open {
		_ = conn.Close()
	}
}

// Take returns what was recorded since the last time, in the order in which answers ended.
// The error says what broke off.
func (r *Recorder) Take() ([]Exchange, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := r.exchanges, errors.Join(r.failed...)
	r.exchanges, r.failed = nil, nil
	return all, err
}

// serve carries one connection's requests, one at a time.
func (r *Recorder) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	r.mu.Lock()
	address := r.server
	r.open[client] = true
	r.mu.Unlock()
	err := r.carry(client, address)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, client)
	if err != nil {
		r.failed = append(r.failed, err)
	}
}

func (r *Recorder) carry(client net.Conn, address string) error {
	server, err := r.dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	deadline := time.Now().Add(limit)
	if err := errors.Join(client.SetDeadline(deadline), server.SetDeadline(deadline)); err != nil {
		return err
	}
	up, down := newTap(client), newTap(server)
	for {
		if _, err := up.Peek(1); err != nil {
			return nil // the client needs the connection no longer
		}
		x, last, err := exchange(up, down, server)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.exchanges = append(r.exchanges, x)
		r.mu.Unlock()
		if _, err := client.Write(down.taken()); err != nil || last {
			return err
		}
	}
}

func (r *Recorder) dial(address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if r.secure {
		return (&tls.Dialer{Config: rawhttp.Trusting("http/1.1")}).DialContext(ctx, "tcp", address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// exchange reads one request, hands it on, and reads its answer, which the caller hands on.
// last tells whether the connection ends with it.
func exchange(up, down *tap, server io.Writer) (x Exchange, last bool, err error) {
	request, err := http.ReadRequest(up.Reader)
	if err == nil {
		_, err = io.Copy(io.Discard, request.Body)
	}
	if err != nil {
		return x, true, err
	}
	x.Method, x.Target, x.Request = request.Method, request.RequestURI, up.taken()
	if _, err := server.Write(x.Request); err != nil {
		return x, true, err
	}
	answer, err := http.ReadResponse(down.Reader, request)
	if err != nil {
		return x, true, err
	}
	defer func() { _ = answer.Body.Close() }() // it has been read
	if x.Body, err = io.ReadAll(answer.Body); err != nil {
		return x, true, err
	}
	x.Status = answer.StatusCode
	head, _, _ := bytes.Cut(down.seen(), []byte("\r\n\r\n"))
	x.Head = append(bytes.Clone(head), "\r\n\r\n"...)
	return x, answer.Close, nil
}

// tap reads a connection and keeps the bytes that were read.
type tap struct {
	*bufio.Reader
	kept bytes.Buffer
}

func newTap(conn io.Reader) *tap {
	t := new(tap)
	t.Reader = bufio.NewReader(io.TeeReader(conn, &t.kept))
	return t
}

// seen are the bytes that were read and not taken.
func (t *tap) seen() []byte { return t.kept.Bytes()[:t.kept.Len()-t.Buffered()] }

// taken takes them.
func (t *tap) taken() []byte { return bytes.Clone(t.kept.Next(len(t.seen()))) }
