package livetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Parts of what a connection may carry.
const (
	inner    = "GET /wp-json/wp/v2/users/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" // must not be hidden in another
	conflict = " /wp-json/wp/v2/posts?rest_route=/wp/v2/users HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	honest   = "GET /wp-json/wp/v2/posts HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
	update   = "POST /wp-json/wp/v2/posts HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
	aFormTo  = "POST /contact/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
)

// TestStream_Pipelined: what follows a refused request on its connection is a
// request of its own, and its body is none.
func TestStream_Pipelined(t *testing.T) {
	for _, f := range fronts(t) {
		for name, first := range map[string]string{
			"no body":        "GET" + conflict + "\r\n",
			"body":           "POST" + conflict + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(inner)) + inner,
			"chunked body":   "POST" + conflict + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(inner), inner),
			"body on a read": "GET" + conflict + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(inner)) + inner,
			"form":           aFormTo + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(aForm+"&x="+inner)+5, "a=b&"+aForm+"[]=") + inner,
		} {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				p := try(t, f.address["open"], f.backend, []byte(first+honest))
				if p.status != 400 && name != "form" {
					t.Errorf("got %d", p.status)
				}
				if len(p.arrived) > 1 {
					t.Errorf("%d arrived", len(p.arrived))
				}
				for _, a := range p.arrived {
					if a.target != "/wp-json/wp/v2/posts" || a.body.size != 0 {
						t.Errorf("arrived: %s %s", a.method, a.target)
					}
				}
			})
		}
	}
}

// TestStream_TwoInOne: an honest request behind another arrives as it is, each
// judged for itself.
func TestStream_TwoInOne(t *testing.T) {
	for _, f := range fronts(t) {
		first := update + "Content-Length: 2\r\n\r\n{}"
		p := try(t, f.address["open"], f.backend, []byte(first+first+honest))
		if len(p.judged) != 3 || len(p.arrived) != 3 {
			t.Fatalf("%d judged, %d arrived", len(p.judged), len(p.arrived))
		}
		for i, want := range []string{"POST", "POST", "GET"} {
			if p.arrived[i].method != want || p.judged[i].method != want {
				t.Errorf("%d: %s, judged %s", i, p.arrived[i].method, p.judged[i].method)
			}
		}
	}
}

// TestStream_Smuggling: where two readers could disagree about where a request
// ends, the second half is never a request at the backend.
func TestStream_Smuggling(t *testing.T) {
	chunks := func(line string) string { return update + "Transfer-Encoding: chunked\r\n\r\n" + line }
	for _, f := range fronts(t) {
		for name, raw := range map[string]string{
			"length and chunks":      update + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
			"chunks and length":      update + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + inner,
			"two codings":            update + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
			"coding list":            update + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + inner,
			"unknown coding":         update + "Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n" + inner,
			"coding with a tab":      update + "Transfer-Encoding:\tchunked\x0b\r\nContent-Length: 0\r\n\r\n" + inner,
			"space before the colon": update + "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n" + inner,
			"two lengths":            update + "Content-Length: 0\r\nContent-Length: 90\r\n\r\n" + inner,
			"length list":            update + "Content-Length: 0, 90\r\n\r\n" + inner,
			"signed length":          update + "Content-Length: +0\r\n\r\n" + inner,
			"negative length":        update + "Content-Length: -1\r\n\r\n" + inner,
			"length underscore":      update + "Content_Length: 90\r\nContent-Length: 0\r\n\r\n" + inner,
			"hex chunk size":         chunks("0x2\r\n{}\r\n0\r\n\r\n") + inner,
			"signed chunk size":      chunks("+2\r\n{}\r\n0\r\n\r\n") + inner,
			"huge chunk size":        chunks("10000000000000002\r\n{}\r\n0\r\n\r\n") + inner,
			"bare LF in chunks":      chunks("2\n{}\n0\n\n") + inner,
			"LF in a chunk size":     chunks("2;\n\r\n{}\r\n0\r\n\r\n") + inner,
			"long extension":         chunks("2;a="+strings.Repeat("b", 9000)+"\r\n{}\r\n0\r\n\r\n") + inner,
			"chunk too long":         chunks("1\r\n{}\r\n0\r\n\r\n") + inner,
			"no chunk end":           chunks("2\r\n{}0\r\n\r\n") + inner,
			"bare CR in a header":    update + "X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + inner,
			"NUL in a header":        update + "X-A: b\x00\r\nContent-Length: 0\r\n\r\n" + inner,
			"header without colon":   update + "Content-Length\r\n\r\n" + inner,
			"folded coding":          update + "X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + inner,
			"behind an upgrade":      "GET /live/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + inner,
			"version in the target":  "GET /wp-json/wp/v2/posts?x= HTTP/1.1\r\nX-A: HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + inner,
		} {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				p := try(t, f.address[""], f.backend, []byte(raw))
				for _, a := range p.arrived {
					if strings.Contains(a.target, "users") {
						t.Errorf("%s %s arrived", a.method, a.target)
					}
					if a.header["Transfer-Encoding"] != nil && a.length != "" || a.params["HTTP_TRANSFER_ENCODING"] != "" {
						t.Errorf("two framings arrived: %v", a.header)
					}
				}
			})
		}
		for _, a := range f.backend.rest() {
			t.Errorf("%s: reached the backend unseen: %s %s", f.name, a.method, a.target)
		}
	}
}

