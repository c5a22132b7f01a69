package livetest

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// halfSent is a request whose client sends half of the body and then waits.
type halfSent struct {
	conn   string    // as the witness names it
	follow chan bool // whether the rest follows; if not, the request ends there
	status chan int  // of the answer, 0 where there is none
	hangUp func()
	left   sync.Once
}

// halfSender returns a function that sends the bytes of a request up to the middle of the
// body, each time from a new client.
func halfSender(t *testing.T, protocol string, raw []byte) (begin func(address string) *halfSent) {
	t.Helper()
	m, unsaid := streamedOf(raw) // once, so that many clients hold nothing of it
	if unsaid != "" {
		t.Fatal(unsaid)
	}
	return func(address string) *halfSent {
		h := &halfSent{follow: make(chan bool, 1), status: make(chan int, 1)}
		if protocol == http1 {
			h.overHTTP1(t, address, raw)
		} else {
			h.overStream(newClient(protocol).dial(t, address), m)
		}
		t.Cleanup(h.leave)
		return h
	}
}

func (h *halfSent) overStream(l *link, m streamed) {
	r := m.request("https")
	r.Halfway = func() bool { return <-h.follow }
	h.conn, h.hangUp = l.name, l.close
	go func() {
		answer, _ := l.send(r) // no answer where it fails
		h.status <- answer.Status
	}()
}

func (h *halfSent) overHTTP1(t *testing.T, address string, raw []byte) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	h.conn, h.hangUp = connection(conn.LocalAddr().String(), conn.RemoteAddr()), func() { _ = conn.Close() }
	head := bytes.Index(raw, []byte(blank)) + len(blank)
	half := head + (len(raw)-head)/2
	go func() {
		_, _ = conn.Write(raw[:half]) // fails where the server has refused early
		if <-h.follow {
			_, _ = conn.Write(raw[half:])
		} else {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		status := 0
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			status = answer.StatusCode
			_ = answer.Body.Close()
		}
		h.status <- status
	}()
}

// finish has the rest follow, or ends the request in its middle, and returns the status of
// the answer.
func (h *halfSent) finish(rest bool) int {
	h.follow <- rest
	return <-h.status
}

// leave has the client go away, for good.
func (h *halfSent) leave() {
	h.left.Do(func() {
		h.hangUp()
		close(h.follow)
	})
}
