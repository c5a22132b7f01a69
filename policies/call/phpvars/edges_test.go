package phpvars

import (
	"strings"
	"testing"
)

func TestEdges_Names(t *testing.T) {
	for raw, want := range map[string]string{
		"a[%09]=1":        `{"a":{"0":"1"}}`,
		"a[01]=1&a[]=2":   `{"a":{"01":"1","0":"2"}}`,
		"a[0]=1&a[]=2":    `{"a":{"0":"1","1":"2"}}`,
		"a[%0D]=1&a[]=2":  `{"a":{"0":"1","1":"2"}}`,
		"a[%0d%09]=1&b=2": `{"a":{"\r\t":"1"},"b":"2"}`,
	} {
		if got := dump(Query(raw)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	if !Disputed("a" + strings.Repeat("%5bx%5d", 61) + "=1") {
		t.Error("many brackets in lower case")
	}
}

func TestEdges_Multipart(t *testing.T) {
	for body, want := range map[string]string{
		part(`form-data; name="a"; FileName="x"`, "1"):                                                    `{}`,
		part(`form-data; NAME="a"`, "1"):                                                                  `{"a":"1"}`,
		part(`form-data; name='a;b'`, "1"):                                                                `{"a;b":"1"}`,
		part(`form-data; name="a\";b"`, "1"):                                                              `{"a\";b":"1"}`,
		part(`form-data; name="a\\b"`, "1"):                                                               `{"a\\b":"1"}`,
		part(`form-data; name=a b`, "1"):                                                                  `{"a":"1"}`,
		"--B\r\nContent-Disposition: form-data;\r\n name=\"a:b\"\r\n\r\n1":                                `{"a:b":"1"}`,
		"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: x; name=b\r\n\r\n1\r\n--B": `{"a":"1"}`,
	} {
		a, err := Multipart("multipart/form-data; boundary=B", strings.NewReader(body))
		if got := dump(a); err != nil || got != want {
			t.Errorf("%.90q: %s, %v, want %s", body, got, err, want)
		}
	}
	if got, ok := Boundary("multipart/form-data; boundary=B,x"); !ok || got != "B" {
		t.Errorf("boundary %q, %v", got, ok)
	}
}
