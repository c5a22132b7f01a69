package answers

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
)

// FuzzCapture: an answer is whole and within its bounds, or an error.
func FuzzCapture(f *testing.F) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("x"), 5000))
	_ = z.Close()
	seeds := [][]byte{nil, []byte("{}"), zipped.Bytes(), zipped.Bytes()[:zipped.Len()-4], bytes.Repeat([]byte("x"), 2000)}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, body := range seeds {
		f.Add(body, "", "")
		f.Add(body, "gzip", "7")
	}
	f.Fuzz(func(t *testing.T, body []byte, encoding, length string) {
		const limit = 1000
		c := Keep(limit, nil)
		c.Header().Set("Content-Encoding", encoding)
		c.Header().Set("Content-Length", length)
		_, _ = c.Write(body) // an error of it is one of Answer, too
		a, err := c.Answer(t.Context(), http.MethodGet, false)
		switch {
		case err != nil:
		case len(a.Body) > limit:
			t.Fatalf("%d bytes", len(a.Body))
		case encoding == "" && !bytes.Equal(a.Body, body):
			t.Fatal("not what was written")
		case a.Header.Get("Content-Encoding") != "" && a.Header.Get("Content-Encoding") != "identity" && !strings.EqualFold(encoding, "identity"):
			t.Fatal("still encoded")
		}
	})
}
