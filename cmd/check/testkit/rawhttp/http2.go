package rawhttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// window is how much of an answer the server may send at once, in bytes.
const window = 1 << 24

// DialHTTP2 opens a connection over TLS. It tries until ctx ends: a server that
// has just started may lack its certificate.
func DialHTTP2(ctx context.Context, address string) (net.Conn, error) {
	dialer := tls.Dialer{Config: Trusting("h2")}
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// HTTP2 sends r as the first request of conn and reads the answer.
func HTTP2(conn net.Conn, r Request) (Answer, error) {
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return Answer{}, ErrReset
	}
	framer := http2.NewFramer(conn, conn)
	framer.AllowIllegalWrites = true
	go sendHTTP2(framer, r) // fails where the server has refused early
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return readHTTP2(framer)
}

func sendHTTP2(framer *http2.Framer, r Request) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	headers := func(fields []Field, end bool) {
		block.Reset()
		for _, f := range fields {
			_ = encoder.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value})
		}
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end})
	}
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	_ = framer.WriteWindowUpdate(0, window)
	headers(r.Fields, r.Body == "" && r.Trailer == nil && !r.EmptyData)
	const most = 16 << 10 // of a frame
	for body := []byte(r.Body); len(body) > 0; body = body[min(most, len(body)):] {
		_ = framer.WriteData(1, len(body) <= most && r.Trailer == nil, body[:min(most, len(body))])
	}
	if r.Body == "" && r.EmptyData {
		_ = framer.WriteData(1, r.Trailer == nil, nil)
	}
	if r.Trailer != nil {
		headers(r.Trailer, true)
	}
}

func readHTTP2(framer *http2.Framer) (a Answer, err error) {
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return a, fmt.Errorf("%w: %w", ErrReset, err)
		}
		if ended, err := a.take(frame); ended || err != nil {
			return a, err
		}
	}
}

// take adds a frame to the answer.
func (a *Answer) take(frame http2.Frame) (ended bool, err error) {
	switch frame := frame.(type) {
	case *http2.MetaHeadersFrame:
		for _, f := range frame.Fields {
			a.add(Field{f.Name, f.Value})
		}
		return a.final() && frame.StreamEnded(), nil
	case *http2.DataFrame:
		a.Body = append(a.Body, frame.Data()...)
		return frame.StreamEnded(), nil
	case *http2.RSTStreamFrame:
		if frame.ErrCode == http2.ErrCodeNo && a.final() { // enough of the request's body
			return true, nil
		}
		return true, ErrReset
	case *http2.GoAwayFrame:
		if !a.final() {
			return true, ErrReset
		}
	}
	return false, nil
}
