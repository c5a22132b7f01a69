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

// questionTime bounds one question.
const questionTime = 30 * time.Second

// ask runs the script with in and returns what it printed. It speaks FastCGI itself
// since PHP must get each input byte for byte: Caddy's client cuts values.
func (s *server) ask(ctx context.Context, in *input) ([]byte, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", s.socket)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // it has been read to its end
	if err := conn.SetDeadline(time.Now().Add(questionTime)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	record(&out, beginRequest, []byte{0, 1, 0, 0, 0, 0, 0, 0}) // a responder, for this once
	stream(&out, params, environment(in, s.script), maxRecord)
	stream(&out, stdin, []byte(in.body), max(1, min(in.record, maxRecord)))
	if _, err := conn.Write(out.Bytes()); err != nil {
		return nil, err
	}
	return readAnswer(bufio.NewReader(conn))
}

var errNoAnswer = errors.New("PHP has not answered")

// readAnswer returns the body of what the script printed.
func readAnswer(in *bufio.Reader) ([]byte, error) {
	var answer []byte
	for {
		kind, content, err := readRecord(in)
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

func environment(in *input, script string) []byte {
	var b []byte
	for _, pair := range [][2]string{
		{"SCRIPT_FILENAME", script},
		{"SCRIPT_NAME", "/vars.php"},
		{"REQUEST_URI", "/vars.php"},
		{"SERVER_PROTOCOL", "HTTP/1.1"},
		{"REQUEST_METHOD", in.method},
		{"QUERY_STRING", in.query},
		{"CONTENT_TYPE", in.contentType},
		{"CONTENT_LENGTH", strconv.Itoa(len(in.body))},
	} {
		for _, s := range pair {
			b = binary.BigEndian.AppendUint32(b, uint32(len(s))|1<<31)
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

func readRecord(in *bufio.Reader) (kind byte, content []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	n := int(binary.BigEndian.Uint16(head[4:]))
	content = make([]byte, n+int(head[6]))
	_, err = io.ReadFull(in, content)
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
