package call_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call"
)

// FuzzRequest: whole requests, through the HTTP server. The reading is
// idempotent, the body goes on byte for byte, and a trailing slash or foreign
// parameter changes nothing.
func FuzzRequest(f *testing.F) {
	for _, rec := range recordings.All(f) {
		if len(rec.Raw) < 2000 {
			f.Add(rec.Raw)
		}
	}
	rd := call.ReaderFor("root")
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, same := rawrequest.Read(rd, raw), rawrequest.Read(rd, raw)
		defer c.Close()
		defer same.Close()
		if x, y := call.Describe(c), call.Describe(same); x != y {
			t.Fatalf("read as %s, then as %s", x, y)
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		rawrequest.DropAliases(r.Header)
		r.Body = io.NopCloser(bytes.NewReader(body))
		d := rd.Read(r, nil)
		defer d.Close()
		before := call.Describe(d)
		_, _, _ = d.Param("id") // it reads the body
		if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%q arrives, %q was sent, %v", got, body, err)
		}
		if d.Kind == call.Page {
			return
		}
		r.Body, r.URL.RawQuery = io.NopCloser(bytes.NewReader(body)), "lang=de&"+r.URL.RawQuery
		again := rd.Read(r, nil)
		defer again.Close()
		if again.Kind == call.Page {
			t.Fatalf("%s, with lang a page", before)
		}
	})
}
