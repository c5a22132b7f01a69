package wordpress

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// message is a request as it stands on the wire, so that spellings survive which
// a client library would repair.
type message struct {
	method  string
	target  string // below the site's base, "/wp-json/…"
	whole   string // in place of it, a target that is no path
	headers []string
	body    string
	as      string // role whose application password is sent; "" for nobody
}

// path is the target at a gate.
func (m *message) path(g *gate) string {
	if m.whole != "" {
		return m.whole
	}
	return g.Site.Base + m.target
}

// render returns the bytes that a gate gets; tag is what the plugin reports under.
func (m *message) render(g *gate, tag string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nX-Request-Tag: %s\r\nConnection: close\r\n",
		m.method, m.path(g), g.host(), tag)
	if m.as != "" {
		account := g.Site.Accounts[m.as]
		fmt.Fprintf(&b, "Authorization: %s\r\n", basic(account.Login, account.Application))
	}
	for _, h := range m.headers {
		b.WriteString(h + "\r\n")
	}
	if m.body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(m.body))
	}
	b.WriteString("\r\n" + m.body)
	return b.Bytes()
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// send writes raw to a gate and reads one answer.
func send(ctx context.Context, g *gate, raw []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", g.host())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	defer stop()
	if _, err := conn.Write(raw); err != nil {
		return nil, err
	}
	method, _, _ := strings.Cut(string(raw), " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: strings.ToUpper(method)})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return newAnswer(resp, body), nil
}
