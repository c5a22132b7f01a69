package php

import (
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

func TestSerialize(t *testing.T) {
	for query, want := range map[string]string{
		"":                    `a:0:{}`,
		"a=1&b[]=2&b[x]=\xff": "a:2:{s:1:\"a\";s:1:\"1\";s:1:\"b\";a:2:{i:0;s:1:\"2\";s:1:\"x\";s:1:\"\xff\";}}",
		"7=a&-7=b&07=c&-0=d":  `a:4:{i:7;s:1:"a";i:-7;s:1:"b";s:2:"07";s:1:"c";s:2:"-0";s:1:"d";}`,
	} {
		if got := serialize(phpvars.Query(query)); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	if got := serializeList([]string{"f", "0"}); got != `a:2:{i:0;s:1:"f";i:1;i:0;}` {
		t.Error(got)
	}
}

func TestTopLevel(t *testing.T) {
	for query, want := range map[string]bool{
		"id=1": true, "a=1&id[]=2": true, "a[id]=1": false, "a=id": false, "x[a][b]=1&id=2": true, "": false, "7=1&id=": true, "a[]=id&b=1": false,
	} {
		if got := topLevel(serialize(phpvars.Query(query)), "id"); got != want {
			t.Errorf("%q: %t", query, got)
		}
	}
}

// TestJudge: a reader that is wrong is noticed, in each of the places.
func TestJudge(t *testing.T) {
	empty := serialize(nil)
	right := &list{get: serialize(phpvars.Query("a=1")), post: empty, files: empty, raw: empty}
	if verdict, err := judge(&input{kind: kindQuery, method: "GET", query: "a=1"}, right, false); err != nil || verdict != verdictSame {
		t.Error(verdict, err)
	}
	for name, in := range map[string]*input{
		"query":                 {method: "GET", query: "a=2"},
		"a name that is missed": {method: "GET", query: "b=1"},
		"form":                  {method: "POST", query: "a=1", contentType: formType, body: "a=1"},
		"multipart":             {method: "POST", query: "a=1", contentType: "multipart/form-data; boundary=B", body: "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--"},
		"a file":                {method: "POST", query: "a=1", contentType: "multipart/form-data; boundary=B", body: "--B\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\n1\r\n--B--"},
		"body of PUT":           {method: "PUT", query: "a=1", contentType: formType, body: "a=1"},
	} {
		if _, err := judge(in, right, false); err == nil {
			t.Errorf("%s: no difference", name)
		}
	}
}
