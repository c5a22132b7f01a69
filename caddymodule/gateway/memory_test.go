//go:build !race

package gateway

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
)

const memorySite = `	restwarden wordpress {
		login_only
		allow anyone POST /wc/store/v1/batch /wc/store/v1/cart/add-item
		%s
	}
	reverse_proxy %s
`

// startMemorySite starts a gateway as a process of its own, in front of a platform that
// answers at once.
func startMemorySite(t *testing.T, option string) *process {
	t.Helper()
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(backend.Close)
	return startProcess(t, "memory", fmt.Sprintf(memorySite, option, backend.Listener.Addr()))
}

// resident returns the memory of a process, now and at most, in MiB.
func (p *process) resident() (now, most int) {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		p.t.Fatal(err)
	}
	read := func(name string) int {
		m := regexp.MustCompile(name + `:\s*(\d+) kB`).FindSubmatch(text)
		if m == nil {
			p.t.Fatalf("no %s", name)
		}
		n, _ := strconv.Atoi(string(m[1]))
		return n >> 10
	}
	return read("VmRSS"), read("VmHWM")
}

// halfSent opens connections that have sent head and all but the last byte of body.
func (p *process) halfSent(n int, head, body string) (conns []net.Conn) {
	p.t.Helper()
	p.t.Cleanup(func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	for range n {
		conn, err := new(net.Dialer).DialContext(p.t.Context(), "tcp", p.Address)
		if err != nil {
			p.t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	var group sync.WaitGroup
	for _, conn := range conns {
		group.Go(func() {
			_, _ = io.WriteString(conn, head+body[:len(body)-1]) // it may have its answer already
		})
	}
	group.Wait()
	return conns
}

// TestMemory_LargeBodies: 126 clients send 8 MiB each at the same moment. Each gets its
// answer, and the gateway stays far below the size of their bodies.
func TestMemory_LargeBodies(t *testing.T) {
	// All bodies are 1008 MiB. Garbage stands until it is collected: up to 590 MiB were seen.
	const clients, size, bound = 126, 8 << 20, 704
	pad := func(begin, end string) string { return begin + strings.Repeat("x", size-len(begin)-len(end)) + end }
	for name, test := range map[string]struct{ target, contentType, body string }{
		"a form":               {"/", "application/x-www-form-urlencoded", pad("rest_route=/wp/v2/users&a=%41", "")},
		"a batch nobody may":   {"/wp-json/batch/v1", "application/json", pad(`{"requests":[],"a":"`, `"}`)},
		"a batch, then a part": {"/wp-json/wc/store/v1/batch", "application/json", pad(`{"requests":[{"path":"/wp/v2/users","body":{"a":"`, `"}}]}`)},
		"a multipart field":    {"/", "multipart/form-data; boundary=B", pad("--B\r\nContent-Disposition: form-data; name=\"rest_route\"\r\n\r\n", "\r\n--B--\r\n")},
		"multipart in a call":  {"/wp-json/wc/store/v1/batch", "multipart/form-data; boundary=B", pad("--B\r\nContent-Disposition: form-data; name=\"requests[0][path]\"\r\n\r\n/wp/v2/users\r\n--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n", "\r\n--B--\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			p := startMemorySite(t, "")
			head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", test.target, test.contentType, size)
			conns := p.halfSent(clients, head, test.body)
			time.Sleep(200 * time.Millisecond) // some bytes are still on their way
			_, before := p.resident()
			answers := map[int]int{}
			var mu sync.Mutex
			var group sync.WaitGroup
			for _, conn := range conns {
				group.Go(func() {
					_ = conn.SetDeadline(time.Now().Add(time.Minute))
					_, _ = io.WriteString(conn, test.body[len(test.body)-1:]) // it may have its answer already
					res, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil {
						t.Error(err)
						return
					}
					_ = res.Body.Close() // only the status counts
					mu.Lock()
					defer mu.Unlock()
					answers[res.StatusCode]++
				})
			}
			group.Wait()
			_, most := p.resident()
			t.Logf("answers %v; at most %d MiB, %d before the last byte", answers, most, before)
			if most > bound {
				t.Errorf("%d MiB in memory, more than %d", most, bound)
			}
			for status := range maps.Keys(answers) {
				if status < 400 || status >= 500 && status != http.StatusServiceUnavailable {
					t.Errorf("%d answers of status %d", answers[status], status)
				}
			}
		})
	}
}

// TestMemory_HalfSentForms: bytes that have not come take no memory, and those that have
// come take no more than the site's share.
func TestMemory_HalfSentForms(t *testing.T) {
	const clients = 2000
	for name, test := range map[string]struct {
		sent  int
		bound int // KiB per client
	}{"a byte each": {2, 48}, "60,000 bytes each": {60_000, 72}, "100,000 bytes each": {100_000, 72}} {
		t.Run(name, func(t *testing.T) {
			p := startMemorySite(t, "")
			before, _ := p.resident()
			head := "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 8000000\r\n\r\n"
			p.halfSent(clients, head, strings.Repeat("x", test.sent))
			time.Sleep(500 * time.Millisecond)
			after, _ := p.resident()
			each := (after - before) << 10 / clients
			t.Logf("%d KiB a client (%d to %d MiB)", each, before, after)
			if each > test.bound {
				t.Errorf("%d KiB a client, more than %d", each, test.bound)
			}
			// New clients are served.
			if status, _, err := p.send("POST /", "a="+strings.Repeat("x", 100_000), "Content-Type: application/x-www-form-urlencoded"); err != nil || status != http.StatusNoContent {
				t.Errorf("a form of somebody else: %d, %v", status, err)
			}
			for parts, padding := range map[int]int{0: 1 << 20, 3: 0, 25: 0} { // the padded one is read in one piece
				items := strings.Repeat(`,{"path":"/wc/store/v1/cart/add-item","body":{"id":5}}`, parts)
				batch := fmt.Sprintf(`{"requests":[%s],"a":"%s"}`, strings.TrimPrefix(items, ","), strings.Repeat("x", padding))
				if status, _, err := p.send("POST /wp-json/wc/store/v1/batch", batch, "Content-Type: application/json"); err != nil || status != http.StatusNoContent {
					t.Errorf("a batch of %d parts of somebody else: %d, %v", parts, status, err)
				}
			}
		})
	}
}

// TestMemory_Matcher: the matcher rest_call keeps no memory of what it has read.
func TestMemory_Matcher(t *testing.T) {
	m := &MatchRESTCall{Routes: []string{"/wp/v2/posts"}}
	if err := m.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Cleanup(); err != nil {
			t.Error(err)
		}
	}()
	memory, err := pool.Lease(&m.leases, pool.Memory{Limit: budget.MemoryFor(call.DefaultBodyLimit)}, func() (*budget.Memory, error) { panic("it is there") })
	if err != nil {
		t.Fatal(err)
	}
	for target, test := range map[string]struct{ contentType, body string }{
		"/":                               {"application/x-www-form-urlencoded", "rest_route=/wp/v2/posts&a=" + strings.Repeat("x", 1<<20)},
		"/?rest_route=/wc/store/v1/batch": {"application/json", `{"requests":[{"path":"/wp/v2/posts","body":{"a":"` + strings.Repeat("x", 1<<20) + `"}}]}`},
	} {
		r := prepared(httptest.NewRecorder(), target)
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(test.body)), int64(len(test.body))
		r.Header.Set("Content-Type", test.contentType)
		matched, err := m.MatchWithError(r)
		if err != nil || !matched {
			t.Errorf("%s: %t, %v", target, matched, err)
		}
		if held := memory.Bytes(); held > 128<<10 { // except for the beginnings of bodies
			t.Errorf("%s: %d bytes are held", target, held)
		}
	}
}
