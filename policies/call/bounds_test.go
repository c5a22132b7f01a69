//go:build !race

package call

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Nothing is quadratic: input as long as a server accepts is read at once.
func TestLongInputs(*testing.T) {
	const n = 300_000
	root, sub := readerFor("root"), readerFor("subfolder")
	for _, target := range []string{
		"/wp-json/" + strings.Repeat("%61", n), "/wp-json/" + strings.Repeat("//", n), "/" + strings.Repeat("wp-json", n),
		"/" + strings.Repeat("wp-json%2F", n/3), "/blog/" + strings.Repeat("Xwp-json/", n/3), "/?" + strings.Repeat("rest_route[", n),
		"/?rest_route=" + strings.Repeat("/%2F", n), "/?" + strings.Repeat("+", n) + "rest_route=/a", "/?" + strings.Repeat("rest_route[]&", n/9),
		"/wp-json/wp/v2/posts?a=" + strings.Repeat("%0a", n), "/wp-json/wp/v2/posts?a=" + strings.Repeat("%0", n) + strings.Repeat("a", n),
	} {
		r := request("GET", target, "", "")
		root.Read(r, nil)
		sub.Read(r, nil)
	}
	for contentType, body := range map[string]string{
		formType: strings.Repeat("rest_route[", n), partType: strings.Repeat("--B\r\nContent-Disposition: x;;\r\n", n/9),
		`multipart/form-data; boundary=a`: "--a\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n" + strings.Repeat("\n--aX", 20*n),
		`multipart/form-data; boundary=b`: strings.Repeat("\n", 30*n),
		`multipart/form-data; boundary=c`: "--c\r\nContent-Disposition: form-data; name=f\r\n\r\n" + strings.Repeat("\n", 30*n) + strings.Repeat("--cX\n", 6*n),
		jsonType:                          "[" + strings.Repeat(`"\u0061",`, n) + "1]",
	} {
		c := root.Read(request("POST", "/wp-json/wc/v3/orders/7", contentType, body), nil)
		_, _, _ = c.Param("id") // whatever it says, it says so soon
		c.Close()
	}
}

// Small bodies must not become large trees.
func TestJSONBounds(t *testing.T) {
	rd := readerFor("root")
	members := make([]string, jsonMembers+1)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	many := "{" + strings.Join(members, ",") + "}"
	large := `{"id":7,"address":{"x":["` + strings.Repeat(`a","`, jsonValue/4) + `"]}}`
	for name, test := range map[string]struct {
		target, body, param string
		status              int
	}{
		"many members":       {"/wp-json/wc/v3/orders/7", many, "id", 413},
		"a large value":      {"/wp-json/wc/v3/orders/7", large, "address", 413},
		"beside a large one": {"/wp-json/wc/v3/orders/7", large, "id", 0},
	} {
		c := rd.Read(request("POST", test.target, jsonType, test.body), nil)
		_, _, err := c.Param(test.param)
		var refusal *Refusal
		if errors.As(err, &refusal); test.status == 0 && err != nil || test.status != 0 && (refusal == nil || refusal.Status != test.status) {
			t.Errorf("%s: %v, want %d", name, err, test.status)
		}
	}
	for target, body := range map[string]string{
		"/wp-json/wc/v3/orders/batch": `{"update":[` + strings.Repeat("{},", 1<<20) + `{}]}`,
		"/wp-json/batch/v1":           `{"requests":[` + strings.Repeat("[],", 1<<20) + `{}]}`,
	} {
		r := request("POST", target, jsonType, body)
		n := testing.AllocsPerRun(1, func() {
			r.Body = io.NopCloser(strings.NewReader(body))
			c := rd.Read(r, nil)
			defer c.Close()
			if c.Kind != Refused || c.Refusal.Status != 413 && c.Refusal.Reason != "batch" {
				t.Errorf("%s: %s", target, describe(c))
			}
		})
		if n > 2000 {
			t.Errorf("%s: %.0f allocations for a batch that is refused", target, n)
		}
	}
}

// TestParam_Brackets: a variable is built whole only up to as many arrays as honest forms have, and
// whether it is one is said in any case.
func TestParam_Brackets(t *testing.T) {
	rd := readerFor("root")
	for most, status := range map[int]int{wholeBrackets: 0, wholeBrackets + 40: http.StatusRequestEntityTooLarge} {
		form := strings.Repeat("&input"+strings.Repeat("[]", 40)+"=1", most/40)[1:]
		parts := strings.Repeat("--B\r\nContent-Disposition: form-data; name=\"input"+strings.Repeat("[]", 40)+"\"\r\n\r\n1\r\n", most/40) + "--B--\r\n"
		for name, r := range map[string]*http.Request{
			"form":      request("POST", "/wp-json/wp/v2/posts", formType, form),
			"encoded":   request("POST", "/wp-json/wp/v2/posts", formType, strings.ReplaceAll(form, "[", "%5b")),
			"put":       request("PUT", "/wp-json/wp/v2/posts", formType, form),
			"multipart": request("POST", "/wp-json/wp/v2/posts", partType, parts),
			"query":     request("GET", "/wp-json/wp/v2/posts?"+form, "", ""),
		} {
			c := rd.Read(r, nil)
			_, set, err := c.Param("input")
			refusal, _ := errors.AsType[*Refusal](err)
			if (refusal == nil) != (status == 0) || set != (status == 0) || refusal != nil && refusal.Status != status {
				t.Errorf("%s with %d brackets: %v, %v, want %d", name, most, set, err, status)
			}
			if v, set, err := c.Scalar("input"); v != (Compound{}) || !set || err != nil {
				t.Errorf("%s with %d brackets is %v, %v, %v", name, most, v, set, err)
			}
			c.Close()
		}
	}
}

// Many scripts in one path cost no more than the path is long.
func BenchmarkPathOfScripts(b *testing.B) {
	rd := readerFor("root")
	r := request("GET", "/"+strings.Repeat("a.php/", 1_700), "", "")
	b.ReportAllocs()
	for b.Loop() {
		if c := rd.Read(r, nil); c.Kind != Page {
			b.Fatal(describe(c))
		}
	}
}
