package rawhttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// Types of streams and frames of HTTP/3 (RFC 9114, 6.2.1 and 7.2).
const (
	controlStream = 0x0

	dataFrame     = 0x0
	headersFrame  = 0x1
	settingsFrame = 0x4
	greaseFrame   = 0x21 // reserved, 7.2.8

	requestCancelled = 0x10c // 8.1
)

// DialHTTP3 opens a connection to address from a port of its own on 127.0.0.1. It
// tries until ctx ends: a server that has just started may lack its certificate.
// The caller must call hangUp.
func DialHTTP3(ctx context.Context, address string) (conn *quic.Conn, hangUp func(), err error) {
	to, err := net.ResolveUDPAddr("udp4", address)
	if err != nil {
		return nil, nil, err
	}
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil, err
	}
	transport := &quic.Transport{Conn: socket}
	end := func() {
		_ = transport.Close() // nothing is left to lose
		_ = socket.Close()
	}
	for {
		conn, err = transport.Dial(ctx, to, Trusting("h3"), nil)
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			end()
			return nil, nil, err
		case <-time.After(20 * time.Millisecond):
		}
	}
	hangUp = func() {
		_ = conn.CloseWithError(0, "")
		end()
	}
	control, err := conn.OpenUniStream()
	if err == nil {
		_, err = control.Write([]byte{controlStream, settingsFrame, 0})
	}
	if err != nil {
		hangUp()
		return nil, nil, err
	}
	return conn, hangUp, nil
}

// HTTP3 sends r on a new stream of conn and reads the answer, until deadline.
func HTTP3(conn *quic.Conn, r Request, deadline time.Time) (Answer, error) {
	stream, err := conn.OpenStream()
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrReset, err)
	}
	if err := stream.SetDeadline(deadline); err != nil {
		return Answer{}, err
	}
	go func() { // fails where the server has refused early
		sendHTTP3(stream, r)
		if r.Reset {
			stream.CancelWrite(requestCancelled)
			stream.CancelRead(requestCancelled)
			return
		}
		_ = stream.Close()
	}()
	return readHTTP3(bufio.NewReader(stream))
}

// sendHTTP3 writes r, in one piece unless it waits halfway.
func sendHTTP3(to io.Writer, r Request) {
	var out bytes.Buffer
	writeFrame(&out, headersFrame, fieldSection(r.Fields))
	if r.Grease {
		writeFrame(&out, greaseFrame, []byte("grease"))
	}
	r.body(func(part string, last bool) {
		if part != "" || r.EmptyData {
			writeFrame(&out, dataFrame, []byte(part))
		}
		if last && r.Trailer != nil {
			writeFrame(&out, headersFrame, fieldSection(r.Trailer))
		}
		_, _ = to.Write(out.Bytes())
		out = bytes.Buffer{} // a client that waits holds nothing
	})
}

func writeFrame(b *bytes.Buffer, kind uint64, payload []byte) {
	b.Write(quicvarint.Append(nil, kind))
	b.Write(quicvarint.Append(nil, uint64(len(payload))))
	b.Write(payload)
}

func fieldSection(fields []Field) []byte {
	var b bytes.Buffer
	encoder := qpack.NewEncoder(&b)
	for _, f := range fields {
		_ = encoder.WriteField(qpack.HeaderField{Name: f.Name, Value: f.Value})
	}
	_ = encoder.Close()
	return b.Bytes()
}

func readHTTP3(in *bufio.Reader) (a Answer, err error) {
	for {
		kind, err := quicvarint.Read(in)
		if err != nil {
			if a.final() && errors.Is(err, io.EOF) {
				return a, nil
			}
			return a, fmt.Errorf("%w: %w", ErrReset, err)
		}
		n, err := quicvarint.Read(in)
		if err != nil || n > window {
			return a, ErrReset
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(in, payload); err != nil {
			return a, fmt.Errorf("%w: %w", ErrReset, err)
		}
		switch kind {
		case headersFrame:
			next := qpack.NewDecoder().Decode(payload)
			for f, err := next(); err == nil; f, err = next() {
				a.add(Field{f.Name, f.Value})
			}
		case dataFrame:
			a.Body = append(a.Body, payload...)
		}
	}
}
