package call

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const multipartType = "multipart/form-data; boundary=b"

// multipartForm is a form with a field, and with a file if one is named.
func multipartForm(field, file string) string {
	form := "--b\r\nContent-Disposition: form-data; name=\"" + field + "\"\r\n\r\nx\r\n"
	if file != "" {
		form += "--b\r\nContent-Disposition: form-data; name=\"" + file + "\"; filename=\"a.png\"\r\n\r\nx\r\n"
	}
	return form + "--b--\r\n"
}

// TestCarriesOther: every place of a call that writes may have a parameter, and none is passed over.
func TestCarriesOther(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, target, contentType, body, want string }{
		{"PUT", "/wp-json/a", "", "", "no"},
		{"PUT", "/wp-json/a?status=x", "", "", "no"},
		{"PUT", "/?rest_route=/a&status=x", "", "", "yes"}, // the caller tells which names are known
		{"PUT", "/wp-json/a?Status=x", "", "", "yes"},
		{"PUT", "/wp-json/a?status[]=x", "", "", "no"},
		{"PUT", "/wp-json/a?x", "", "", "yes"},
		{"PUT", "/wp-json/a?status=1;x=2", "", "", "400 variables"},
		{"PUT", "/wp-json/a", jsonType, `{"status":1}`, "no"},
		{"PUT", "/wp-json/a", jsonType, `{"\u0073tatus":1}`, "no"},
		{"PUT", "/wp-json/a", jsonType, `{"status":1,"total":2}`, "yes"},
		{"PUT", "/wp-json/a", jsonType, `{"status":1,"total":null}`, "yes"},
		{"PUT", "/wp-json/a", jsonType, `{"status":1,"status":2}`, "400 body"},
		{"PUT", "/wp-json/a", jsonType, `{}`, "no"},
		{"PUT", "/wp-json/a", jsonType, `[]`, "no"},
		{"PUT", "/wp-json/a", jsonType, `null`, "no"},
		{"PUT", "/wp-json/a", jsonType, `[{"total":1}]`, "yes"},
		{"PUT", "/wp-json/a", jsonType, `"total"`, "yes"},
		{"PUT", "/wp-json/a", jsonType, `{`, "400 body"},
		{"PUT", "/wp-json/a", formType, "status=1", "no"},
		{"PUT", "/wp-json/a", formType, "status=1&total=2", "yes"},
		{"PUT", "/wp-json/a", "", "status=1&total=2", "yes"},
		{"PUT", "/wp-json/a", "text/plain", "status=1", "yes"},
		{"POST", "/wp-json/a", "text/plain", "status=1", "yes"},
		{"POST", "/wp-json/a", "image/png", "x", "yes"},
		{"POST", "/wp-json/a", formType, "status=1&total=2", "yes"},
		{"POST", "/wp-json/a", formType, "status=1;total=2", "400 variables"},
		{"POST", "/wp-json/a", formType, ` [{"total":1}]`, "yes"},
		{"PUT", "/wp-json/a", formType, `[{"total":1}]&status=1`, "yes"},
		{"POST", "/wp-json/a", multipartType, multipartForm("status", ""), "no"},
		{"POST", "/wp-json/a", multipartType, multipartForm("total", ""), "yes"},
		{"POST", "/wp-json/a", multipartType, multipartForm("status", "status"), "yes"},
		{"PUT", "/wp-json/a", multipartType, multipartForm("status", ""), "yes"},
		{"POST", "/wp-json/a?_method=PUT", formType, "status=1&total=2", "yes"},
		{"GET", "/wp-json/a?_method=PUT", jsonType, `{"status":1}`, "400 body_type"},
		{"DELETE", "/wp-json/a?force=true", "", "", "yes"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"email":1}}`, "no"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"e\u006dail":{"x":1}}}`, "no"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":[]}`, "no"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"email":1,"phone":2}}`, "yes"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":[{"email":1}]}`, "yes"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":null}`, "yes"},
		{"PUT", "/wp-json/a", formType, "billing[email]=1", "no"},
		{"PUT", "/wp-json/a", formType, "billing[email][x]=1", "no"},
		{"PUT", "/wp-json/a", formType, "billing[email]=1&billing[phone]=2", "yes"},
		{"PUT", "/wp-json/a", formType, "billing=1", "yes"},
		{"PUT", "/wp-json/a", formType, "billing[]=1", "yes"},
		{"PUT", "/wp-json/a?billing[phone]=1", "", "", "yes"},
	} {
		c := readerFor("root").Read(request(tt.method, tt.target, tt.contentType, tt.body), nil)
		if got := carries(c, "status", "_method"); got != tt.want {
			t.Errorf("%s %s %s %q: %s, want %s", tt.method, tt.target, tt.contentType, tt.body, got, tt.want)
		}
		c.Close()
	}
	long := request(http.MethodPost, "/wp-json/a", "image/png", "x")
	long.ContentLength = -1
	c := readerFor("root").Read(long, nil)
	if got := carries(c, "status"); got != "yes" {
		t.Error("a body of unknown length:", got)
	}
	c.Close()
}

