package call

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// seeds returns what pick finds in the recordings, each once.
func seeds(f *testing.F, pick func(r *http.Request, body []byte) string) []string {
	f.Helper()
	seen := map[string]bool{}
	var all []string
	for _, rec := range recordings.All(f) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(rec.Raw)))
		if err != nil || len(rec.Raw) > 2000 {
			continue
		}
		body, _ := io.ReadAll(r.Body)
		if s := pick(r, body); s != "" && !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	if len(all) < 20 {
		f.Fatalf("only %d seeds", len(all))
	}
	return all
}

// same fails unless two readings of one request agree.
func same(t *testing.T, a, b *Call) {
	t.Helper()
	if x, y := describe(a), describe(b); x != y {
		t.Fatalf("read as %s, then as %s", x, y)
	}
}

// FuzzPath: reading is idempotent, keys are folded once and for all, and no
// spelling that the platform folds together turns a call into a page.
func FuzzPath(f *testing.F) {
	for _, s := range seeds(f, func(r *http.Request, _ []byte) string { return r.URL.EscapedPath() }) {
		f.Add(s)
	}
	root, sub := readerFor("root"), readerFor("subfolder")
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		for _, rd := range []*Reader{root, sub} {
			p := rd.readPath(u)
			if !p.sameAs(rd.readPath(u)) {
				t.Fatal("two readings")
			}
			if key := routes.Key(p.route); p.isCall && routes.Key(key) != key {
				t.Fatalf("key %q is folded again", key)
			}
			if p == (pathReading{}) {
				continue
			}
			for _, again := range []string{path + "/", "/" + path, strings.Replace(path, "-json", "%2Djson", 1), strings.Replace(path, "/wp-", "/%77p-", 1)} {
				if v, err := url.ParseRequestURI(again); err == nil && rd.readPath(v) == (pathReading{}) {
					t.Fatalf("%q is a page, %q is not", again, path)
				}
			}
		}
	})
}

// FuzzQuery: the fast look at a query agrees with the whole reading, and a call
// stays one in every spelling of the name.
func FuzzQuery(f *testing.F) {
	for _, s := range seeds(f, func(r *http.Request, _ []byte) string { return r.URL.RawQuery }) {
		f.Add(s)
	}
	rd := readerFor("root")
	f.Fuzz(func(t *testing.T, query string) {
		read := func(q string) *Call {
			return rd.Read(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/", RawQuery: q}, Header: http.Header{}}, nil)
		}
		c := read(query)
		same(t, c, read(query))
		if c.Kind == Page {
			return
		}
		for _, spelling := range []string{"rest.route", "rest+route", "+rest_route", "rest%5froute", "rest_route%00x"} {
			whole := strings.Count(query, "rest_route") == strings.Count(query, "rest_route=")
			if strings.HasSuffix(spelling, "%00x") && (!whole || strings.ContainsAny(query, "[%")) {
				continue // a NUL hides brackets, and the end of another variable's name
			}
			if again := strings.ReplaceAll(query, "rest_route", spelling); read(again).Kind == Page {
				t.Fatalf("%q is a page, %q is not", again, query)
			}
		}
	})
}

// FuzzJSON: never panics, reads the same twice, what it accepts is an id, and nothing of it is held
// behind Close.
func FuzzJSON(f *testing.F) {
	for _, s := range seeds(f, func(r *http.Request, body []byte) string {
		if strings.Contains(r.Header.Get("Content-Type"), "json") {
			return string(body)
		}
		return ""
	}) {
		f.Add(s)
	}
	f.Add(`{"id":7,"note":"` + strings.Repeat("x", 5000) + `"}`) // more than a reading holds for nothing
	rd := readerFor("root")
	f.Fuzz(func(t *testing.T, body string) {
		if body == "" {
			return
		}
		c := rd.Read(request("PUT", "/wp-json/wc/v3/orders/7", jsonType, body), nil)
		defer func() {
			if c.Close(); rd.site.Limits.Memory.Bytes() != 0 {
				t.Errorf("%d bytes are held after Close", rd.site.Limits.Memory.Bytes())
			}
		}()
		ids, err := c.IDs("id", "7")
		if again, err2 := c.IDs("id", "7"); !slices.Equal(again, ids) || (err == nil) != (err2 == nil) || err == nil && (len(ids) != 1 || ids[0] > maxID) {
			t.Fatal(ids, again, err, err2)
		}
		if raw, err := c.RawBody(); err != nil || string(raw) != body {
			t.Fatalf("%q arrives, %v", raw, err)
		}
	})
}

// FuzzBatch: a batch is refused or wholly flattened; no part is a batch, and
// each has a method that writes.
func FuzzBatch(f *testing.F) {
	for _, s := range seeds(f, func(r *http.Request, body []byte) string {
		if strings.Contains(r.URL.RequestURI(), "batch") {
			return string(body)
		}
		return ""
	}) {
		f.Add(s, true)
		f.Add(s, false)
	}
	rd := readerFor("root")
	f.Fuzz(func(t *testing.T, body string, core bool) {
		target, limit := "/wp-json/wc/v3/orders/batch", 100
		if core {
			target, limit = "/wp-json/batch/v1", 25
		}
		for _, contentType := range []string{jsonType, formType} {
			c, again := rd.Read(request("POST", target, contentType, body), nil), rd.Read(request("POST", target, contentType, body), nil)
			t.Cleanup(c.Close)
			t.Cleanup(again.Close)
			same(t, c, again)
			if len(c.Parts) > limit || c.Kind == Refused && c.Parts != nil {
				t.Fatal(describe(c))
			}
			for _, p := range c.Parts {
				if _, kind := rd.batchRoute(p.Key); p.Kind != Single || kind != noBatch || !writes(p.Method) {
					t.Fatal(describe(p))
				}
			}
		}
	})
}

// FuzzParseID: only plain digits are an id, and none is beyond what every reader
// of JSON takes for the same number.
func FuzzParseID(f *testing.F) {
	for _, s := range []string{"7", "07", "9007199254740992", "9007199254740993", "-1", "1e3", "7.0", "", "１２"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := ParseID(text)
		if ok != (digits(text) && id <= maxID) && len(text) < 16 || ok && fmt.Sprint(id) != cmp.Or(strings.TrimLeft(text, "0"), "0") {
			t.Errorf("%q was read as %d, %v", text, id, ok)
		}
		if number, also := ParseID(json.Number(text)); number != id || also != ok {
			t.Errorf("%q as a number was read as %d, %v", text, number, also)
		}
	})
}
