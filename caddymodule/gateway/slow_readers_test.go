//go:build !race

package gateway

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/heap"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/policy"
)

// embedding is a page of long posts with embedded authors, of some size.
func embedding(size int) []byte {
	post := `{"id":1,"content":"` + strings.Repeat("lorem ipsum dolor sit amet, ", 300) + `","_links":{"author":[{"href":"/wp-json/wp/v2/users/1"}]},"_embedded":{"author":[{"slug":"admin","link":"/author/admin"}]}}`
	return []byte("[" + post + strings.Repeat(","+post, size/len(post)) + "]")
}

// unread sends n requests by clients of one address each, whose answers nobody reads.
func (g *gateway) unread(n int, target string) (conns []net.Conn) {
	g.t.Helper()
	for i := range n {
		conns = append(conns, g.unreadBy(i+1, target))
	}
	return conns
}

// unreadBy sends a request by one of up to 254 clients, who does not read the answer.
func (g *gateway) unreadBy(client int, target string) net.Conn {
	g.t.Helper()
	conn, err := new(net.Dialer).DialContext(g.t.Context(), "tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.%d\r\n\r\n", target, client); err != nil {
		g.t.Fatal(err)
	}
	return conn
}

// TestSlowReaders: of answers that are rewritten, and that many clients do not read, the
// gateway holds in memory what the shares count and little more. All is given back when the
// clients are gone.
func TestSlowReaders(t *testing.T) {
	const (
		clients = 60
		small   = 128 << 10 // of each connection: its buffers, and those of the proxy
	)
	answer := embedding(6 << 20) // the kernel takes up to 4 MiB of it
	p := newPlatform(t)
	begun := make(chan struct{}, clients)
	p.answerCalls(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(answer)
		begun <- struct{}{}
	})
	g := startFile(t, &caddyrun.File{Global: caddyrun.TrustLoopback, Sites: []caddyrun.Site{{Body: "\trestwarden wordpress {\n\t\tredact authors\n\t}\n" + p.proxied()}}})
	g.do("GET /wp-json/wp/v2/posts?_embed", "").want(t, 200, `"slug":"[redacted]"`)
	<-begun
	before, counted := heap.Live(), pool.BufferedBytes()
	var conns []net.Conn
	for len(conns) < clients { // few at a time: who waits too long for the memory to rewrite in gets 503
		conns = append(conns, g.unread(4, "/wp-json/wp/v2/posts?_embed")...)
		for range 4 {
			select {
			case <-begun:
			case <-time.After(time.Minute):
				t.Fatal("an answer is not taken from the platform")
			}
		}
		wait.For(t, time.Minute, "an answer is on disk", func() bool { return pool.SpooledBytes() >= float64(len(conns)*(6<<20-64<<10)) })
	}
	var held, shares int64
	wait.For(t, time.Minute, "the answers are rewritten", func() bool {
		held, shares = heap.Live()-before, int64(pool.BufferedBytes()-counted)
		return pool.SpooledBytes() >= clients*(6<<20-64<<10) && shares <= clients*64<<10 && held <= shares+clients*small
	})
	t.Logf("%d KiB are held, of which the shares count %d, and %d on disk", held>>10, shares>>10, int64(pool.SpooledBytes())>>10)
	if least, most := float64(clients*(len(answer)-64<<10)), float64(clients*len(answer)); pool.SpooledBytes() < least || pool.SpooledBytes() > most {
		t.Errorf("%.0f bytes are on disk, and not between %.0f and %.0f", pool.SpooledBytes(), least, most)
	}
	if got := g.do("GET /wp-json/wp/v2/posts?_embed", ""); got.status != 200 || len(got.body) < len(answer) {
		t.Errorf("somebody who reads: %d, %d bytes", got.status, len(got.body))
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	wait.For(t, time.Minute, "all is given back", func() bool { return pool.SpooledBytes() == 0 && pool.BufferedBytes() == counted })
}

// TestSlowReaders_Full: where clients who do not read hold what their site may, an answer that
// must be rewritten is a 503 whose record says why. Uploads and other sites have room.
func TestSlowReaders_Full(t *testing.T) {
	answer := embedding(6 << 20)
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if isQuestion(r) || strings.HasPrefix(r.URL.Path, "/page") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
		return true
	})
	site := "\trestwarden wordpress {\n\t\tredact authors\n\t\tspool_limit 128MiB\n\t}\n" + p.proxied() // a site: 16 MiB of answers
	g := startFile(t, &caddyrun.File{Global: caddyrun.TrustLoopback, Sites: []caddyrun.Site{{Body: site}, {Body: site}}})
	const target = "GET /wp-json/wp/v2/posts?_embed"
	var conns []net.Conn
	for client := 1; client <= 2; client++ { // one after the other: of answers that come together, all may be refused
		conn := g.unreadBy(client, strings.TrimPrefix(target, "GET "))
		conns = append(conns, conn)
		begin := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, begin); err != nil || string(begin) != "HTTP/1.1 200" {
			t.Fatalf("%q, %v", begin, err)
		}
	}
	if got := g.do(target, "", "X-Forwarded-For: 192.0.2.99"); got.status != 503 {
		t.Errorf("the share is used up, and the answer is %d", got.status)
	}
	for _, want := range []string{`"rule":"spool_limit"`, `"policy":"redact"`, "the share of the site is used up"} {
		if !strings.Contains(g.logged(), want) {
			t.Errorf("no %s in the log", want)
		}
	}
	if got := g.do("POST /page", "a="+strings.Repeat("x", 400_000), form); got.status != 200 {
		t.Errorf("a form: %d", got.status)
	}
	other := *g
	other.url = "http://" + g.file.Sites[1].Address
	if got := other.do(target, ""); got.status != 200 {
		t.Errorf("another site: %d", got.status)
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	eventually(t, "all is given back", func() bool { return pool.SpooledBytes() == 0 && pool.BufferedBytes() == 0 })
}

