package rawhttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
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
	c, err := NewHTTP2(conn)
	if err != nil {
		return Answer{}, err
	}
	return c.Do(r)
}

// HTTP2Conn is a connection for several requests, one after another.
type HTTP2Conn struct {
	framer *http2.Framer
	block  bytes.Buffer
	fields *hpack.Encoder
	stream uint32 // of the last request

	mu      sync.Mutex // of all that is below, and of what is written
	changed *sync.Cond
	initial int // of a stream's window
	whole   int // window of the connection
	open    int // window of the stream
	ended   bool
}

// NewHTTP2 begins to speak HTTP/2 on conn.
func NewHTTP2(conn net.Conn) (*HTTP2Conn, error) {
	const initial = 65535 // RFC 9113, 6.9.2
	c := &HTTP2Conn{framer: http2.NewFramer(conn, conn), stream: ^uint32(0), initial: initial, whole: initial}
	c.changed = sync.NewCond(&c.mu)
	c.fields = hpack.NewEncoder(&c.block)
	c.framer.AllowIllegalWrites = true
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err := io.WriteString(conn, http2.ClientPreface)
	err = errors.Join(err, c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}), c.framer.WriteWindowUpdate(0, window))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReset, err)
	}
	return c, nil
}

// Do sends r and reads the answer. After an error the connection is of no use.
func (c *HTTP2Conn) Do(r Request) (Answer, error) {
	c.mu.Lock()
	c.stream += 2
	c.open, c.ended = c.initial, false
	c.mu.Unlock()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.send(r) // fails where the server has refused early
	}()
	if r.Reset { // nobody need answer; the windows may open meanwhile
		go func() {
			_, _ = c.read()
			c.update(func() { c.ended = true })
		}()
		<-sent
		return Answer{}, ErrReset
	}
	a, err := c.read()
	c.update(func() { c.ended = true })
	if err == nil {
		<-sent
	}
	return a, err
}

// update changes what send waits for.
func (c *HTTP2Conn) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.changed.Broadcast()
}

func (c *HTTP2Conn) send(r Request) {
	trailed := r.Trailer != nil || r.Reset
	c.headers(r.Fields, r.Body == "" && !trailed && !r.EmptyData)
	if r.Grease {
		c.write(func() error { return c.framer.WriteRawFrame(0x0b, 0, c.stream, []byte("grease")) })
	}
	if r.Body != "" || r.EmptyData {
		r.body(func(part string, last bool) { c.data(part, last && !trailed) })
	}
	if r.Trailer != nil {
		c.headers(r.Trailer, true)
	}
	if r.Reset {
		c.write(func() error { return c.framer.WriteRSTStream(c.stream, http2.ErrCodeCancel) })
	}
}

// data sends a part of the body; end ends the stream with it.
func (c *HTTP2Conn) data(part string, end bool) {
	if part == "" {
		c.write(func() error { return c.framer.WriteData(c.stream, end, nil) })
	}
	for part != "" {
		n := c.take(len(part))
		if n == 0 {
			return
		}
		c.write(func() error { return c.framer.WriteData(c.stream, end && n == len(part), []byte(part[:n])) })
		part = part[n:]
	}
}

// write writes one frame, unless the answer has come.
func (c *HTTP2Conn) write(frame func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		_ = frame() // fails where the server has refused early
	}
}

func (c *HTTP2Conn) headers(fields []Field, end bool) {
	c.write(func() error {
		c.block.Reset()
		for _, f := range fields {
			_ = c.fields.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value}) // a Buffer takes everything
		}
		const most = 16 << 10 // of a frame
		block := c.block.Bytes()
		first := min(most, len(block))
		err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block[:first], EndHeaders: first == len(block), EndStream: end})
		for block = block[first:]; len(block) > 0 && err == nil; {
			n := min(most, len(block))
			err = c.framer.WriteContinuation(c.stream, n == len(block), block[:n])
			block = block[n:]
		}
		return err
	})
}

// take returns how much of n bytes may be sent now, 0 once the answer has come.
func (c *HTTP2Conn) take(n int) int {
	const most = 16 << 10 // of a frame
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.ended && (c.whole <= 0 || c.open <= 0) {
		c.changed.Wait()
	}
	if c.ended {
		return 0
	}
	n = min(n, most, c.whole, c.open)
	c.whole, c.open = c.whole-n, c.open-n
	return n
}

func (c *HTTP2Conn) read() (a Answer, err error) {
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return a, fmt.Errorf("%w: %w", ErrReset, err)
		}
		if id := frame.Header().StreamID; id != 0 && id != c.stream {
			continue // the end of an earlier one
		}
		c.control(frame)
		if ended, err := a.take(frame); ended || err != nil {
			return a, err
		}
	}
}

// control takes what a frame says of the windows.
func (c *HTTP2Conn) control(frame http2.Frame) {
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if size, ok := frame.Value(http2.SettingInitialWindowSize); ok && !frame.IsAck() {
			c.update(func() { c.open, c.initial = c.open+int(size)-c.initial, int(size) })
		}
	case *http2.WindowUpdateFrame:
		c.update(func() {
			if frame.StreamID == 0 {
				c.whole += int(frame.Increment)
			} else {
				c.open += int(frame.Increment)
			}
		})
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
		if frame.ErrCode != http2.ErrCodeNo && !a.final() { // else what is under way goes on
			return true, ErrReset
		}
	}
	return false, nil
}
