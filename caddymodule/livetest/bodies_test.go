package livetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// noise is text that does not compress and is the same on every run.
func noise(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	source := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[source.IntN(len(letters))]
	}
	return string(b)
}

const multipartType = "Content-Type: multipart/form-data; boundary=b"

// upload is a multipart form with one file of n bytes.
func upload(n int) string {
	return "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n" + noise(n) + "\r\n--b--\r\n"
}

// TestBodies_ByteForByte: bodies that were read to be judged, in memory or on
// disk, and bodies that were not, arrive as they were sent.
func TestBodies_ByteForByte(t *testing.T) {
	proxy, php := newBackend(t), newFastCGI(t)
	guard := "\trestwarden wordpress\n\twitness\n"
	addresses := run(t, "", block{Body: guard + proxy.proxied()}, block{Body: guard + php.php(scripts(t), "")})
	for i, b := range []*backend{proxy, php} {
		for _, c := range []struct {
			name, line, header, body string
			kind, call               string
			read                     bool // by the gateway
		}{
			{"form", "POST /contact/", form, "a=" + noise(1000), aPage, "", true},
			{"form on disk", "POST /contact/", form, "a=" + noise(300<<10), aPage, "", true},
			{"form of a call", "POST /", form, "rest_route=/wp/v2/posts&a=" + noise(100<<10), aCall, "POST /wp/v2/posts", true},
			{"exactly in memory", "POST /contact/", form, "a=" + noise(64<<10-2), aPage, "", true},
			{"one more", "POST /contact/", form, "a=" + noise(64<<10-1), aPage, "", true},
			{"multipart", "POST /contact/", multipartType, upload(1000), aPage, "", true},
			{"multipart 5 MiB", "POST /wp-json/wp/v2/media", multipartType, upload(5 << 20), aCall, "POST /wp/v2/media", true},
			{"inspected", "POST /wp-json/wc/v3/orders/7", jsonType, `{"note":"` + noise(100<<10) + `"}`, aCall, "POST /wc/v3/orders/7", true},
			{"not inspected", "POST /wp-json/wp/v2/posts/5", jsonType, `{"content":"` + noise(1<<20) + `"}`, aCall, "POST /wp/v2/posts/5", false},
			{"PUT", "PUT /wp-json/wp/v2/posts/5", jsonType, `{"content":"` + noise(200<<10) + `"}`, aCall, "PUT /wp/v2/posts/5", false},
			{"page", "POST /webhook/", "Content-Type: application/octet-stream", noise(1 << 20), aPage, "", false},
		} {
			for _, chunk := range []int{0, 1, 1000, 100 << 10} {
				if chunk == 1 && len(c.body) > 2000 || chunk > 0 && !c.read && b == php {
					continue // FastCGI has no chunks: Caddy's client sends them without a length
				}
				t.Run(fmt.Sprintf("%s/%s/%d", []string{"reverse_proxy", "php_fastcgi"}[i], c.name, chunk), func(t *testing.T) {
					raw := request(c.line, c.body, c.header)
					if chunk > 0 {
						raw = chunked(c.line, c.body, chunk, c.header)
					}
					p := try(t, addresses[i], b, raw)
					a := p.passed(t, c.kind, c.call)
					if want := digestOf([]byte(c.body)).String(); a.body.String() != want || p.judged[0].body.String() != want {
						t.Errorf("sent %s, forwarded %v, arrived %v", want, p.judged[0].body, a.body)
					}
					if c.read && a.length != fmt.Sprint(len(c.body)) {
						t.Errorf("arrived with length %q", a.length)
					}
				})
			}
		}
	}
}

func parts(n int) string {
	return `{"requests":[` + strings.TrimSuffix(strings.Repeat(`{"path":"/wp/v2/posts/5","method":"POST"},`, n), ",") + "]}"
}

// TestBodies_Limits: over a limit nothing arrives, and the next request is
// served as if nothing had been.
func TestBodies_Limits(t *testing.T) {
	b := newBackend(t)
	site := func(options string) block {
		return block{Body: "\trestwarden wordpress {\n\t\trecommended off\n\t\t" + options + "\n\t}\n\twitness\n" + b.proxied()}
	}
	addresses := run(t, "", site("body_limit 100KiB"), site("upload_limit 200KiB"), site("spool_limit 600KiB"), site("batch_limit 3"))
	const body, uploads, spool, batch = 0, 1, 2, 3
	for _, c := range []struct {
		name   string
		site   int
		line   string
		header string
		body   string
		status int
		code   string
	}{
		{"form", body, "POST /contact/", form, noise(101 << 10), 413, "rest_request_too_large"},
		{"form within", body, "POST /contact/", form, noise(99 << 10), 200, ""},
		{"inspected", body, "POST /wp-json/wc/v3/orders/7", jsonType, `{"a":"` + noise(101<<10) + `"}`, 413, "rest_request_too_large"},
		{"batch", body, "POST /wp-json/wc/v3/orders/batch", jsonType, `{"a":"` + noise(101<<10) + `"}`, 413, "rest_request_too_large"},
		{"not inspected", body, "POST /wp-json/wp/v2/posts/5", jsonType, `{"a":"` + noise(300<<10) + `"}`, 200, ""},
		{"multipart", body, "POST /contact/", multipartType, upload(300 << 10), 200, ""},
		{"upload", uploads, "POST /contact/", multipartType, upload(201 << 10), 413, "rest_request_too_large"},
		{"upload within", uploads, "POST /contact/", multipartType, upload(190 << 10), 200, ""},
		{"form of that size", uploads, "POST /contact/", form, noise(300 << 10), 200, ""},
		{"spool", spool, "POST /contact/", multipartType, upload(300 << 10), 413, "rest_request_too_large"}, // a site's share: 150 KiB
		{"spool within", spool, "POST /contact/", multipartType, upload(200 << 10), 200, ""},
		{"spool, form", spool, "POST /contact/", form, noise(300 << 10), 413, "rest_request_too_large"},
		{"parts", batch, "POST /wp-json/batch/v1", jsonType, parts(4), 413, "rest_request_too_large"},
		{"parts within", batch, "POST /wp-json/batch/v1", jsonType, parts(3), 200, ""},
	} {
		for framing, raw := range map[string][]byte{"length": request(c.line, c.body, c.header), "chunked": chunked(c.line, c.body, 4000, c.header)} {
			t.Run(c.name+"/"+framing, func(t *testing.T) {
				p := try(t, addresses[c.site], b, raw)
				if p.status != c.status || c.code != "" && !p.is(c.code) {
					t.Errorf("got %d %.200q", p.status, p.raw)
				}
				if want := map[bool]int{true: 1}[c.status == 200]; len(p.arrived) != want {
					t.Errorf("%d arrived", len(p.arrived))
				}
				try(t, addresses[c.site], b, request(posts, "")).passed(t, aCall, route)
			})
		}
	}
}

