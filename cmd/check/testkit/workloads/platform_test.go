package workloads

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestPlatform: it takes bodies of any size, and one of its questions is slow.
func TestPlatform(t *testing.T) {
	t.Parallel()
	l := machine.Listener(t)
	var p Platform
	go p.Serve(l)
	c, err := NewClient(t.Context(), "tcp", l.Addr().String(), &Workload{Method: "GET", Target: "/wp-json/wp/v2/users/me"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	large := Workload{Method: "POST", Target: "/", Body: strings.Repeat("x", 1<<20)}
	if err := errors.Join(c.Send(large.Request("a")), c.Do()); err != nil {
		t.Fatal(err)
	}
	const wait = 20 * time.Millisecond
	p.Slow(wait)
	start := time.Now()
	for range 2 * slowOf {
		if err := c.Do(); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 2*wait {
		t.Errorf("it took %s, two questions alone take %s", took, 2*wait)
	}
}

// TestClient_Ended: a connection that has ended without an answer is told from an answer that is cut.
func TestClient_Ended(t *testing.T) {
	t.Parallel()
	for answer, ended := range map[string]bool{"": true, "HTTP/1.1 200": false} {
		l := machine.Listener(t)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1024))
			_, _ = conn.Write([]byte(answer))
			_ = conn.Close()
		}()
		c, err := NewClient(t.Context(), "tcp", l.Addr().String(), &All[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Do(); err == nil || errors.Is(err, ErrEnded) != ended {
			t.Errorf("%q: %v", answer, err)
		}
		_ = c.Close()
	}
}
