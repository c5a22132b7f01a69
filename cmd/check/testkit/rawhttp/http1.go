package rawhttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// Bytes builds the bytes of an HTTP/1.1 request from "METHOD target", a body and
// header lines. Connection: close is added, and the length of a body.
func Bytes(line, body string, headers ...string) []byte {
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

// ChunkedBytes is Bytes for a body that comes in chunks of n bytes.
func ChunkedBytes(line, body string, n int, headers ...string) []byte {
	var b bytes.Buffer
	b.Write(Bytes(line, "", append(headers, "Transfer-Encoding: chunked")...))
	for len(body) > 0 {
		part := body[:min(n, len(body))]
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
		body = body[len(part):]
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

// Parse reads raw with Go's own parser, and its body into body. It fails where the
// request is not whole.
func Parse(raw []byte, body io.Writer) (*http.Request, error) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(body, r.Body)
	return r, err
}

// Exchange is the answer to the bytes of one connection.
type Exchange struct {
	Local, Remote net.Addr
	Raw           []byte
	Answer        // the first final one; its status is 0 if there is none
}

// HTTP1 writes raw to a new connection to address and reads until the server closes the
// connection or ctx ends. A client that has not sent all that it announced stops sending.
// An error means that there was no connection, or no answer in time.
func HTTP1(ctx context.Context, address string, raw []byte) (x Exchange, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return x, err
	}
	return HTTP1On(ctx, conn, raw)
}

// HTTP1On is HTTP1 on a connection that is open, by TCP or by TLS. It closes it.
func HTTP1On(ctx context.Context, conn net.Conn, raw []byte) (x Exchange, err error) {
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	go func() {
		_, _ = conn.Write(raw) // fails where the server has refused early
		if _, err := Parse(raw, io.Discard); err != nil {
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
		}
	}()
	x.Local, x.Remote = conn.LocalAddr(), conn.RemoteAddr()
	x.Raw, err = io.ReadAll(conn)
	x.Answer = firstFinal(x.Raw)
	if len(x.Raw) == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return x, fmt.Errorf("no answer: %w", err)
	}
	return x, nil
}

func firstFinal(raw []byte) (a Answer) {
	in := bufio.NewReader(bytes.NewReader(raw))
	for !a.final() {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return Answer{}
		}
		a = Answer{Status: res.StatusCode, Header: res.Header}
		if a.final() {
			a.Body, _ = io.ReadAll(res.Body) // what there is of it
		}
		_ = res.Body.Close()
	}
	return a
}