// TestStream_WholeServer: OPTIONS * is about no resource.
func TestStream_WholeServer(t *testing.T) {
	for _, f := range fronts(t) {
		p := try(t, f.address[""], f.backend, request("OPTIONS *", "", "X-HTTP-Method-Override: DELETE"))
		if p.status != 200 && p.status != 400 {
			t.Errorf("%s: %d", f.name, p.status)
		}
		for _, a := range p.arrived {
			t.Errorf("%s: arrived: %s %s", f.name, a.method, a.target)
		}
	}
}

// TestStream_Trailer: no header of a call comes after its body.
func TestStream_Trailer(t *testing.T) {
	for _, f := range frontsFor(t, allProtocols...) {
		overAll(t, f.name+"/", func(t *testing.T, by *client) {
			address := f.at(by.protocol)["open"]
			for _, target := range []string{"/wp-json/wp/v2/posts/5", "/wp-json/wc/v3/orders/batch"} {
				for _, declared := range []string{"Trailer: X-HTTP-Method-Override, Authorization", "Trailer: X-A", ""} {
					p := by.passage(by.sendTrailed(t, address, target, declared), f.backend)
					// Over HTTP/2 the stream may end first; over HTTP/3 Caddy itself fails with trailers.
					if by.protocol == http1 && p.status != 200 && p.status != 400 {
						t.Errorf("%s %q: %d %.200q", target, declared, p.status, p.raw)
					}
					for _, a := range p.arrived {
						if len(a.after) > 0 || a.header["X-Http-Method-Override"] != nil || a.header["Authorization"] != nil {
							t.Errorf("%s %q: arrived: %v %v", target, declared, a.header, a.after)
						}
					}
				}
			}
		})
	}
}

// sendTrailed sends JSON with two header fields behind it, declared or not.
func (c *client) sendTrailed(t *testing.T, address, target, declared string) reply {
	t.Helper()
	if c.protocol == http1 {
		if declared != "" {
			declared += "\r\n"
		}
		return send(t, address, []byte("POST "+target+" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"+jsonType+"\r\nTransfer-Encoding: chunked\r\n"+
			declared+"\r\n2\r\n{}\r\n0\r\nX-HTTP-Method-Override: DELETE\r\nAuthorization: Basic YTpi\r\n\r\n"))
	}
	m := streamed{fields: post(target, "content-type application/json"), body: "{}", trailer: fields{"x-http-method-override DELETE", "authorization Basic YTpi"}}
	if name, value, ok := strings.Cut(declared, ": "); ok {
		m.add(name, value)
	}
	return c.ask(t, address, m)
}

// TestStream_Continue: a client that waits for 100 Continue gets it where its
// body is read, and a refusal instead where it is not. A server of HTTP/3 need not send it,
// so that the clients of HTTP/2 and 3 do not wait.
func TestStream_Continue(t *testing.T) {
	const twoRoutes = "/wp-json/wp/v2/posts?rest_route=/wp/v2/users"
	for _, f := range frontsFor(t, allProtocols...) {
		for target, first := range map[string]int{ // batches are inspected, posts are streamed
			"/wp-json/wc/v3/orders/batch": 100,
			"/wp-json/wp/v2/posts/5":      100,
			"/contact/":                   100,
			twoRoutes:                     400,
		} {
			overAll(t, f.name+target+"/", func(t *testing.T, by *client) {
				address, final := f.at(by.protocol)["open"], max(first, 200)
				if by.protocol == http1 {
					expect(t, address, target, first)
				} else if p := by.try(t, address, f.backend, request("POST "+target, `{"a":1}`, jsonType, "Expect: 100-continue")); p.status != final {
					t.Errorf("got %d, want %d", p.status, final)
				}
			})
		}
	}
}

// expect waits for an answer to the head of a request, and for 200 where it is 100.
func expect(t *testing.T, address, target string, first int) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nExpect: 100-continue\r\n%s\r\nContent-Length: 7\r\n\r\n", target, jsonType)
	answers := bufio.NewReader(conn)
	if got := status(t, answers); got != first {
		t.Fatalf("got %d, want %d", got, first)
	}
	if first != 100 {
		return
	}
	_, _ = io.WriteString(conn, `{"a":1}`)
	got := status(t, answers)
	for got == 100 { // the backend's own
		got = status(t, answers)
	}
	if got != 200 {
		t.Errorf("got %d", got)
	}
}

// status reads one answer.
func status(t *testing.T, answers *bufio.Reader) int {
	t.Helper()
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
