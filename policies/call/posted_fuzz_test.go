package call

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// pieces reads text in pieces of a size, so that what reads it is cut anywhere.
type pieces struct {
	text string
	size int
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.text)
	p.text = p.text[n:]
	return n, nil
}

// readPost reads a POST to a page whose body comes in pieces.
func readPost(contentType, body string, size int) *Call {
	r := request("POST", "/", contentType, body)
	r.Body = io.NopCloser(&pieces{body, size})
	return readerFor("root").Read(r, nil)
}

var blankUnits = []string{" ", "+", "%20", "+%20 "}

var routeNames = []string{
	"rest_route", "rest.route", "r%65st%5Froute", "rest%20route%00x", "%72%65%73%74%5f%72%6f%75%74%65", "rest%5broute", "rest_route\x00", "rest_route[", "rest_route[]", "+rest_route",
}

// around are the numbers near the ends of buffers and limits, from 1 to 256 KiB.
func around() (list []int) {
	for n := 1; n <= 256<<10; n *= 2 {
		list = append(list, n-1, n, n+1, n+7)
	}
	return append(list, 5119, 5120, 5121, 60<<10)
}

// FuzzForm: whatever stands around a name, and wherever what reads it is cut, a form in
// which PHP sees rest_route is no page, and one in which it does not is one.
func FuzzForm(f *testing.F) {
	n := 0
	for blank := range blankUnits {
		for _, run := range around() {
			f.Add(uint8(blank), uint32(run), uint8(n), uint32(0), uint16(4096+n%9), "")
			f.Add(uint8(blank), uint32(3), uint8(n), uint32(run), uint16(1+n%5000), "&rest_routes=1&[rest_route=2")
			n++
		}
	}
	if n < 200 {
		f.Fatalf("%d seeds", n)
	}
	f.Fuzz(func(t *testing.T, blank uint8, run uint32, name uint8, before uint32, size uint16, after string) {
		unit := blankUnits[int(blank)%len(blankUnits)]
		filler := ""
		if before > 0 {
			filler = strings.Repeat("v", int(before)%(256<<10)) + "&"
		}
		body := filler + strings.Repeat(unit, int(run)%(256<<10)/len(unit)) + routeNames[int(name)%len(routeNames)] + "=/wp/v2/users" + after
		c := readPost(formType, body, 1+int(size))
		defer c.Close()
		v, set := phpvars.Form(body).Get(platforms.RouteVar)
		value, _ := v.(string)
		switch {
		case set && v == any(value) && cancelled(value): // the platform takes it for none
		case set && c.Kind == Page:
			t.Fatalf("a page, and PHP sees rest_route: %.60q…%.80q", body, body[max(0, len(body)-80):])
		case !set && c.Kind != Page && phpvars.Pairs(body) <= phpvars.MaxPairs && !phpvars.Disputed(body) && !phpvars.Separated(body, platforms.RouteVar): // see TestSeparator
			t.Fatalf("%s, and PHP sees no rest_route: %.200q", describe(c), body)
		}
	})
}

// FuzzMultipartForm: the same for the fields of a multipart form, whatever its boundary,
// wherever NULs stand, and however long what is before them.
func FuzzMultipartForm(f *testing.F) {
	n := 0
	for boundary := 1; boundary <= 1030; boundary++ {
		f.Add(uint16(boundary), uint32(boundary*37), uint8(boundary), uint16(boundary), uint16(1+boundary*13%9000), "")
		n++
	}
	for _, run := range around() {
		f.Add(uint16(16), uint32(run), uint8(n), uint16(n), uint16(1+n%7000), "\x00x\r\n")
		n++
	}
	if n < 1000 {
		f.Fatalf("%d seeds", n)
	}
	f.Fuzz(func(t *testing.T, length uint16, run uint32, kind uint8, at, size uint16, fold string) {
		boundary := strings.Repeat("B", 1+int(length)%5200)
		filler := strings.Repeat("v", int(run)%(256<<10))
		first := [...]string{
			"", "Content-Disposition: form-data; name=\"a\"\r\n\r\n" + filler, "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n" + filler,
			"X: " + filler + "\r\n\r\nv", "Content-Disposition: form-data; name=\"a\"\r\n\r\n" + filler + "\r\n--" + boundary + "x", "\x00" + filler,
		}[int(kind)%6]
		header := "Content-Disposition: form-data; name=\"rest_route\""
		cut := int(at) % (len(header) + 1)
		body := fmt.Sprintf("--%s\r\n%s\r\n--%s\r\n%s\r\n\r\n/wp/v2/users\r\n--%s--\r\n", boundary, first, boundary, header[:cut]+fold+header[cut:], boundary)
		contentType := "multipart/form-data; boundary=" + boundary
		c := readPost(contentType, body, 1+int(size))
		defer c.Close()
		vars, err := phpvars.Multipart(contentType, strings.NewReader(body))
		if err != nil {
			return // the step php of the check asks PHP about these
		}
		v, set := vars.Get(platforms.RouteVar)
		if value, isText := v.(string); isText && cancelled(value) {
			return
		}
		if set != (c.Kind != Page) {
			t.Fatalf("%s, and rest_route is set: %t: boundary of %d, %d bytes, %.300q", describe(c), set, len(boundary), len(body), body)
		}
	})
}
