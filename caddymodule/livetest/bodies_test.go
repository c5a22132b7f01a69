package livetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
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

// bodies are requests whose bodies were read to be judged, in memory or on disk, or were not.
var bodies = []struct {
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
	{"inspected", "POST /wp-json/wc/v3/orders/7/refunds", jsonType, `{"note":"` + noise(100<<10) + `"}`, aCall, "POST /wc/v3/orders/7/refunds", true},
	{"not inspected", "POST /wp-json/wp/v2/posts/5", jsonType, `{"content":"` + noise(1<<20) + `"}`, aCall, "POST /wp/v2/posts/5", false},
	{"PUT", "PUT /wp-json/wp/v2/posts/5", jsonType, `{"content":"` + noise(200<<10) + `"}`, aCall, "PUT /wp/v2/posts/5", false},
	{"page", "POST /webhook/", "Content-Type: application/octet-stream", noise(1 << 20), aPage, "", false},
}

// TestBodies_ByteForByte: all of them arrive as they were sent.
func TestBodies_ByteForByte(t *testing.T) {
	proxy, php := newBackend(t), newFastCGI(t)
	guard := "\trestwarden wordpress\n\twitness\n"
	at := runEverywhere(t, "", guard+proxy.proxied(), guard+php.php(scripts(t), ""))
	for i, b := range []*backend{proxy, php} {
		overAll(t, []string{"reverse_proxy/", "php_fastcgi/"}[i], func(t *testing.T, by *client) {
			for _, c := range bodies {
				for _, chunk := range []int{0, 1, 1000, 100 << 10} {
					switch {
					case chunk == 1 && (len(c.body) > 2000 || by.protocol != http1),
						chunk > 0 && !c.read && b == php,      // FastCGI has no chunks: Caddy's client sends them without a length
						chunk == 1000 && by.protocol != http1: // chunks or not: the others have only bodies without a length
						continue
					}
					t.Run(fmt.Sprintf("%s/%d", c.name, chunk), func(t *testing.T) {
						raw := request(c.line, c.body, c.header)
						if chunk > 0 {
							raw = chunked(c.line, c.body, chunk, c.header)
						}
						p := by.try(t, at(by.protocol)[i], b, raw)
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
		})
	}
}

func parts(n int) string {
	return `{"requests":[` + strings.TrimSuffix(strings.Repeat(`{"path":"/wp/v2/posts/5","method":"POST"},`, n), ",") + "]}"
}

// The limits, as options of the directive.
const (
	ofBody    = "body_limit 100KiB"
	ofUploads = "upload_limit 200KiB"
	ofSpool   = "spool_limit 600KiB"
	ofBatch   = "batch_limit 3"
)

// limited are requests to sites with these limits, and what they get.
var limited = []struct {
	name   string
	limit  string
	line   string
	header string
	body   string
	status int
	code   string
}{
	{"form", ofBody, "POST /contact/", form, noise(101 << 10), 413, "rest_request_too_large"},
	{"form within", ofBody, "POST /contact/", form, noise(99 << 10), 200, ""},
	{"inspected", ofBody, "POST /wp-json/wc/v3/orders/7/refunds", jsonType, `{"a":"` + noise(101<<10) + `"}`, 413, "rest_request_too_large"},
	{"batch", ofBody, "POST /wp-json/wc/v3/orders/batch", jsonType, `{"a":"` + noise(101<<10) + `"}`, 413, "rest_request_too_large"},
	{"not inspected", ofBody, "POST /wp-json/wp/v2/posts/5", jsonType, `{"a":"` + noise(300<<10) + `"}`, 200, ""},
	{"multipart", ofBody, "POST /contact/", multipartType, upload(300 << 10), 200, ""},
	{"upload", ofUploads, "POST /contact/", multipartType, upload(201 << 10), 413, "rest_request_too_large"},
	{"upload within", ofUploads, "POST /contact/", multipartType, upload(190 << 10), 200, ""},
	{"form of that size", ofUploads, "POST /contact/", form, noise(300 << 10), 200, ""},
	{"spool", ofSpool, "POST /contact/", multipartType, upload(300 << 10), 413, "rest_request_too_large"}, // a site's share: 150 KiB
	{"spool within", ofSpool, "POST /contact/", multipartType, upload(200 << 10), 200, ""},
	{"spool, form", ofSpool, "POST /contact/", form, noise(300 << 10), 413, "rest_request_too_large"},
	{"parts", ofBatch, "POST /wp-json/batch/v1", jsonType, parts(4), 413, "rest_request_too_large"},
	{"parts within", ofBatch, "POST /wp-json/batch/v1", jsonType, parts(3), 200, ""},
}

// TestBodies_Limits: over a limit nothing arrives, and the next request is
// served as if nothing had been.
func TestBodies_Limits(t *testing.T) {
	b := newBackend(t)
	limits := []string{ofBody, ofUploads, ofSpool, ofBatch}
	var sites []string
	for _, limit := range limits {
		sites = append(sites, "\trestwarden wordpress {\n\t\trecommended off\n\t\t"+limit+"\n\t}\n\twitness\n"+b.proxied())
	}
	at := runEverywhere(t, "", sites...)
	overAll(t, "", func(t *testing.T, by *client) {
		for _, c := range limited {
			address := at(by.protocol)[slices.Index(limits, c.limit)]
			for framing, raw := range map[string][]byte{"length": request(c.line, c.body, c.header), "chunked": chunked(c.line, c.body, 4000, c.header)} {
				t.Run(c.name+"/"+framing, func(t *testing.T) {
					p := by.try(t, address, b, raw)
					if p.status != c.status || c.code != "" && !p.is(c.code) {
						t.Errorf("got %d %.200q", p.status, p.raw)
					}
					if want := map[bool]int{true: 1}[c.status == 200]; len(p.arrived) != want {
						t.Errorf("%d arrived", len(p.arrived))
					}
					by.try(t, address, b, request(posts, "")).passed(t, aCall, route)
				})
			}
		}
	})
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
	for _, f := range frontsFor(t, allProtocols...) {
		overAll(t, f.name+"/", func(t *testing.T, by *client) {
			address := f.at(by.protocol)["open"]
			by.try(t, address, f.backend, request("POST /wp-json/wc/v3/orders/7/refunds", zipped.String(), jsonType, encoded)).refused(t, 415)
			by.try(t, address, f.backend, request("POST /wp-json/wc/v3/orders/batch", zipped.String(), jsonType, encoded)).refused(t, 415)
			by.try(t, address, f.backend, request("POST /wp-json/batch/v1", zipped.String(), jsonType, encoded)).refused(t, 415)
			by.try(t, address, f.backend, request("POST /contact/", aForm, form, encoded)).refused(t, 415)
			by.try(t, address, f.backend, request("POST /contact/", zipped.String(), form, encoded)).refused(t, 415)
			by.try(t, address, f.backend, request("POST /contact/", zipped.String(), form, "Content-Encoding: identity", encoded)).refused(t, 415)
			by.try(t, address, f.backend, request("POST /contact/", zipped.String(), multipartType, encoded)).refused(t, 415)
			a := by.try(t, address, f.backend, request("POST /hook/", zipped.String(), jsonType, encoded)).passed(t, aPage, "")
			if a.body.String() != digestOf(zipped.Bytes()).String() || a.header["Content-Encoding"] == nil {
				t.Errorf("arrived %v %v", a.body, a.header)
			}
			by.try(t, address, f.backend, request("POST /wp-json/wc/v3/orders/7/refunds", `{"a":1}`, jsonType, "Content-Encoding: identity")).passed(t, aCall, "POST /wc/v3/orders/7/refunds")
		})
	}
}

// TestBodies_Scripts: forms for the two scripts of the admin screens are read on all protocols,
// whether or not the scripts are there, and arrive as they were sent.
func TestBodies_Scripts(t *testing.T) {
	uploaded, saved := upload(20<<20), "a="+noise(9<<20) // more than body_limit
	for _, f := range frontsFor(t, allProtocols...) {
		overAll(t, f.name+"/", func(t *testing.T, by *client) {
			address := f.at(by.protocol)["open"]
			for _, script := range []string{"/wp-admin/async-upload.php", "/wp-admin/admin-ajax.php"} {
				t.Run(script, func(t *testing.T) {
					for contentType, body := range map[string]string{multipartType: uploaded, form: saved} {
						a := by.try(t, address, f.backend, request("POST "+script, body, contentType)).passed(t, aPage, "")
						if a.body.String() != digestOf([]byte(body)).String() {
							t.Errorf("arrived %v", a.body)
						}
					}
					by.try(t, address, f.backend, request("POST "+script, aForm, form)).passed(t, aCall, "POST /wp/v2/users")
				})
			}
		})
	}
}
