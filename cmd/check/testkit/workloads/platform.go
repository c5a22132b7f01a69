package workloads

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
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
func Serve(l net.Listener) { new(Platform).Serve(l) }

// Platform answers each request at once, but for questions that are slow.
type Platform struct {
	wait  atomic.Int64 // of a slow question, in nanoseconds; 0 where all are fast
	asked atomic.Int64 // questions
}

// slowOf: one of so many questions is slow.
const slowOf = 20

// Slow makes one of 20 questions take wait from now on, or none where it is 0.
func (p *Platform) Slow(wait time.Duration) { p.wait.Store(int64(wait)) }

// Serve answers what comes on l until l is closed.
func (p *Platform) Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go p.serve(conn)
	}
}

// think takes the time that a question takes.
func (p *Platform) think() {
	if wait := p.wait.Load(); wait > 0 && p.asked.Add(1)%slowOf == 0 {
		time.Sleep(time.Duration(wait))
	}
}

func (p *Platform) serve(conn net.Conn) {
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
			if answers[i].line != nil {
				p.think()
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
// following call. Of a body that is longer than the buffer nothing is kept.
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
			m.last = end + 4 + length
			if m.last > len(m.buffer) {
				return head, m.skip(len(head))
			}
			if m.n >= m.last {
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

// skip reads the rest of a message whose head is kept, and whose last byte is no part of the
// buffer.
func (m *messages) skip(head int) error {
	for left := m.last - m.n; left > 0; {
		n, err := m.conn.Read(m.buffer[head:min(len(m.buffer), head+left)])
		if left -= n; err != nil {
			return err
		}
	}
	m.n, m.last = head, head
	return nil
}

var lengthField = []byte("\r\nContent-Length: ")

func contentLength(head []byte) (int, error) {
	_, digits, found := bytes.Cut(head, lengthField)
	if !found {
		return 0, nil
	}
	return strconv.Atoi(string(digits[:bytes.IndexByte(digits, '\r')]))
}
