package livetest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// Frames of HTTP/3 (RFC 9114, 7.2).
const (
	dataFrame     = 0x0
	headersFrame  = 0x1
	settingsFrame = 0x4
)

// dialHTTP3 opens a connection from an address of its own, since the witness
// knows requests by it.
func dialHTTP3(t *testing.T, address string) *quic.Conn {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	transport := &quic.Transport{Conn: socket}
	var conn *quic.Conn
	for { // until the certificate is there
		conn, err = transport.Dial(ctx, to, &tls.Config{InsecureSkipVerify: true, ServerName: "127.0.0.1", NextProtos: []string{"h3"}}, nil)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Cleanup(func() {
		conn.CloseWithError(0, "")
		transport.Close()
		socket.Close()
	})
	control, err := conn.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	control.Write([]byte{0, settingsFrame, 0})
	return conn
}

// ask3 is ask for HTTP/3.
func ask3(t *testing.T, conn *quic.Conn, m streamed) string {
	t.Helper()
	stream, err := conn.OpenStream()
	if err != nil {
		return reset
	}
	stream.SetDeadline(time.Now().Add(patience))
	var request bytes.Buffer
	writeFrame(&request, headersFrame, fieldSection(m.fields))
	if m.body != "" || m.emptyData {
		writeFrame(&request, dataFrame, []byte(m.body))
	}
	if m.trailer != "" {
		writeFrame(&request, headersFrame, fieldSection(fields{m.trailer}))
	}
	if _, err := stream.Write(request.Bytes()); err != nil {
		return reset
	}
	stream.Close()
	return finalStatus(stream)
}

func writeFrame(b *bytes.Buffer, kind uint64, payload []byte) {
	b.Write(quicvarint.Append(nil, kind))
	b.Write(quicvarint.Append(nil, uint64(len(payload))))
	b.Write(payload)
}

func fieldSection(f fields) []byte {
	var b bytes.Buffer
	encoder := qpack.NewEncoder(&b)
	for _, field := range f {
		name, value, _ := strings.Cut(field, " ")
		encoder.WriteField(qpack.HeaderField{Name: name, Value: strings.Replace(value, "http", "https", map[bool]int{true: 1}[name == ":scheme"])})
	}
	encoder.Close()
	return b.Bytes()
}

// finalStatus reads the answer, or returns reset.
func finalStatus(stream io.Reader) string {
	in := bufio.NewReader(stream)
	status := reset
	for {
		kind, err := quicvarint.Read(in)
		if err != nil {
			return status
		}
		n, err := quicvarint.Read(in)
		if err != nil {
			return reset
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(in, payload); err != nil {
			return reset
		}
		if kind != headersFrame {
			continue
		}
		next := qpack.NewDecoder().Decode(payload)
		for field, err := next(); err == nil; field, err = next() {
			if field.Name == ":status" && field.Value[0] != '1' {
				status = field.Value
			}
		}
	}
}

// TestHTTP3_Frames sends the same requests as over HTTP/2, to both kinds of
// back-ends.
func TestHTTP3_Frames(t *testing.T) {
	proxy, php := newBackend(t), newFastCGI(t)
	guard := "\ttls internal\n\trestwarden wordpress\n\twitness\n"
	addresses := run(t, "",
		block{secure: true, body: guard + proxy.proxied()},
		block{secure: true, body: guard + php.php(scripts(t), "")})
	for i, way := range []struct {
		name    string
		backend *backend
	}{{"HTTP/3", proxy}, {"HTTP/3 to FastCGI", php}} {
		for _, c := range streamFrames {
			t.Run(way.name+"/"+c.name, func(t *testing.T) {
				conn := dialHTTP3(t, addresses[i])
				got := ask3(t, conn, c.streamed)
				c.hold(t, got, connection(conn.LocalAddr().String(), conn.RemoteAddr()), way.backend)
			})
		}
		for _, a := range way.backend.rest() {
			t.Errorf("%s: reached the backend unseen: %s %s", way.name, a.method, a.target)
		}
	}
}

// TestHTTP3_Observed: a gateway that only observes refuses nothing here, either.
func TestHTTP3_Observed(t *testing.T) {
	b := newBackend(t)
	address := run(t, "", block{secure: true, body: "\ttls internal\n\trestwarden wordpress {\n\t\tmode observe\n\t}\n\twitness\n" + b.proxied()})[0]
	for _, m := range []streamed{{fields: get("/wp-json/wp/v2/posts")}, {fields: get("/about/#x")}, {fields: post("/", "content-type text/plain", "content-type text/plain"), body: "x"}} {
		conn := dialHTTP3(t, address)
		if got := ask3(t, conn, m); got != "200" {
			t.Errorf("%v: %s", m.fields, got)
		}
	}
}
