package call

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// request builds a request as a server hands it to its handler.
func request(method, target, contentType, body string) *http.Request {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, content)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func benchmarkRead(b *testing.B, method, target, contentType, body string, use func(*Call)) {
	b.Helper()
	rd := readerFor("root")
	r := request(method, target, contentType, body)
	header, content := r.Header, strings.NewReader(body)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if body != "" {
			content.Reset(body)
			r.Body, r.ContentLength, r.Header = io.NopCloser(content), int64(len(body)), header
		}
		c := rd.Read(r, nil)
		if c.Kind == Refused {
			b.Fatal(c.Refusal)
		}
		if use != nil {
			use(c)
		}
		c.Close()
	}
}

func BenchmarkPage(b *testing.B) {
	benchmarkRead(b, "GET", "/product/blue-shirt/?utm_source=news&utm_medium=mail", "", "", nil)
}

func BenchmarkPretty(b *testing.B) {
	benchmarkRead(b, "GET", "/wp-json/wc/v3/orders/7?_fields=id&context=edit", "", "", nil)
}

func BenchmarkRestRoute(b *testing.B) {
	benchmarkRead(b, "GET", "/?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9&rest_route=%2Fwc%2Fv3%2Forders%2F7", "", "", nil)
}

func BenchmarkOrderUpdate(b *testing.B) {
	var items strings.Builder
	for i := range 11 {
		fmt.Fprintf(&items, `{"product_id":%d,"variation_id":0,"quantity":2,"meta_data":[{"key":"note","value":"x"}]},`, i)
	}
	body := `{"id":7,"status":"processing","line_items":[` + strings.TrimSuffix(items.String(), ",") + `]}`
	benchmarkRead(b, "PUT", "/wp-json/wc/v3/orders/7", "application/json", body, func(c *Call) {
		if ids, err := c.IDs("id", "7"); err != nil || !slices.Equal(ids, []uint64{7}) {
			b.Fatal(ids, err)
		}
	})
}

func BenchmarkBatch25(b *testing.B) {
	parts := strings.Repeat(`{"method":"PUT","path":"/wp/v2/posts/7?context=edit","body":{"title":"x"}},`, 25)
	body := `{"requests":[` + strings.TrimSuffix(parts, ",") + `]}`
	benchmarkRead(b, "POST", "/wp-json/batch/v1", "application/json", body, func(c *Call) {
		if len(c.Parts) != 25 {
			b.Fatal(len(c.Parts))
		}
	})
}

func BenchmarkPageForm(b *testing.B) {
	for _, size := range []int{1 << 10, 32 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			benchmarkRead(b, "POST", "/checkout/", "application/x-www-form-urlencoded", strings.Repeat("field=value&", size/12), nil)
		})
	}
}

func BenchmarkPageUpload(b *testing.B) {
	for _, size := range []int{32 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			body := "--B\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n" + strings.Repeat("\x00binary\n", size/8) + "\r\n--B--\r\n"
			benchmarkRead(b, "POST", "/upload/", "multipart/form-data; boundary=B", body, nil)
		})
	}
}

func BenchmarkParameters(b *testing.B) {
	for _, n := range []int{10, 100, 999} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var q strings.Builder
			for i := range n - 1 {
				fmt.Fprintf(&q, "p%d=%d&", i, i)
			}
			benchmarkRead(b, "GET", "/?"+q.String()+"rest_route=/wp/v2/posts", "", "", func(c *Call) {
				if _, set, err := c.Param("p1"); !set || err != nil {
					b.Fatal(set, err)
				}
			})
		})
	}
}

// repeated returns a text of about n bytes.
func repeated(unit string, n int) string { return strings.Repeat(unit, n/len(unit)) }

// getAt is a request as the server makes it of a target; nil where it takes none.
func getAt(path, query string) *http.Request {
	u, err := url.ParseRequestURI(path)
	if err != nil || strings.Contains(path, "?") {
		return nil
	}
	u.RawQuery = query
	return &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}, Body: http.NoBody, Host: "a", ProtoMajor: 1}
}
