package livetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// patience is how long anything may take before a test gives up: nothing is
// timed, it only keeps a failure from hanging.
const patience = 20 * time.Second

// reply is what a client got for one connection's bytes.
type reply struct {
	conn   string // as the witness names it
	raw    []byte
	status int    // of the first answer, 0 where there is none
	body   string // of the first answer
}

// is tells whether the answer is the error object with this code.
func (r reply) is(code string) bool { return strings.Contains(r.body, `"code":"`+code+`"`) }

// send writes raw to a new connection and reads until the server closes it. A
// client that has not sent all that it announced stops sending.
func send(t testing.TB, address string, raw []byte) reply {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Error(err)
		return reply{}
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	go func() {
		conn.Write(raw) // fails where the server has refused early
		if _, err := parse(raw); err != nil {
			conn.(*net.TCPConn).CloseWrite()
		}
	}()
	r := reply{conn: connection(conn.LocalAddr().String(), conn.RemoteAddr())}
	if r.raw, err = io.ReadAll(conn); err != nil && len(r.raw) == 0 && isTimeout(err) {
		t.Errorf("no answer to %.300q", raw)
	}
	r.parse()
	return r
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// parse reads the first final answer out of raw.
func (r *reply) parse() {
	in := bufio.NewReader(bytes.NewReader(r.raw))
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return
		}
		if res.StatusCode < 200 {
			continue
		}
		r.status = res.StatusCode
		body, _ := io.ReadAll(res.Body)
		r.body = string(body)
		return
	}
}

// sent is a request as its bytes say it, without any reading of the platform's.
type sent struct {
	*http.Request
	body *digest
}

// parse reads raw with Go's own parser; it fails where the request is not whole.
func parse(raw []byte) (sent, error) {
	in := bufio.NewReader(bytes.NewReader(raw))
	r, err := http.ReadRequest(in)
	if err != nil {
		return sent{}, err
	}
	s := sent{r, digestOf(nil)}
	_, err = io.Copy(s.body, r.Body)
	return s, err
}

// request builds the bytes of a request; Connection: close is added.
func request(line, body string, headers ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n", line)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

// chunked builds the bytes of a request whose body comes in chunks of n bytes.
func chunked(line, body string, n int, headers ...string) []byte {
	var b bytes.Buffer
	b.Write(request(line, "", append(headers, "Transfer-Encoding: chunked")...))
	for len(body) > 0 {
		part := body[:min(n, len(body))]
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
		body = body[len(part):]
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

const (
	form     = "Content-Type: application/x-www-form-urlencoded"
	jsonType = "Content-Type: application/json"
)