// TestBodies_Encoded: an inspected body in an encoding is refused with 415, and so
// is a form on a page, which a server before PHP may inflate. Other bodies of pages
// are none of the gateway's business.
func TestBodies_Encoded(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(`{"id":9}`))
	_ = z.Close()
	const encoded = "Content-Encoding: gzip"
	for _, f := range fronts(t) {
		address := f.address["open"]
		try(t, address, f.backend, request("POST /wp-json/wc/v3/orders/7", zipped.String(), jsonType, encoded)).refused(t, 415)
		try(t, address, f.backend, request("POST /wp-json/wc/v3/orders/batch", zipped.String(), jsonType, encoded)).refused(t, 415)
		try(t, address, f.backend, request("POST /wp-json/batch/v1", zipped.String(), jsonType, encoded)).refused(t, 415)
		try(t, address, f.backend, request("POST /contact/", aForm, form, encoded)).refused(t, 415)
		try(t, address, f.backend, request("POST /contact/", zipped.String(), form, encoded)).refused(t, 415)
		try(t, address, f.backend, request("POST /contact/", zipped.String(), form, "Content-Encoding: identity", encoded)).refused(t, 415)
		try(t, address, f.backend, request("POST /contact/", zipped.String(), multipartType, encoded)).refused(t, 415)
		a := try(t, address, f.backend, request("POST /hook/", zipped.String(), jsonType, encoded)).passed(t, aPage, "")
		if a.body.String() != digestOf(zipped.Bytes()).String() || a.header["Content-Encoding"] == nil {
			t.Errorf("%s: arrived %v %v", f.name, a.body, a.header)
		}
		try(t, address, f.backend, request("POST /wp-json/wc/v3/orders/7", `{"a":1}`, jsonType, "Content-Encoding: identity")).passed(t, aCall, "POST /wc/v3/orders/7")
	}
}

// TestBodies_Unread: uploads to the two named scripts go through as they come;
// no byte of them is waited for.
func TestBodies_Unread(t *testing.T) {
	for _, f := range fronts(t) {
		f.trustScripts(t, f.address[""])
		for _, script := range []string{"/wp-admin/async-upload.php", "/wp-admin/admin-ajax.php"} {
			t.Run(f.name+script, func(t *testing.T) {
				conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", f.address[""])
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(patience))
				raw := request("POST "+script, upload(20<<20), multipartType)
				_, _ = conn.Write(raw[:1<<20])
				for target := ""; target != script; { // questions aside
					select {
					case target = <-f.backend.heads:
					case <-time.After(patience):
						t.Fatal("nothing arrives before the whole upload")
					}
				}
				_, _ = conn.Write(raw[1<<20:])
				all, err := io.ReadAll(conn)
				if err != nil || !bytes.HasPrefix(all, []byte("HTTP/1.1 200 ")) {
					t.Errorf("got %.200q %v", all, err)
				}
				for _, j := range ledger.take(connection(conn.LocalAddr().String(), conn.RemoteAddr())) {
					for _, a := range f.backend.take(j.n) {
						if a.body.String() != digestOf([]byte(upload(20<<20))).String() {
							t.Errorf("arrived %v", a.body)
						}
					}
				}
			})
		}
	}
}

// TestBodies_NoScripts: where the front controller answers in the place of the
// two scripts, it reads their forms, and so does the gateway.
func TestBodies_NoScripts(t *testing.T) {
	b := newBackend(t)
	b.noScripts = true
	address := run(t, "", block{Body: "\trestwarden wordpress {\n\t\trecommended off\n\t}\n\twitness\n" + b.proxied()})[0]
	try(t, address, b, request("POST /wp-admin/admin-ajax.php", "action=a", form)).passed(t, aPage, "")
	eventually(t, "the gateway asks for the script", func() bool {
		return slices.ContainsFunc(b.questions(), func(a *arrival) bool { return a.path() == "/wp-admin/admin-ajax.php" })
	})
	for _, script := range []string{"/wp-admin/async-upload.php", "/wp-admin/admin-ajax.php"} {
		try(t, address, b, request("POST "+script, "rest_route=/wp/v2/posts", form)).passed(t, aCall, "POST /wp/v2/posts")
	}
}