func carries(c *Call, known ...string) string {
	other, err := c.CarriesOther(Names{"billing": {"email": nil}}, func(name string) bool { return slices.Contains(known, name) })
	return said(map[bool]string{true: "yes", false: "no"}[other], err)
}

func said(text string, err error) string {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return fmt.Sprint(refusal.Status, " ", refusal.Reason)
	}
	return text
}

// TestCarriesOther_Parts: a part has the fields of its own, and what names the item of a collection is none of them.
func TestCarriesOther_Parts(t *testing.T) {
	t.Parallel()
	core, shop := "/wp-json/batch/v1", "/wp-json/wc/v3/orders/batch"
	for _, tt := range []struct{ target, contentType, body, want string }{
		{core, jsonType, `{"requests":[{"path":"/a","body":{"status":1}}]}`, "no"},
		{core, jsonType, `{"requests":[{"path":"/a","body":{"status":1,"id":2}}]}`, "yes"},
		{core, jsonType, `{"requests":[{"path":"/a?total=1","body":{"status":1}}]}`, "yes"},
		{core + "?total=1", jsonType, `{"requests":[{"path":"/a","body":{"status":1}}]}`, "no"},
		{core, formType, "requests[0][path]=/a&requests[0][body][status]=x", "no"},
		{core, formType, "requests[0][path]=/a&requests[0][body][total]=x", "yes"},
		{core, formType, "requests[0][path]=/a&requests[0][body][billing][phone]=x", "400 batch"},
		{core, jsonType, `{"requests":[{"path":"/a","body":{"billing":{"phone":1}}}]}`, "yes"},
		{shop, jsonType, `{"update":[{"id":5,"status":"x"}]}`, "no"},
		{shop, jsonType, `{"update":[{"id":5,"total":"x"}]}`, "yes"},
		{shop, jsonType, `{"create":[{"id":5,"status":"x"}]}`, "yes"},
		{shop + "?total=1", jsonType, `{"update":[{"id":5}]}`, "yes"},
		{shop, jsonType, `{"delete":[5]}`, "no"},
		{shop, formType, "update[0][id]=5&update[0][total]=x", "yes"},
	} {
		c := readerFor("root").Read(request("POST", tt.target, tt.contentType, tt.body), nil)
		if len(c.Parts) != 1 {
			t.Fatal(describe(c))
		}
		if got := carries(c.Parts[0], "status"); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.target, tt.body, got, tt.want)
		}
		c.Settle()
		if got := carries(c.Parts[0], "status"); !strings.Contains(got, "400") && len(c.Parts[0].src.query) == 0 {
			t.Errorf("%s, settled: %s", tt.body, got)
		}
		c.Close()
	}
}

