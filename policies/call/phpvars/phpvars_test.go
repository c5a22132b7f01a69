package phpvars

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// dump writes an array as PHP's own order-keeping JSON object.
func dump(v Value) string {
	a, ok := v.(*Array)
	if !ok {
		b, _ := json.Marshal(v)
		return string(b)
	}
	var parts []string
	for _, k := range a.Keys() {
		v, _ := a.Get(k)
		parts = append(parts, fmt.Sprintf("%q:%s", k, dump(v)))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestQuery(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[x]", n) }
	for raw, want := range map[string]string{
		"":                                    `{}`,
		"a=1&b=2&a=3":                         `{"a":"3","b":"2"}`,
		"a":                                   `{"a":""}`,
		"=x&a=b=c":                            `{"a":"b=c"}`,
		"rest.route=/a":                       `{"rest_route":"/a"}`,
		"rest+route=/a":                       `{"rest_route":"/a"}`,
		"rest%20route=/a":                     `{"rest_route":"/a"}`,
		"rest[route=/a":                       `{"rest_route":"/a"}`,
		"font[family.id=1":                    `{"font_family_id":"1"}`,
		"a[-1[=x&a[b c[d=y":                   `{"a_-1_":"x","a_b_c_d":"y"}`,
		"rest%5Broute=/a":                     `{"rest_route":"/a"}`,
		"%20rest_route=/a":                    `{"rest_route":"/a"}`,
		"++rest.route=/a":                     `{"rest_route":"/a"}`,
		"rest_route%00x=/a":                   `{"rest_route":"/a"}`,
		"r%65st_route=%2Fa":                   `{"rest_route":"/a"}`,
		"REST_ROUTE=/a":                       `{"REST_ROUTE":"/a"}`,
		"rest_route+=/a":                      `{"rest_route_":"/a"}`,
		"[rest_route=/a":                      `{}`,
		"rest[route]=/a":                      `{"rest":{"route":"/a"}}`,
		"a;b&amp;c=1":                         `{"a;b":"","amp;c":"1"}`,
		"%zz=%4&b=%":                          `{"%zz":"%4","b":"%"}`,
		"a[]=1&a[]=2&a[5]=3&a[]=4":            `{"a":{"0":"1","1":"2","5":"3","6":"4"}}`,
		"a[b][c]=1&a[b][d]=2":                 `{"a":{"b":{"c":"1","d":"2"}}}`,
		"a[b]c[d]=1":                          `{"a":{"b":"1"}}`,
		"a[b][c=1":                            `{"a":{"b":"1"}}`,
		"a[ ]=1&a[ x]=2":                      `{"a":{"0":"1"," x":"2"}}`,
		"a=1&a[x]=2":                          `{"a":{"x":"2"}}`,
		"a[x]=2&a=1":                          `{"a":"1"}`,
		"a[9223372036854775807]=1&a[]=2":      `{"a":{"9223372036854775807":"1"}}`,
		"a=1&a" + deep(65) + "=2":             `{}`,
		"a=1&b=2&a" + deep(64) + "[x=2":       `{"b":"2"}`,
		"?rest_route=/x":                      `{"?rest_route":"/x"}`,
		strings.Repeat("&", 2000) + "x=1":     `{"x":"1"}`,
		strings.Repeat("f=&", 999) + "x=1":    `{"f":"","x":"1"}`,
		strings.Repeat("f=&", 1000) + "x=1":   `{"f":""}`,
		"a%5Bb%5D=1&a%5Bb%5D%5B%5D=%41%2b%zz": `{"a":{"b":{"0":"A+%zz"}}}`,

		// Names and keys that are reserved for cookies, as PHP 8.2.36 reads them.
		"__Host-x=1":                        `{"__Host-x":"1"}`,
		"+__Host-x[__Host-y]=1":             `{"__Host-x":{"__Host-y":"1"}}`,
		"..Host-x=1&_.Secure-[a]=1":         `{}`,
		"_[Host-x=1&_[Host-[a=1":            `{}`,
		"_[Host-[a]=1":                      `{"_":{"Host-[a":"1"}}`,
		"__Host[-x=1":                       `{"__Host_-x":"1"}`,
		"a[__Host-x]=1":                     `{"a":{}}`,
		"a=5&a[__Secure-x][b]=1":            `{"a":{}}`,
		"a[x]=1&a[__Host-x]=2":              `{"a":{"x":"1"}}`,
		"a[][__Host-x][q]=1&a[]=7":          `{"a":{"0":{},"1":"7"}}`,
		"__Host-x[b][__Secure-c]=1":         `{"__Host-x":{"b":{}}}`,
		"a[__Host-=1&b[ __Host-x]=1":        `{"a___Host-":"1","b":{" __Host-x":"1"}}`,
		"a=1&a[__Host-x]" + deep(66) + "=1": `{"a":{}}`,
	} {
		if got := dump(Query(raw)); got != want {
			t.Errorf("Query(%.60q) = %s, want %s", raw, got, want)
		}
	}
}

func TestFormCountsEmptyPairs(t *testing.T) {
	if _, ok := Form(strings.Repeat("f=&", 1000) + "x=1").Get("x"); !ok {
		t.Error("pair 1001 is missing")
	}
	if _, ok := Form(strings.Repeat("&", 1001) + "x=1").Get("x"); ok {
		t.Error("pair 1002 is set")
	}
	if got := dump(RawForm("a=1&b=\x002&c=3")); got != `{"a":"1","b":""}` {
		t.Error("RawForm reads beyond a NUL:", got)
	}
}

func TestLastAgreesWithQuery(t *testing.T) {
	for _, raw := range seeds {
		checkNames(t, raw)
	}
}

var seeds = []string{
	"rest_route=/a&rest.route=/b", "rest[route=/a", "rest_route[]=1", "a=1&rest_route=/x%2Fy+z", "+rest.route%00=1",
	"rest_route[" + strings.Repeat("[x]", 70) + "=1&rest_route=2", strings.Repeat("&", 1001) + "rest_route=1", "%", "rest%5froute", "[rest_route",
	"a=1;rest_route=2", "a;\x0f",
}

func checkNames(t *testing.T, raw string) {
	t.Helper()
	v, set := Query(raw).Get("rest_route")
	last, times, plain := Last(raw, "rest_route")
	lastSet := times > 0
	if times != Count(raw, "rest_route") {
		t.Errorf("Last finds %d of %d in %q", times, Count(raw, "rest_route"), raw)
	}
	if set && !Has(raw, "rest_route") {
		t.Errorf("Has misses rest_route in %q", raw)
	}
	if plain && (set != lastSet || set && v != any(last)) {
		t.Errorf("Last(%q) = %q %v, Query says %v %v", raw, last, lastSet, v, set)
	}
	if HasReader(iotest.HalfReader(strings.NewReader(raw)), "rest_route") != Has(strings.ReplaceAll(raw, ";", "&"), "rest_route") {
		t.Errorf("HasReader and Has differ on %q", raw)
	}
}

// TestHasReader: what PHP sets is found wherever the reader's windows end: behind
// runs of every blank up to 256 KiB, and with a name that begins or ends anywhere
// around the end of a buffer.
func TestHasReader(t *testing.T) {
	names := []string{"rest_route", "rest.route", "r%65st%5Froute", "rest%20route%00x", "%72%65%73%74%5f%72%6f%75%74%65", "rest%5broute"}
	check := func(raw string) {
		t.Helper()
		if _, set := Form(raw).Get("rest_route"); !set {
			t.Fatalf("no form with rest_route: %.40q", raw)
		}
		if !HasReader(iotest.HalfReader(strings.NewReader(raw)), "rest_route") {
			t.Errorf("missed in %d bytes that begin %.40q", len(raw), raw)
		}
	}
	for _, blank := range []string{" ", "+", "%20", "+%20 "} {
		for n := 1; n <= 256<<10; n = n*2 + 1 {
			for _, name := range names {
				check(strings.Repeat(blank, n) + name + "=1")
			}
		}
	}
	const window = 32 << 10
	for n := window - 45; n <= window+5; n++ {
		for _, name := range names[n%3*2:][:2] {
			check(strings.Repeat("x", n-1) + "&" + name + "=1")
			check(strings.Repeat("+", n) + name)
			check("a=1&" + strings.Repeat(" ", n) + name + "&b=2")
			check(strings.Repeat("%20", n/3) + strings.Repeat("+", n%3) + name + "=1")
		}
	}
	for _, raw := range []string{"", "&", "=", strings.Repeat("%2", 40_000), strings.Repeat(" ", 80_000), strings.Repeat("+", 70_000) + "rest_rout", "rest_routes=1", "x=rest_route"} {
		if HasReader(strings.NewReader(raw), "rest_route") {
			t.Errorf("found in %.40q", raw)
		}
	}
	if !HasReader(iotest.ErrReader(errors.New("gone")), "rest_route") {
		t.Error("what cannot be read holds nothing")
	}
}

// TestLongNames: nothing is quadratic.
func TestLongNames(*testing.T) {
	const n = 1 << 20
	for _, unit := range []string{"__Host-", "[__Secure-", "a[", "._[ ", "%5B", "__Host-&", "x[__Host-]=&"} {
		raw := "rest_route=/x&" + strings.Repeat(unit, n/len(unit))
		Disputed(raw)
		Query(raw)
		Form(raw)
		HasReader(strings.NewReader(raw), "rest_route")
		_, _ = Multipart("multipart/form-data; boundary=B", strings.NewReader(part(`form-data; name="`+strings.Repeat(unit, 60_000/len(unit))+`"`, "x")))
	}
}

// TestDisputed: these depend on limits or on the release of PHP, those do not.
func TestDisputed(t *testing.T) {
	for raw, want := range map[string]bool{
		"a[__Host-x]=1": true, "a%5B__Secure-x%5D=1": true, "..Host-x=1": true, "_[Host-x=1": true, "Host-a[__Host-x]=1": true, "a[-5]=1": true, "a[x][-0]=1": true, "a%5B%2d5%5d": true, "a[b[c=1": true, "a[b.c=1": true, "a%5Bb%20c=1": true, "[[=1": true, "x=1&a[_%5FHost-]": true,
		"a" + strings.Repeat("[x]", 61): true, "a" + strings.Repeat("%5Bx]", 61) + "=": true,
		"": false, "a[-x]=1": false, "a[b-5]=1": false, "a[b=1": false, "a=[-5]": false, "a[b]c.d=1": false, "a%00[[": false, "__Host-x=1": false, "a[Host-x]=1": false, "a=a[__Host-x]": false, "My-Host-Name=1": false, "a" + strings.Repeat("[x]", 60): false, "a[x-y][z%20]=1": false,
	} {
		if got := Disputed(raw); got != want {
			t.Errorf("%.60q: %v", raw, got)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		checkNames(t, raw)
		checkAllVariables(t, raw)
		Disputed(raw)
	})
}

func part(disposition, value string) string {
	return "--B\r\nContent-Disposition: " + disposition + "\r\n\r\n" + value + "\r\n"
}

func TestMultipart(t *testing.T) {
	file := part(`form-data; name="f"; filename="x"`, strings.Repeat("\x00binary\n", 9000))
	for body, want := range map[string]string{
		part(`form-data; name="rest_route"`, "/a") + "--B--\r\n":      `{"rest_route":"/a"}`,
		part(`form-data; name=rest_route`, "/a") + "--B--":            `{"rest_route":"/a"}`,
		part(`form-data; name='rest.route'`, "/a"):                    `{"rest_route":"/a"}`,
		part(`form-data; name="x"; name="rest_route"`, "/a"):          `{"rest_route":"/a"}`,
		part(`attachment;name="a\"b"`, "1"):                           `{"a\"b":"1"}`,
		"preamble\r\n" + part(`form-data; name="a"`, "1\r\n2\r"):      `{"a":"1\r\n2\r"}`,
		"--B\nContent-Disposition: form-data; name=a\n\n1\n--B--\n":   `{"a":"1"}`,
		"--B\r\ncontent-disposition: form-data;\r\n name=a\r\n\r\n1":  `{"a":"1"}`,
		"--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n":  `{"a":"1"}`,
		"--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\n--":  `{"a":"1"}`,
		part(`form-data; name="a"; filename=""`, "1"):                 `{}`,
		file + part(`form-data; name="a"`, "1"):                       `{"a":"1"}`,
		"--BX\r\n" + part(`form-data; name="a[b][]"`, "1"):            `{"a":{"b":{"0":"1"}}}`,
		"--B\r\nX: y\r\n\r\n" + part(`form-data; name="a"`, "1"):      `{"a":"1"}`,
		part(`form-data`, "1") + part(`form-data; name="a"`, "1"):     `{}`,
		part(`form-data; name="a"`, "--B\r\nContent-Disposition: x;"): `{"a":"--B\r\nContent-Disposition: x;"}`,
		part(`form-data; name="a%2Eb"`, "1"):                          `{"a%2Eb":"1"}`,
	} {
		a, err := Multipart("multipart/form-data; boundary=B", strings.NewReader(body))
		if got := dump(a); err != nil || got != want {
			t.Errorf("%.90q: %s, %v, want %s", body, got, err, want)
		}
	}
}

func TestMultipartRefuses(t *testing.T) {
	for body, want := range map[string]error{
		part(`form-data; name="f"; filename="x"`, "abc--B\r\n\r\n"):       ErrUnclear,
		part(`form-data; name="f"; filename="x"`, "--B\r\n"):              ErrUnclear,
		strings.Repeat(part(`form-data; name="a"`, ""), 1001):             ErrParts,
		part(`form-data; name="a"`, strings.Repeat("x", MaxValues+2)):     ErrValues,
		"--B\r\nA: b\r\n" + strings.Repeat("Long: header\r\n", 1<<13):     ErrUnclear,
		part(`form-data; name="a"`, strings.Repeat("x\n", MaxValues/2+2)): ErrValues,
	} {
		if _, err := Multipart("multipart/form-data; boundary=B", strings.NewReader(body)); !errors.Is(err, want) {
			t.Errorf("%.60q: %v, want %v", body, err, want)
		}
	}
	if _, err := Multipart("multipart/form-data", strings.NewReader("")); !errors.Is(err, ErrBoundary) {
		t.Error("no boundary:", err)
	}
}

func TestBoundary(t *testing.T) {
	for ct, want := range map[string]string{
		"multipart/form-data; boundary=B":                 `B`,
		"multipart/form-data; BOUNDARY=B;x":               `B`,
		`multipart/form-data; boundary="B;,C"; x`:         `B;,C`,
		"multipart/form-data; xboundary=A; boundary=B":    `A`,
		`multipart/form-data; x="boundary=A"; boundary=B`: `A"`,
		"multipart/form-data; boundary = B ":              ` B `,
	} {
		if got, ok := Boundary(ct); !ok || got != want {
			t.Errorf("Boundary(%q) = %q, %v, want %q", ct, got, ok, want)
		}
	}
}

func FuzzMultipart(f *testing.F) {
	f.Add("multipart/form-data; boundary=B", part(`form-data; name="rest_route"`, "/a")+"--B--")
	f.Add("multipart/form-data; boundary=B", part(`form-data; name="f"; filename="x"`, "/a")+part(`x; name='a\'b'`, "x"))
	f.Fuzz(func(t *testing.T, contentType, body string) {
		all, err := Multipart(contentType, strings.NewReader(body))
		one, err1 := MultipartOnly(contentType, strings.NewReader(body), "rest_route")
		if err != nil || err1 != nil {
			return
		}
		if vars, err := OfMultipart(contentType, strings.NewReader(body)); err != nil {
			t.Error(err)
		} else {
			checkVariables(t, all, vars)
		}
		v, set := all.Get("rest_route")
		w, set1 := one.Get("rest_route")
		if set != set1 || dump(upTo(v, 1)) != dump(w) {
			t.Errorf("%q: %v, alone %v", body, v, w)
		}
	})
}

func TestContentTypes(t *testing.T) {
	for ct, want := range map[string][3]bool{ // urlencoded, multipart, JSON
		"": {}, "application/x-www-form-urlencoded": {true, false, false}, "Application/X-WWW-Form-Urlencoded; charset=x": {true, false, false},
		"application/x-www-form-urlencoded,application/json": {true, false, true}, "multipart/form-data; boundary=x": {false, true, false},
		"multipart/form-data,application/json": {false, true, true}, "application/json": {false, false, true}, "APPLICATION/JSON": {false, false, true},
		"application/vnd.api+json; x": {false, false, true}, "text/plain,application/json": {false, false, true}, "text/plain application/json": {false, false, true},
		"application/json+oembed": {false, false, true}, "; application/json": {false, false, true}, "text/json": {}, "text/plain; application/json": {},
		"application/jsonx": {}, "application/x-json": {}, "application/+json": {}, "application/j\u017fon": {}, "application/x-www-form-urlencoded\t": {},
	} {
		u, m := FormKind(ct)
		if got := [3]bool{u, m, IsJSON(ct)}; got != want {
			t.Errorf("%q: %v, want %v", ct, got, want)
		}
	}
}

func BenchmarkHas(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Has("utm_source=x&utm_medium=y&page=2&orderby=price&restaurant=1", "rest_route")
	}
}

func BenchmarkQuery1000(b *testing.B) {
	var s strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&s, "name%d=value%d&", i, i)
	}
	raw := s.String()
	b.ReportAllocs()
	for b.Loop() {
		Query(raw)
	}
}

func BenchmarkForm1MiB(b *testing.B) {
	raw := "a=" + strings.Repeat("x%20", 1<<18)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		Form(raw)
	}
}
