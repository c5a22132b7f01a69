package wire

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// TestRecord: two servers one after the other, on kept connections, with chunks and without,
// in the clear and over TLS.
func TestRecord(t *testing.T) {
	answer := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, text+string(body))
			if r.URL.Path == "/chunks" {
				_ = http.NewResponseController(w).Flush()
				_, _ = io.WriteString(w, "more")
			}
		})
	}
	for name, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
		t.Run(name, func(t *testing.T) {
			var certificate *tls.Certificate
			one, two := start(answer("one")), start(answer("two"))
			defer one.Close()
			defer two.Close()
			if one.TLS != nil {
				certificate = &one.TLS.Certificates[0]
			}
			r := Record(t, certificate)
			ask := func(c *http.Client, line, body, want string) {
				t.Helper()
				req, err := client.Request(t.Context(), r.URL(), line, body)
				if err != nil {
					t.Fatal(err)
				}
				got, err := client.Do(c, req)
				if err != nil || got.Body != want {
					t.Fatal(got, err)
				}
			}
			r.Lead(one.Listener.Addr().String())
			c := one.Client()
			ask(c, "GET /", "", "one")
			ask(c, "POST /chunks?x=1", "given ", "onegiven more")
			all, err := r.Take()
			if err != nil || len(all) != 2 {
				t.Fatal(all, err)
			}
			x := all[1]
			if x.Method != http.MethodPost || x.Target != "/chunks?x=1" || x.Status != 200 || string(x.Body) != "onegiven more" ||
				!strings.HasPrefix(string(x.Head), "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(string(x.Head), "\r\n\r\n") ||
				!strings.HasSuffix(string(x.Request), "\r\n\r\ngiven ") {
				t.Errorf("%+v\n%s\n%s", x, x.Request, x.Head)
			}
			c.CloseIdleConnections()
			r.Lead(two.Listener.Addr().String())
			ask(c, "GET /", "", "two")
			if again, err := r.Take(); err != nil || len(again) != 1 {
				t.Error(again, err)
			}
		})
	}
}

// TestRecord_BrokenOff: an answer that ends early is an error.
func TestRecord_BrokenOff(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "short")
	}))
	defer s.Close()
	r := Record(t, nil)
	r.Lead(s.Listener.Addr().String())
	if _, err := rawhttp.HTTP1(t.Context(), r.Address(), rawhttp.Bytes("GET /", "")); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Take(); err == nil || len(all) != 0 {
		t.Errorf("%v, %v, want an error", all, err)
	}
}

func TestCompare(t *testing.T) {
	answer := func(head, body string) []Exchange {
		return []Exchange{{Method: "GET", Target: "/a?n=1", Head: []byte("HTTP/1.1 200 OK\r\n" + head + "\r\n"), Body: []byte(body)}}
	}
	may := []rawhttp.Field{{Name: "Date"}, {Name: "Cache-Control", Value: "no-store"}}
	first := answer("Date: 1\r\nX: a\r\nCache-Control: public\r\nContent-Length: 4\r\n", "body")
	for name, tt := range map[string]struct {
		second []Exchange
		same   bool
	}{
		"the same":               {first, true},
		"fields that may differ": {answer("date: 2\r\nX: a\r\nCache-Control: no-store\r\nContent-Length: 4\r\n", "body"), true},
		"another value":          {answer("X: a\r\nCache-Control: private\r\nContent-Length: 4\r\n", "body"), false},
		"another order":          {answer("Cache-Control: public\r\nX: a\r\nContent-Length: 4\r\n", "body"), false},
		"another case":           {answer("x: a\r\nCache-Control: public\r\nContent-Length: 4\r\n", "body"), false},
		"one field more":         {answer("X: a\r\nY: b\r\nCache-Control: public\r\nContent-Length: 4\r\n", "body"), false},
		"another body":           {answer("X: a\r\nCache-Control: public\r\nContent-Length: 4\r\n", "Body"), false},
		"another status":         {[]Exchange{{Method: "GET", Target: "/a", Head: []byte("HTTP/1.1 201 Created\r\nX: a\r\nCache-Control: public\r\nContent-Length: 4\r\n\r\n"), Body: []byte("body")}}, false},
		"chunks for a length":    {answer("Transfer-Encoding: chunked\r\nX: a\r\nCache-Control: public\r\n", "body"), true},
		"another path":           {[]Exchange{{Method: "GET", Target: "/b", Head: first[0].Head, Body: first[0].Body}}, false},
		"another query":          {[]Exchange{{Method: "GET", Target: "/a?n=2", Head: first[0].Head, Body: first[0].Body}}, true},
		"an answer more":         {append(answer("X: a\r\nCache-Control: public\r\nContent-Length: 4\r\n", "body"), first...), false},
		"an answer less":         {nil, false},
		"a field less":           {answer("X: a\r\nContent-Length: 4\r\n", "body"), false},
		"another length":         {answer("X: a\r\nCache-Control: public\r\nContent-Length: 5\r\n", "body"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Compare(first, tt.second, may...); (err == nil) != tt.same {
				t.Error(err)
			}
		})
	}
}
