package workloads

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// answers are what the platform says to the gateway's questions, by text in the request
// line. The last one is for everything else.
var answers = []struct {
	line   []byte
	answer []byte
}{
	{[]byte("/users/me"), answer(200, `{"id":2,"roles":["editor"],"capabilities":{"edit_posts":true}}`)},
	{[]byte("/orders?"), answer(200, `[]`)},
	{[]byte("/notes/0"), answer(404, `{"code":"woocommerce_rest_invalid_id","message":"Invalid resource ID.","data":{"status":404}}`)},
	{[]byte(" /wp-json/ "), answer(200, `{"name":"Shop","url":"http://localhost","home":"http://localhost","namespaces":["wp/v2","wc/v3"],"routes":{}}`)},
	{nil, answer(200, `{"data":"`+strings.Repeat("x", 1000)+`"}`)},
}

func answer(status int, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d Status\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// Serve is a platform that answers each request on l at once, until l is closed.
func Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	message := messages{conn: conn}
	for {
		head, err := message.next()
		if err != nil {
			return
		}
		line := head[:bytes.IndexByte(head, '\n')]
		for i := range answers {
			if answers[i].line != nil && !bytes.Contains(line, answers[i].line) {
				continue
			}
			if _, err := conn.Write(answers[i].answer); err != nil {
				return
			}
			break
		}
	}
}

// messages reads the messages of a connection, whose bodies have a Content-Length or are
// empty.
type messages struct {
	conn   net.Conn
	buffer [16 << 10]byte
	n      int // bytes in buffer
	last   int // of these, the message before
}

// next returns the head of the next message, with the empty line. It counts until the
// following call.
func (m *messages) next() (head []byte, err error) {
	m.n = copy(m.buffer[:], m.buffer[m.last:m.n])
	m.last = 0
	for {
		if end := bytes.Index(m.buffer[:m.n], []byte("\r\n\r\n")); end >= 0 {
			head = m.buffer[:end+4]
			length, err := contentLength(head)
			if err != nil {
				return nil, err
			}
			if m.last = end + 4 + length; m.n >= m.last {
				return head, nil
			}
		}
		if m.n == len(m.buffer) {
			return nil, fmt.Errorf("a message of more than %d bytes", m.n)
		}
		n, err := m.conn.Read(m.buffer[m.n:])
		if m.n += n; err != nil {
			return nil, err
		}
	}
}

var lengthField = []byte("\r\nContent-Length: ")

func contentLength(head []byte) (int, error) {
	_, digits, found := bytes.Cut(head, lengthField)
	if !found {
		return 0, nil
	}
	return strconv.Atoi(string(digits[:bytes.IndexByte(digits, '\r')]))
}
