package call

import (
	"bufio"
	"bytes"
	"net/http"
	"net/url"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call/between"
)

// noPlainBytes runs f while no text but "" counts as plain.
func noPlainBytes[T any](f func() T) T {
	plain := between.PlainBytes
	defer func() { between.PlainBytes = plain }()
	between.PlainBytes = new(between.ByteSet)
	return f()
}

// FuzzUsualPath: what skips work for plain paths decides as the rest does.
func FuzzUsualPath(f *testing.F) {
	for _, rec := range recordings.All(f) {
		if r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(rec.Raw))); err == nil && len(rec.Raw) < 2000 {
			f.Add(r.URL.Path)
		}
	}
	f.Add("/wp-json//wp/v2/users//")
	f.Add("/my-wp-json/wp/v2/my-wp-json/")
	f.Fuzz(func(t *testing.T, path string) {
		u := &url.URL{Path: path}
		if got := between.EscapedPath(u); got != u.EscapedPath() {
			t.Fatalf("%q is escaped as %q", path, got)
		}
		for name, test := range map[string]func(string) bool{"prettyRoute": prettyRoute, "straight": straight, "namesRoute": namesRoute, "endsEarly": endsEarly} {
			if short := test(path); short != noPlainBytes(func() bool { return test(path) }) {
				t.Fatalf("%s(%q) is %v, by the long way not", name, path, short)
			}
		}
	})
}

// FuzzUsualRequest: an address without a rewrite is read as one that a rewrite has left as it was.
func FuzzUsualRequest(f *testing.F) {
	for _, rec := range recordings.All(f) {
		if len(rec.Raw) < 2000 {
			f.Add(rec.Raw)
		}
	}
	readers := []*Reader{readerFor("root"), NewReader(Config{Platform: readerFor("root").site.Platform, Prefix: "api", Base: "/blog"})}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw))); err != nil {
			return
		}
		read := func(rd *Reader, rewritten bool) *Call {
			r, _ := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
			var original *url.URL
			if rewritten {
				same := *r.URL
				original = &same
			}
			c := rd.Read(r, original)
			c.Close()
			return c
		}
		for _, rd := range readers {
			kept, rewritten := read(rd, false), read(rd, true)
			if x, y := describe(kept), describe(rewritten); x != y || kept.Base != rewritten.Base {
				t.Fatalf("prefixes %v: read as %s, and by the long way as %s: %q", rd.prefixes, x, y, raw)
			}
		}
	})
}
