package call

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/restwarden/restwarden/policies/call/budget"
)

// limited returns a Reader with small limits and its spool.
func limited(t *testing.T, spooled int64) (*Reader, *budget.Spool, string) {
	t.Helper()
	dir := t.TempDir()
	spool := budget.NewSpool(dir, spooled)
	return NewReader(Config{Platform: wordpress(), Limits: Limits{Body: 1 << 20, Upload: 2 << 20, Spool: spool}}), spool, dir
}

// post builds a POST whose body has no known length, as a chunked one.
func post(target, contentType string, body io.Reader) *http.Request {
	r := request("POST", target, contentType, "x")
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(body), -1, []string{"chunked"}
	r.Trailer = http.Header{"X-Late": nil}
	r.Header.Set("Trailer", "X-Late")
	return r
}

func TestBodyIsPutBack(t *testing.T) {
	rd, spool, dir := limited(t, 1<<30)
	for _, size := range []int{1, 100, inMemory - 2, inMemory, inMemory + 1, 300_000} {
		body := "a=" + strings.Repeat("x", size)
		for name, r := range map[string]*http.Request{
			"announced": request("POST", "/page", formType, body),
			"chunked":   post("/page", formType, iotest.HalfReader(strings.NewReader(body))),
		} {
			c := rd.Read(r, nil)
			if c.Kind != Page {
				t.Fatal(describe(c))
			}
			if r.ContentLength != int64(len(body)) || r.TransferEncoding != nil || name == "chunked" && (r.Trailer != nil || r.Header.Get("Trailer") != "") {
				t.Errorf("%s %d: length %d, %v, trailer %v", name, size, r.ContentLength, r.TransferEncoding, r.Trailer)
			}
			if spooled := len(body) > inMemory; spooled != (spool.Bytes() > 0) {
				t.Errorf("%s %d: %d bytes spooled", name, size, spool.Bytes())
			}
			if got, err := io.ReadAll(r.Body); err != nil || string(got) != body {
				t.Errorf("%s %d: %d bytes arrive, %v", name, size, len(got), err)
			}
			if raw, err := c.RawBody(); err != nil || string(raw) != body {
				t.Errorf("%s %d: RawBody has %d bytes, %v", name, size, len(raw), err)
			}
			c.Close()
			c.Close()
			if spool.Bytes() != 0 {
				t.Errorf("%d bytes spooled after Close", spool.Bytes())
			}
		}
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%d files are left", len(files))
	}
}

// A refused body goes on unchanged, too: observe mode forwards it.
func TestRefusedBodyIsPutBack(t *testing.T) {
	inUse, spool, _ := limited(t, 8<<20)
	if err := spool.Shares.Try(budget.Holder{}, 3<<19); err != nil { // of 2 MiB
		t.Fatal(err)
	}
	for want, rd := range map[string]*Reader{
		"413 body_limit":  first(limited(t, 1<<30)),
		"413 spool_limit": first(limited(t, 200_000)), // larger than any share
		"503 spool_limit": inUse,
	} {
		body := "a=" + strings.Repeat("xyz", 400_000)
		r := post("/page", formType, strings.NewReader(body))
		c := rd.Read(r, nil)
		if describe(c) != want {
			t.Errorf("%s, want %s", describe(c), want)
		}
		if got, err := io.ReadAll(r.Body); err != nil || string(got) != body || r.ContentLength != -1 {
			t.Errorf("%s: %d of %d bytes arrive, %v, length %d", want, len(got), len(body), err, r.ContentLength)
		}
		c.Close()
	}
}

func first(rd *Reader, _ *budget.Spool, _ string) *Reader { return rd }

func TestBodyFailures(t *testing.T) {
	rd, spool, _ := limited(t, 1<<30)
	for want, r := range map[string]*http.Request{
		"413 body_limit": request("POST", "/page", formType, strings.Repeat("x", 1<<20+1)),
		"400 body_read":  post("/page", formType, io.MultiReader(strings.NewReader(strings.Repeat("a", inMemory+9)), iotest.ErrReader(errors.New("gone")))),
	} {
		c := rd.Read(r, nil)
		if describe(c) != want {
			t.Errorf("%s, want %s", describe(c), want)
		}
		c.Close()
	}
	noDir := NewReader(Config{Platform: rd.site.Platform, Limits: Limits{Spool: budget.NewSpool("/does/not/exist", 1<<30)}})
	r := post("/page", formType, strings.NewReader(strings.Repeat("a", 200_000)))
	if c := noDir.Read(r, nil); describe(c) != "503 disk" || !errors.Is(c.Refusal, fs.ErrNotExist) {
		t.Error(describe(c), c.Refusal)
	}
	if n, err := io.Copy(io.Discard, r.Body); n != 200_000 || err != nil {
		t.Errorf("%d bytes arrive, %v", n, err)
	}
	if spool.Bytes() != 0 {
		t.Error("spooled bytes leak")
	}
}

