package rawhttp

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"with a length": Bytes("POST /a", "a=b", "X-A: b"),
		"in chunks":     ChunkedBytes("POST /a", "a=b", 2, "X-A: b"),
	} {
		var body strings.Builder
		r, err := Parse(raw, &body)
		if err != nil || r.RequestURI != "/a" || r.Header.Get("X-A") != "b" || body.String() != "a=b" {
			t.Errorf("%s: %v, %v, %q", name, r, err, body.String())
		}
		if _, err := Parse(raw[:len(raw)-1], io.Discard); err == nil {
			t.Errorf("%s: half a request is whole", name)
		}
	}
}

// TestHTTP1: informational answers are passed over, what follows the first final
// one is in Raw, and a server that says nothing is an error in the end.
func TestHTTP1(t *testing.T) {
	t.Parallel()
	const answers = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nX-A: b\r\nContent-Length: 2\r\n\r\nnoHTTP/1.1 200 OK\r\n\r\n"
	l := machine.Listener(t)
	go func() {
		for _, answer := range []string{answers, "garbage", ""} {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, answer)
			if answer != "" {
				_ = conn.Close()
			}
		}
	}()
	x, err := HTTP1(t.Context(), l.Addr().String(), Bytes("GET /", ""))
	if err != nil || x.Status != 404 || string(x.Body) != "no" || x.Header.Get("X-A") != "b" || string(x.Raw) != answers {
		t.Errorf("%+v, %v", x, err)
	}
	if x, err = HTTP1(t.Context(), l.Addr().String(), Bytes("GET /", "")); err != nil || x.Status != 0 {
		t.Errorf("%+v, %v", x, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := HTTP1(ctx, l.Addr().String(), Bytes("GET /", "")); err == nil {
		t.Error("no error without an answer")
	}
}
