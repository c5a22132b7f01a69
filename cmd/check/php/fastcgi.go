package php

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Types of records (FastCGI specification, section 8).
const (
	beginRequest = 1
	endRequest   = 3
	params       = 4
	stdin        = 5
	stdout       = 6

	maxRecord = 65535
)

// client is a connection to php-fpm that asks one question after the other. It is
// our own since PHP must get each input byte for byte: Caddy's client cuts values.
type client struct {
	server *server
	conn   net.Conn
	in     *bufio.Reader
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close() // it has been read to its end
	}
	c.conn = nil
}

// questionTime bounds one question.
const questionTime = 30 * time.Second

// ask runs the script with in and returns what it printed.
func (c *client) ask(ctx context.Context, in *input) ([]byte, error) {
	if c.conn == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", c.server.socket)
		if err != nil {
			return nil, err
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
	answer, err := c.exchange(in)
	if err != nil {
		c.close()
	}
	return answer, err
}

func (c *client) exchange(in *input) ([]byte, error) {
	if err := c.conn.SetDeadline(time.Now().Add(questionTime)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	record(&out, beginRequest, []byte{0, 1, 1, 0, 0, 0, 0, 0}) // a responder; the connection stays
	stream(&out, params, environment(in, c.server.script), maxRecord)
	stream(&out, stdin, []byte(in.body), max(1, min(in.record, maxRecord)))
	if _, err := c.conn.Write(out.Bytes()); err != nil {
		return nil, err
	}
	var answer []byte
	for {
		kind, content, err := c.read()
		if err != nil {
			return nil, err
		}
		switch kind {
		case stdout:
			answer = append(answer, content...)
		case endRequest:
			_, body, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
			if !ok {
				return nil, fmt.Errorf("%w: %.200q", errNoAnswer, answer)
			}
			return body, nil
		}
	}
}

var errNoAnswer = errors.New("PHP has not answered")

func environment(in *input, script string) []byte {
	var b []byte
	for _, pair := range [][2]string{
		{"SCRIPT_FILENAME", script}, {"SCRIPT_NAME", "/vars.php"}, {"REQUEST_URI", "/vars.php"}, {"SERVER_PROTOCOL", "HTTP/1.1"},
		{"REQUEST_METHOD", in.method}, {"QUERY_STRING", in.query}, {"CONTENT_TYPE", in.contentType}, {"CONTENT_LENGTH", strconv.Itoa(len(in.body))},
	} {
		for _, s := range pair {
			b = binary.BigEndian.AppendUint32(b, uint32(len(s))|1<<31) //nolint:gosec // far below 2^31
		}
		b = append(append(b, pair[0]...), pair[1]...)
	}
	return b
}

// stream writes content in records of at most size bytes, and its end.
func stream(out *bytes.Buffer, kind byte, content []byte, size int) {
	for len(content) > 0 {
		n := min(size, len(content))
		record(out, kind, content[:n])
		content = content[n:]
	}
	record(out, kind, nil)
}

func record(out *bytes.Buffer, kind byte, content []byte) {
	n := len(content)
	out.Write([]byte{1, kind, 0, 1, byte(n >> 8), byte(n), 0, 0})
	out.Write(content)
}

func (c *client) read() (kind byte, content []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := int(binary.BigEndian.Uint16(head[4:]))
	content = make([]byte, n+int(head[6]))
	_, err = io.ReadFull(c.in, content)
	return head[1], content[:n], err
}

// list is an answer taken apart: four serialized values, each with its length.
type list struct{ get, post, files, raw string }

var errOddAnswer = errors.New("not what the script prints")

func parse(answer []byte) (*list, error) {
	var found list
	rest := string(answer)
	for _, into := range []*string{&found.get, &found.post, &found.files, &found.raw} {
		length, tail, ok := strings.Cut(rest, ":")
		n, err := strconv.Atoi(length)
		if !ok || err != nil || n < 0 || n > len(tail) {
			return nil, errOddAnswer
		}
		*into, rest = tail[:n], tail[n:]
	}
	if rest != "" {
		return nil, errOddAnswer
	}
	return &found, nil
}
