//go:build !race

package call

import (
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// units are texts that mean something to some part of the reading, in ways of their own if
// they stand many times.
var units = []string{
	".php", "/a.php", "/a.php%3F", "/a.php/%3F", "/a.php/0%3F", "/index.ph", "/index%2Ephp", "%252525252e", "%2f", "//", "/./", "/x", "/wp-json", "wp-json", "wp-json-",
	"wp%2Djson/", "/wp/v2/templates//", "/orders/5", "%0a", "%0", "%00", "+", ".", "_", "0", "[", "[]", "[x", "]", "a[", "&a[][][]", "&id[]=", "&id=5", "&rest_route[", "&rest.route",
	"&__Host-", "&a[__Secure-x]", "&a[-5]", "&_method=GET", "&consumer_key[x]=1", "utm_a=b&", "&gclid=a|b", "&%55TM_a=b?", "fbclutm_a=b&id=1&", "%6utm_a=~&", "rest_rout&%6&utm_a=~6&5=x&", "%%3&", ";a=1", "=", "&", "?", "%3f", "%26rest_route=/a", `"id":5,`, `"a":[],`, `{"id":`, `[`, `\u0061`, `"`, `oauth_a="`, ",", "\n", "\r\n--B\r\n",
}

// readPlaces are the places of a request that a text may stand in.
var readPlaces = map[string]func(text string) *http.Request{
	"page":            func(text string) *http.Request { return getAt("/"+text, "") },
	"page of scripts": func(text string) *http.Request { return getAt("/a.php"+text, "") },
	"path":            func(text string) *http.Request { return getAt("/wp-json/wp/v2/posts"+text, "") },
	"base":            func(text string) *http.Request { return getAt("/"+text+"/wp-json/wp/v2/posts", "") },
	"query of a page": func(text string) *http.Request { return getAt("/", "a"+text) },
	"query of a call": func(text string) *http.Request { return getAt("/wp-json/wc/v3/orders/5", "_embed&id"+text) },
	"query form":      func(text string) *http.Request { return getAt("/", "rest_route=/wp/v2/posts"+text) },
	"form of a page":  func(text string) *http.Request { return sentTo("/", formType, "a"+text) },
	"form of a call":  func(text string) *http.Request { return sentTo("/wp-json/wc/v3/orders/5", formType, "id"+text) },
	"form batch": func(text string) *http.Request {
		return sentTo("/wp-json/wc/v3/orders/batch", formType, "create[0][a]"+text)
	},
	"form by PUT": func(text string) *http.Request {
		r := sentTo("/wp-json/wc/v3/orders/5", formType, "id"+text)
		r.Method = http.MethodPut
		return r
	},
	"multipart name": func(text string) *http.Request {
		return sentTo("/wp-json/wc/v3/orders/5", partType, "--B\r\nContent-Disposition: form-data; name=\"id"+text+"\"\r\n\r\n1\r\n--B--")
	},
	"multipart value": func(text string) *http.Request {
		return sentTo("/wp-json/wc/v3/orders/5", partType, "--B\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n"+text+"\r\n--B--")
	},
	"multipart head": func(text string) *http.Request {
		return sentTo("/", partType, "--B\r\nX: "+text+"\r\nContent-Disposition: form-data;"+text)
	},
	"JSON": func(text string) *http.Request { return sentTo("/wp-json/wc/v3/orders/5", jsonType, `{`+text) },
	"JSON value": func(text string) *http.Request {
		return sentTo("/wp-json/wc/v3/orders/5", jsonType, `{"id":["`+text+`"]}`)
	},
	"JSON batch": func(text string) *http.Request {
		return sentTo("/wp-json/batch/v1", jsonType, `{"requests":[{"path":"/wp/v2/posts","body":{`+text)
	},
	"path of a part": func(text string) *http.Request {
		return sentTo("/wp-json/batch/v1", jsonType, `{"requests":[{"path":"/wp/v2/posts?`+text+`"}]}`)
	},
	"content type": func(text string) *http.Request { return sentTo("/wp-json/wc/v3/orders/5", "application/"+text, "id=5") },
	"header name": func(text string) *http.Request {
		r := getAt("/wp-json/wp/v2/posts", "")
		r.Header["X_"+text] = []string{"1"}
		return r
	},
	"header value": func(text string) *http.Request {
		r := getAt("/wp-json/wp/v2/posts", "")
		r.Header["Authorization"], r.Header["Connection"] = []string{"OAuth " + text}, []string{text}
		return r
	},
}

func sentTo(target, contentType, body string) *http.Request {
	return request(http.MethodPost, target, contentType, body)
}

// readAll reads a request, and asks what policies ask.
func readAll(rd *Reader, r *http.Request) {
	c := rd.Read(r, nil)
	for _, part := range c.Each() {
		_, _, _ = part.ObjectID()
		_, _, _ = part.Scalar("name")
		_, _, _ = part.Variable("oauth_signature")
		_, _ = part.QueryVariable("consumer_key")
		_, _ = part.CertainQuery()
		part.Embeds()
	}
	c.Settle()
	c.Close()
}

// costOf returns the bytes that reading allocates.
func costOf(rd *Reader, read func(string) *http.Request, text string) (bytes int64) {
	bytes = math.MaxInt64
	for range 4 { // pools are filled, and emptied now and then
		r := read(text)
		if r == nil {
			return -1
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(rd, r)
		runtime.ReadMemStats(&after)
		bytes = min(bytes, int64(after.TotalAlloc-before.TotalAlloc))
	}
	return bytes
}

// TestLinear: whatever stands in a request many times, twice of it costs twice.
func TestLinear(t *testing.T) {
	const n = 5 << 10 // more than one chunk of a body, and half of the longest path
	for _, base := range []string{"", "/blog"} {
		rd := NewReader(Config{Platform: wordpress(), Base: base})
		for name, read := range readPlaces {
			for _, unit := range units {
				once, twice := costOf(rd, read, repeated(unit, n)), costOf(rd, read, repeated(unit, 2*n))
				allowed, most := once*5/2+48<<10, int64(40*2*n+64<<10)              // buffers grow in steps
				for again := 0; again < 20 && twice > min(allowed, most); again++ { // the race detector has pools forget
					twice = min(twice, costOf(rd, read, repeated(unit, 2*n)))
				}
				if twice > allowed {
					t.Errorf("%s of %q: %d bytes for %d, %d for twice as many", name, unit, once, n, twice)
				}
				if twice > most {
					t.Errorf("%s of %q: %d bytes for %d", name, unit, twice, 2*n)
				}
			}
		}
	}
}

// BenchmarkDearest reports the dearest request of 15 KB, the dearest with the longest path, and the dearest form of 60 KB, that
// the generator knows.
func BenchmarkDearest(b *testing.B) {
	rd := readerFor("root")
	for size, only := range map[int]string{10 << 10: "", 14 << 10: "", 60 << 10: "form"} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			least := map[string]time.Duration{} // of each request: others use the machine, too
			for b.Loop() {
				for name, read := range readPlaces {
					for _, unit := range units {
						r := read(repeated(unit, size))
						if r == nil || only != "" && !strings.HasPrefix(name, only) {
							continue
						}
						start := time.Now()
						readAll(rd, r)
						took, what := time.Since(start), name+" of "+unit
						if known, seen := least[what]; !seen || took < known {
							least[what] = took
						}
					}
				}
			}
			what, most := "", time.Duration(0)
			for of, took := range least {
				if took > most {
					what, most = of, took
				}
			}
			b.ReportMetric(float64(most.Microseconds())/1000, "ms/dearest")
			b.Log(what)
		})
	}
}