// TestSlowReaders_Ends: an answer gives back what it holds, however it ends.
func TestSlowReaders_Ends(t *testing.T) {
	answer := string(embedding(300 << 10))
	for name, test := range map[string]struct {
		line   string
		answer func(w http.ResponseWriter)
		status int
	}{
		"whole": {"GET", func(w http.ResponseWriter) { _, _ = io.WriteString(w, answer) }, 200},
		"HEAD":  {"HEAD", func(http.ResponseWriter) {}, 200},
		"error": {"GET", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, answer)
		}, http.StatusInternalServerError},
		"not JSON": {"GET", func(w http.ResponseWriter) { _, _ = io.WriteString(w, answer+"}") }, 503},
		"too large": {"GET", func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, strings.Repeat(answer, rewriteLimit/len(answer)+1))
		}, 503},
		"breaks off": {"GET", func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, answer)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 503},
		"gzip": {"GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, answer)
			_ = z.Close()
		}, 200},
		"gzip, too large": {"GET", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, strings.Repeat("x", rewriteLimit+1))
			_ = z.Close()
		}, 503},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.answerCalls(func(w http.ResponseWriter, _ *http.Request) {
				test.answer(w)
			})
			g := startGateway(t, "\trestwarden wordpress {\n\t\tredact authors\n\t}\n"+p.proxied())
			got := g.do(test.line+" /wp-json/wp/v2/posts?_embed", "")
			if got.status != test.status || test.line == "GET" && got.status == 200 && (len(got.body) < len(answer) || strings.Contains(got.body, `"slug":"admin"`)) {
				t.Errorf("%d, %d bytes", got.status, len(got.body))
			}
			// A client that goes away in the middle.
			conn := g.unread(1, "/wp-json/wp/v2/posts?_embed")[0]
			_, _ = bufio.NewReader(conn).ReadByte()
			_ = conn.Close()
			eventually(t, "all is given back", func() bool { return pool.SpooledBytes() == 0 && pool.BufferedBytes() == 0 })
		})
	}
}

// slowReader is a client that takes its answer only once it may.
type slowReader struct {
	http.ResponseWriter
	begun chan struct{}
	may   chan struct{}
	once  sync.Once
}

// Write implements http.ResponseWriter.
func (w *slowReader) Write(b []byte) (int, error) {
	w.once.Do(func() { close(w.begun) })
	<-w.may
	return w.ResponseWriter.Write(b)
}

// TestSlowReaders_Refused: a refusal in the platform's own words, or with a cart, is counted until
// the client has taken it, and held nowhere else.
func TestSlowReaders_Refused(t *testing.T) {
	const size = 1 << 20
	for name, verdict := range map[string]func() policy.Verdict{
		"the platform's answer": func() policy.Verdict {
			page := []byte("<html>" + strings.Repeat("x", size))
			return policy.Verdict{Status: 403, Answer: &ask.Answer{Status: 403, Header: http.Header{"Content-Type": {"text/html"}}, Body: page}}
		},
		"a cart": func() policy.Verdict {
			cart := json.RawMessage(`{"items":["` + strings.Repeat("x", size) + `"]}`)
			return policy.Verdict{Status: 409, Code: "x", Data: map[string]any{"cart": cart}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := provisioned(t, `{"platform":"wordpress"}`)
			client := httptest.NewRecorder()
			w := &slowReader{ResponseWriter: client, begun: make(chan struct{}), may: make(chan struct{})}
			r := prepared(w, "/wp-json/wc/v3/orders/5")
			s := g.sites[0]
			x := new(exchange)
			s.begin(x, r, nil, s.reader.Read(r, nil), varsOf(r))
			ended, before := make(chan error, 1), heap.Live()
			go func() { ended <- s.refuse(w, x, verdict()) }()
			<-w.begun
			if held := pool.BufferedBytes() + pool.SpooledBytes(); held < size-4<<10 { // one piece is on its way
				t.Errorf("%.0f bytes are counted", held)
			}
			if live := heap.Live() - before; live > size/2 {
				t.Errorf("%d bytes are in memory", live)
			}
			close(w.may)
			want, err := textOf(verdict())
			if sent := <-ended; sent != nil || err != nil || client.Code != verdict().Status || client.Body.String() != string(want) {
				t.Errorf("%v, %v, %d, %d bytes", sent, err, client.Code, client.Body.Len())
			}
			if held := pool.BufferedBytes() + pool.SpooledBytes(); held != 0 {
				t.Errorf("%.0f bytes are still counted", held)
			}
		})
	}
}