// A body is read only for a question about it, and only once.
func TestBodyIsReadLate(t *testing.T) {
	rd, _, _ := limited(t, 1<<30)
	content := strings.NewReader(`{"id":9}`)
	r := request("PUT", "/wp-json/wc/v3/orders/7", jsonType, "x")
	r.Body, r.ContentLength = io.NopCloser(content), 8
	c := rd.Read(r, nil)
	defer c.Close()
	if content.Len() != 8 {
		t.Error("read before it was asked for")
	}
	if ids, err := c.IDs("id", "7"); !slices.Equal(ids, []uint64{9}) || err != nil || content.Len() != 0 {
		t.Error(ids, err)
	}
	if got, _ := io.ReadAll(r.Body); !bytes.Equal(got, []byte(`{"id":9}`)) {
		t.Errorf("%q arrives", got)
	}

	r = request("PUT", "/wp-json/wc/v3/orders/7", jsonType, `{"id":9}`)
	c = rd.Read(r, nil)
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Error(err)
	}
	if _, err := c.IDs("id", "7"); err == nil {
		t.Error("an id without the body that was forwarded already")
	}
}

func TestEncodedBody(t *testing.T) {
	rd := readerFor("root")
	r := request("PUT", "/wp-json/wc/v3/orders/7", jsonType, "{}")
	r.Header.Set("Content-Encoding", "gzip")
	c := rd.Read(r, nil)
	var refusal *Refusal
	if _, err := c.IDs("id", "7"); !errors.As(err, &refusal) || refusal.Status != 415 {
		t.Error(err)
	}
	// Whatever it seems to hold: something before PHP may inflate it.
	for _, test := range []struct{ contentType, encoding, want string }{
		{formType, "gzip", "415 content_encoding"},
		{partType, "gzip", "415 content_encoding"},
		{"", "gzip", "415 content_encoding"},
		{formType, "Identity", "page"},
		{formType, "", "page"},
		{formType, "identity, gzip", "415 content_encoding"},
		{formType, "identity\ngzip", "415 content_encoding"},
		{jsonType, "gzip", "page"},
		{"text/plain", "br", "page"},
	} {
		r = request("POST", "/page", test.contentType, "a=b")
		r.Header["Content-Encoding"] = strings.Split(test.encoding, "\n")
		if c := rd.Read(r, nil); describe(c) != test.want {
			t.Errorf("%+v: %s", test, describe(c))
		}
	}
}

func TestParam(t *testing.T) {
	rd := readerFor("root")
	c := rd.Read(request("POST", "/wp-json/a?q=1&l[]=2", jsonType, `{"s":"x","n":1.50,"b":true,"o":{"a":[1]},"z":null}`), nil)
	for name, want := range map[string]string{"s": "string x", "n": "json.Number 1.50", "b": "bool true", "o": "map[string]interface {} map[a:[1]]", "q": "string 1"} {
		v, set, err := c.Param(name)
		if got := typed(v); got != want || !set || err != nil {
			t.Errorf("%s: %s %v %v, want %s", name, got, set, err, want)
		}
	}
	for _, name := range []string{"z", "nothing"} {
		if v, set, err := c.Param(name); set || err != nil {
			t.Errorf("%s: %v %v", name, v, err)
		}
	}
	if _, set, err := page.Param("x"); set || err != nil {
		t.Error("a page has parameters")
	}
	(*Call)(nil).Close()
	page.Close()
}

// TestBodyLimits: a body whose length is announced is refused unread, one that does
// not as soon as it has gone too far.
func TestBodyLimits(t *testing.T) {
	rd := NewReader(Config{Platform: wordpress(), Limits: Limits{Body: 1000}})
	for name, body := range map[string]io.Reader{
		"at the limit": strings.NewReader(strings.Repeat("x", 1000)), "above, announced": strings.NewReader(strings.Repeat("x", 1001)),
		"at the limit, chunked": io.MultiReader(strings.NewReader(strings.Repeat("x", 1000))),
		"above, chunked":        io.MultiReader(strings.NewReader(strings.Repeat("x", 1001))),
	} {
		want := "page"
		if strings.HasPrefix(name, "above") {
			want = "413 body_limit"
		}
		if got := describe(rd.Read(post("/contact/", formType, body), nil)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	unread := iotest.ErrReader(errors.New("it was read"))
	r := post("/contact/", formType, unread)
	r.ContentLength = 1001
	if got := describe(rd.Read(r, nil)); got != "413 body_limit" {
		t.Errorf("announced: %s", got)
	}
}

// TestWholeJSON: what policies read whole is as strict as what they read in parts.
func TestWholeJSON(t *testing.T) {
	for name, c := range map[string]struct {
		body, encoding string
		fails          bool
	}{
		"an object": {`{"a":1}`, "", false}, "a name twice": {`{"a":1,"a":1}`, "", true}, "encoded": {`{"a":1}`, "gzip", true}, "rest": {`{} 1`, "", true},
	} {
		r := request("POST", "/wp-json/woocommerce/mcp", jsonType, c.body)
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		call := readerFor("root").Read(r, nil)
		if _, err := call.JSON(); (err != nil) != c.fails {
			t.Errorf("%s: %v (%s)", name, err, describe(call))
		}
		call.Close()
	}
}

// TestObjectsOfTheCheckout: orders are paid for through the checkout API, too.
func TestObjectsOfTheCheckout(t *testing.T) {
	for target, want := range map[string]string{
		"/wp-json/wc/store/v1/order/7": "7", "/wp-json/wc/store/v1/checkout/7": "7", "/wp-json/wc/store/checkout/7": "7", "/wp-json/wc/store/v1/checkout": "",
	} {
		id, _, err := readerFor("root").Read(request("GET", target, "", ""), nil).ObjectID()
		if id != want || err != nil {
			t.Errorf("%s: %q, %v", target, id, err)
		}
	}
}
