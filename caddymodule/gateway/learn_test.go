package gateway

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/klauspost/compress/zstd"
)

// fromKernel is a ResponseWriter that counts the fast copies.
type fromKernel struct {
	*httptest.ResponseRecorder
	copies int
}

func (w *fromKernel) ReadFrom(r io.Reader) (int64, error) {
	w.copies++
	return io.Copy(struct{ io.Writer }{w.ResponseRecorder}, r)
}

// TestLearning_OnlyWhereItTeaches: the answers to all other calls keep the fast copy, and so
// does an answer of the right call that teaches nothing.
func TestLearning_OnlyWhereItTeaches(t *testing.T) {
	for name, test := range map[string]struct {
		config, target string
		status         int
		fast           bool
	}{
		"a list":                  {`{"platform":"cms"}`, "/cms-json/shop/v3/orders", 200, false},
		"a list without rights":   {`{"platform":"cms"}`, "/cms-json/shop/v3/orders", 401, true},
		"an order":                {`{"platform":"cms"}`, "/cms-json/shop/v3/orders/7", 200, true},
		"products":                {`{"platform":"cms"}`, "/cms-json/shop/v3/products", 200, true},
		"a page":                  {`{"platform":"cms"}`, "/orders", 200, true},
		"the policy is off":       {`{"platform":"cms","policies":{"order_type":{"off":true}}}`, "/cms-json/shop/v3/orders", 200, true},
		"the policy observes":     {`{"platform":"cms","policies":{"order_type":{"mode":"observe"}}}`, "/cms-json/shop/v3/orders", 200, false},
		"a release that checks":   {`{"platform":"cms","release":"10.8"}`, "/cms-json/shop/v3/orders", 200, true},
		"a release, policy named": {`{"platform":"cms","release":"10.8","policies":{"order_type":{}}}`, "/cms-json/shop/v3/orders", 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := provisioned(t, test.config)
			w := &fromKernel{ResponseRecorder: httptest.NewRecorder()}
			next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-CMS-Total", "1")
				w.WriteHeader(test.status)
				_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader(`[{"id":7}]`)})
				return err
			})
			if err := g.ServeHTTP(w, prepared(w, test.target), next); err != nil {
				t.Fatal(err)
			}
			if w.Body.String() != `[{"id":7}]` || (w.copies == 1) != test.fast {
				t.Errorf("%d fast copies, %q", w.copies, w.Body)
			}
		})
	}
}

// BenchmarkLearning_List is a list of 100 orders through the gateway: as it is, and where the
// release needs no proofs.
func BenchmarkLearning_List(b *testing.B) {
	var list bytes.Buffer
	list.WriteString(`[{"id":7}`)
	for i := range 99 {
		fmt.Fprintf(&list, `,{"id":%d,"note":"%s","lines":[%s{"id":1}]}`, 100+i, strings.Repeat("Please ring. ", 100), strings.Repeat(`{"id":1,"sku":"abc","price":"1.50"},`, 50))
	}
	list.WriteString("]")
	var gzipped, zstandard bytes.Buffer
	z, err := zstd.NewWriter(&zstandard, zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(&gzipped), z} {
		if _, err := w.Write(list.Bytes()); err != nil || w.Close() != nil {
			b.Fatal(err)
		}
	}
	for name, body := range map[string][]byte{"plain": list.Bytes(), "gzip": gzipped.Bytes(), "zstd": zstandard.Bytes()} {
		for learns, config := range map[string]string{"learning": `{"platform":"cms"}`, "not": `{"platform":"cms","release":"10.8"}`} {
			b.Run(name+"/"+learns, func(b *testing.B) {
				g := provisioned(b, config)
				w := silent{http.Header{}}
				r := prepared(w, "/cms-json/shop/v3/orders?per_page=100")
				next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("X-CMS-Total", "100")
					if name != "plain" {
						w.Header().Set("Content-Encoding", name)
					}
					for b := body; len(b) > 0; b = b[min(len(b), 32<<10):] {
						if _, err := w.Write(b[:min(len(b), 32<<10)]); err != nil {
							return err
						}
					}
					return nil
				})
				b.SetBytes(int64(list.Len()))
				b.ReportAllocs()
				for b.Loop() {
					if err := g.ServeHTTP(w, r, next); err != nil {
						b.Fatal(err)
					}
					for g.engine.memory.Bytes() > 0 {
						runtime.Gosched() // the decoder's work counts as well
					}
				}
			})
		}
	}
}