// TestValues: a member is found in each place, and what stands in the way of it is no absence.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, target, contentType, body, path, want string }{
		{"PUT", "/wp-json/a", "", "", "status", "[]"},
		{"PUT", "/wp-json/a?status=x", jsonType, `{"status":"y"}`, "status", "[y x]"},
		{"PUT", "/wp-json/a?status=x", jsonType, `{"status":null}`, "status", "[<nil> x]"},
		{"PUT", "/wp-json/a?status=x&status=y", "", "", "status", "400 variables"},
		{"PUT", "/wp-json/a", jsonType, `{"status":5}`, "status", "[5]"},
		{"PUT", "/wp-json/a", jsonType, `{"status":5.0}`, "status", "[5.0]"},
		{"PUT", "/wp-json/a", jsonType, `{"status":true}`, "status", "[true]"},
		{"PUT", "/wp-json/a", jsonType, `{"status":["x"]}`, "status", "[{}]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"email":"a"}}`, "billing.email", "[a]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"email":"a","email":"b"}}`, "billing.email", "[{}]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"e\u006dail":"a"}}`, "billing.email", "[a]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"Email":"a"}}`, "billing.email", "[]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{"email":null}}`, "billing.email", "[<nil>]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":[]}`, "billing.email", "[]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":{}}`, "billing.email", "[]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":[{"email":"a"}]}`, "billing.email", "[{}]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":"email"}`, "billing.email", "[{}]"},
		{"PUT", "/wp-json/a", jsonType, `{"billing":null}`, "billing.email", "[{}]"},
		{"PUT", "/wp-json/a", formType, "billing[email]=a", "billing.email", "[a]"},
		{"PUT", "/wp-json/a", formType, "billing=a", "billing.email", "[{}]"},
		{"PUT", "/wp-json/a", formType, "billing[email][]=a", "billing.email", "[{}]"},
		{"PUT", "/wp-json/a", formType, "billing[phone]=a", "billing.email", "[]"},
		{"PUT", "/wp-json/a", formType, "a[b][c][d]=x", "a.b.c.d", "[x]"},
		{"POST", "/wp-json/a", multipartType, multipartForm("status", ""), "status", "[x]"},
		{"PUT", "/wp-json/a?billing[email]=a", "", "", "billing.email", "[a]"},
		{"PUT", "/wp-json/a?billing[email]=a&billing[email]=b", "", "", "billing.email", "400 variables"},
		{"PUT", "/wp-json/a?billing[Email]=a", "", "", "billing.email", "400 variables"},
		{"GET", "/wp-json/a?status=x", "", "", "status", "[x]"},
		{"GET", "/wp-json/a", formType, "status=x", "status", "[{}]"},
		{"GET", "/wp-json/a", "text/plain", "status=x", "status", "[]"},
		{"HEAD", "/wp-json/a", formType, "status=x", "status", "400 body_type"},
		{"POST", "/wp-json/a?_method=GET", formType, "status=x", "status", "[{}]"},
		{"POST", "/wp-json/a", multipartType, multipartForm("status", "status"), "status", "[x {}]"},
		{"POST", "/wp-json/a", multipartType, multipartForm("a", " or.der_total[x]"), "or_der_total", "[{}]"},
		{"POST", "/wp-json/a", multipartType, multipartForm("a", "status"), "stat", "[]"},
	} {
		c := readerFor("root").Read(request(tt.method, tt.target, tt.contentType, tt.body), nil)
		values, err := c.Values(strings.Split(tt.path, ".")...)
		if got := said(fmt.Sprint(values), err); got != tt.want {
			t.Errorf("%s %s %s: %s of %s, want %s", tt.method, tt.target, tt.body, got, tt.path, tt.want)
		}
		c.Close()
	}
	for body, want := range map[string]string{
		"requests[0][path]=/a&requests[0][body][status]=x":      "[x]",
		"requests[0][path]=/a&requests[0][body][status][]=x":    "[{}]",
		"requests[0][path]=/a&requests[0][body][other]=x":       "[]",
		"requests[0][path]=/a?status=z&requests[0][method]=PUT": "[z]",
	} {
		c := readerFor("root").Read(request("POST", "/wp-json/batch/v1", formType, body), nil)
		values, err := c.Parts[0].Values("status")
		if got := said(fmt.Sprint(values), err); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
		if _, err := c.Parts[0].Values("status", "x"); strings.Contains(body, "[]") && err == nil {
			t.Errorf("%s: what is nested in the field of a part has a value", body)
		}
		c.Close()
	}
}

// FuzzParameters: what the platform takes for the value of a parameter is among the values of all places, and the
// call carries it.
func FuzzParameters(f *testing.F) {
	for _, seed := range [][3]string{
		{"status=x", jsonType, `{"status":"y","a":{"b":1}}`},
		{"", jsonType, `{"a":[{"b":null}]}`},
		{"a[b]=1", formType, "a[b]=2&status=x"},
		{"_method=PUT", formType, "status=x;a=2"},
		{"", multipartType, multipartForm("status", "a")},
		{"STATUS=1&%73tatus=2", "", "status"},
		{"", "text/plain", "status=x"},
		{"a.b=1&a_b=2", formType, "a b=3"},
	} {
		f.Add(seed[0], seed[1], seed[2], "status")
		f.Add(seed[0], seed[1], seed[2], "a")
	}
	rd := readerFor("root")
	f.Fuzz(func(t *testing.T, query, contentType, body, name string) {
		if strings.ContainsAny(query, " #\r\n") || strings.ContainsAny(contentType, "\r\n") || !printed.Holds(query) {
			return
		}
		r := request("POST", "/wp-json/a", contentType, body)
		r.URL.RawQuery = query
		c := rd.Read(r, nil)
		defer c.Close()
		if c.Kind != Single || !c.Writes() || name == "" {
			return
		}
		v, set, err := c.Scalar(name)
		if err != nil || !set {
			return
		}
		if values, err := c.Values(name); err == nil && !slices.Contains(values, v) {
			t.Fatalf("%v is none of %v", v, values)
		}
		if other, err := c.CarriesOther(nil, func(known string) bool { return known != name }); err == nil && !other {
			t.Fatalf("%q is carried, and not told", name)
		}
	})
}
