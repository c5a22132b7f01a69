package call

import (
	"bufio"
	"bytes"
	"net/http"
	"net/url"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// usualSites are readers whose prefixes contain each other, or do not.
func usualSites() (readers []*Reader) {
	for _, name := range platforms.Names() {
		platform, _ := platforms.ByName(name)
		for _, prefix := range []string{"", "api", "wp-json-2", "my-wp-json", "cms-json2", "~x"} {
			for _, base := range []string{"", "/blog"} {
				readers = append(readers, NewReader(Config{Platform: platform, Prefix: prefix, Base: base}))
			}
		}
	}
	return readers
}

// longWay returns rd without its short way for usual paths.
func longWay(rd *Reader) *Reader {
	long := *rd
	long.start = ""
	return &long
}

// noPlainBytes runs f while no text but "" counts as plain.
func noPlainBytes[T any](f func() T) T {
	plain := between.PlainBytes
	defer func() { between.PlainBytes = plain }()
	between.PlainBytes = new(between.ByteSet)
	return f()
}

// FuzzUsualPath: the short ways for usual paths decide as the long ones, also where a rewrite
// has left a raw path that does not fit.
func FuzzUsualPath(f *testing.F) {
	for _, rec := range recordings.All(f) {
		if r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(rec.Raw))); err == nil && len(rec.Raw) < 2000 {
			f.Add(r.URL.Path, r.URL.RawPath)
		}
	}
	f.Add("/wp-json/wc/v3/orders", "/x")
	f.Add("/wp-json//wp/v2/users//", "")
	f.Add("/api/wp-json/wp/v2/users", "")
	f.Add("/my-wp-json/wp/v2/my-wp-json/", "")
	readers := usualSites()
	f.Fuzz(func(t *testing.T, path, raw string) {
		u := &url.URL{Path: path, RawPath: raw}
		for _, rd := range readers {
			if short, long := rd.readPath(u), longWay(rd).readPath(u); short != long {
				t.Fatalf("prefixes %v: %q, %q is %+v, the long way %+v", rd.prefixes, path, raw, short, long)
			}
		}
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

// FuzzUsualRequest: the short ways for usual headers, usual paths and addresses without a
// rewrite decide as the long ones.
func FuzzUsualRequest(f *testing.F) {
	for _, rec := range recordings.All(f) {
		if len(rec.Raw) < 2000 {
			f.Add(rec.Raw)
		}
	}
	readers := []*Reader{readerFor("root"), NewReader(Config{Platform: readerFor("root").site.Platform, Prefix: "api", Base: "/blog"})}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, rd := range readers {
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
			if err != nil {
				return
			}
			same := *r.URL
			short := rd.Read(r, &same)
			short.Close()
			if r, err = http.ReadRequest(bufio.NewReader(bytes.NewReader(raw))); err != nil {
				return
			}
			r.Header["X-Stands-Twice"] = []string{"1", "2"} // not usual, and says nothing
			long := longWay(rd).Read(r, nil)
			long.Close()
			if x, y := describe(short), describe(long); x != y {
				t.Fatalf("prefixes %v: read as %s, by the long way as %s: %q", rd.prefixes, x, y, raw)
			}
			if x, y := short.Base, long.Base; x != y {
				t.Fatalf("base %q, by the long way %q", x, y)
			}
		}
	})
}
