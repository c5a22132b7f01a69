package livetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// arrival is one request as it reached a backend.
type arrival struct {
	method string
	target string              // of the request line; of FastCGI, REQUEST_URI
	query  string              // what the platform's $_GET is made of
	header map[string][]string // by canonical name
	params map[string]string   // of FastCGI
	body   *digest
	length string   // Content-Length, "" where chunked
	whole  bool     // the body came to its end
	after  []string // trailer lines
}

// path is the target without its query.
func (a *arrival) path() string {
	path, _, _ := strings.Cut(a.target, "?")
	return path
}

// backend is a server that writes down what reaches it and answers as a
// platform might. It reads requests with its own few lines, so that nothing is
// repaired before it is seen.
type backend struct {
	address string

	mu       sync.Mutex
	arrived  map[string][]*arrival // by marker
	unmarked []*arrival            // came round the witness
}

// newBackend starts an HTTP backend.
func newBackend(tb testing.TB) *backend {
	tb.Helper()
	return listen(tb, (*backend).serveHTTP)
}

// listen starts a backend that serves connections until the test ends.
func listen(tb testing.TB, serve func(*backend, net.Conn)) *backend {
	tb.Helper()
	l := machine.Listener(tb)
	b := &backend{address: l.Addr().String(), arrived: map[string][]*arrival{}}
	var open sync.Map
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(conn, true)
			running.Go(func() {
				defer open.Delete(conn)
				defer func() { _ = conn.Close() }()
				serve(b, conn)
			})
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		open.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
		running.Wait()
	})
	return b
}

func (b *backend) proxied() string { return "\treverse_proxy " + b.address + "\n" }

// note writes a down before it is answered. What was cut off is no request.
func (b *backend) note(a *arrival) {
	if !a.whole {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := a.header[marker]; len(m) == 1 {
		b.arrived[m[0]] = append(b.arrived[m[0]], a)
	} else {
		b.unmarked = append(b.unmarked, a)
	}
}

// take returns and forgets the requests with number n.
func (b *backend) take(n int) []*arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.arrived[strconv.Itoa(n)]
	delete(b.arrived, strconv.Itoa(n))
	return found
}

// questions are the gateway's own requests so far.
func (b *backend) questions() []*arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.arrived[question])
}

// rest is what arrived and was not taken, the gateway's questions aside.
func (b *backend) rest() []*arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.unmarked
	for m, arrived := range b.arrived {
		if m != question {
			all = append(all, arrived...)
		}
	}
	return all
}

func (b *backend) serveHTTP(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		a, err := b.readHTTP(r, conn)
		if a != nil {
			b.note(a)
		}
		if err != nil {
			return
		}
		status, body := b.answer(a)
		_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n")
		if a.method != http.MethodHead {
			_, _ = io.WriteString(conn, body)
		}
	}
}

// subscription is the only record that is no order (docs/platform III.3).
const subscription = 987654

// answer is what a platform with no users and nothing but orders, and one
// subscription, says.
func (b *backend) answer(a *arrival) (status, body string) {
	asked := len(a.header[marker]) == 1 && a.header[marker][0] == question
	order := "/orders/" + strconv.Itoa(subscription)
	decoded, _ := url.QueryUnescape(a.target) // "" names nothing
	switch {
	case asked && strings.Contains(decoded, order+"/notes/0"):
		return "404 Not Found", `{"code":"woocommerce_rest_order_invalid_id","message":"Invalid order ID.","data":{"status":404}}`
	case asked && strings.Contains(decoded, order):
		return "200 OK", fmt.Sprintf(`{"id":%d}`, subscription)
	case asked && strings.Contains(a.target, "notes"):
		return "404 Not Found", `{"code":"woocommerce_rest_invalid_id","message":"Invalid resource ID.","data":{"status":404}}`
	case asked && strings.Contains(a.target, "users"):
		return "401 Unauthorized", `{"code":"rest_not_logged_in","message":"You are not currently logged in.","data":{"status":401}}`
	case asked:
		return "200 OK", `{"namespaces":["wp/v2","wc/v3"],"routes":{}}`
	}
	return "200 OK", `{}`
}

// readHTTP reads one request. The arrival is nil where not even a head came.
func (b *backend) readHTTP(r *bufio.Reader, conn net.Conn) (*arrival, error) {
	tr := textproto.NewReader(r)
	line, err := tr.ReadLine()
	if err != nil {
		return nil, err
	}
	a := &arrival{header: map[string][]string{}, body: digestOf(nil)}
	a.method, a.target, _ = strings.Cut(line, " ")
	a.target = strings.TrimSuffix(a.target, " HTTP/1.1")
	_, a.query, _ = strings.Cut(a.target, "?")
	for {
		line, err := tr.ReadLine()
		if err != nil {
			return a, err
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		name = http.CanonicalHeaderKey(name)
		a.header[name] = append(a.header[name], strings.TrimSpace(value))
	}
	if a.header["Expect"] != nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	if err := a.readBody(r, tr); err != nil {
		return a, err
	}
	a.whole = true
	return a, nil
}

func (a *arrival) readBody(r *bufio.Reader, tr *textproto.Reader) error {
	if lengths := a.header["Content-Length"]; len(lengths) > 0 {
		a.length = strings.Join(lengths, ",")
		n, err := strconv.ParseInt(a.length, 10, 64)
		if err != nil {
			return err
		}
		_, err = io.CopyN(a.body, r, n)
		return err
	}
	if a.header["Transfer-Encoding"] == nil {
		return nil
	}
	for {
		line, err := tr.ReadLine()
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(line, 16, 64)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if _, err := io.CopyN(a.body, r, n); err != nil {
			return err
		}
		if _, err := tr.ReadLine(); err != nil {
			return err
		}
	}
	for { // trailers
		line, err := tr.ReadLine()
		if err != nil || line == "" {
			return err
		}
		a.after = append(a.after, line)
	}
}
