//go:build wordpress

package wordpress

import (
	"fmt"
	"strings"
	"testing"
)

// keptCalls are calls to routes behind conditions, "METHOD target", header fields and a body. The
// first ones are what honest clients send.
var keptCalls = []struct {
	line, body string
	headers    []string
	want       string // "" for a call that runs
}{
	{line: "PUT /wp-json/probe/v1/kept/7", body: `{"status":"a","order_total":9.5,"billing":{"email":"x"}}`, headers: []string{jsonType}},
	{line: "PUT /wp-json/probe/v1/kept/7", body: `{"status":"a","order_total":"9.50"}`, headers: []string{"Content-Type: application/json;charset=utf-8"}},
	{line: "POST /wp-json/probe/v1/kept/7?_locale=user", body: `{"status":"b"}`, headers: []string{jsonType, "X-HTTP-Method-Override: PUT", "Accept: application/json, */*;q=0.1"}}, // the editor
	{line: "POST /wp-json/probe/v1/kept/7?_locale=user", headers: []string{"X-HTTP-Method-Override: DELETE"}},
	{line: "POST /wp-json/probe/v1/kept/7?_envelope=1&_embed&_fields=seen&_jsonp=cb", body: `{"status":5}`, headers: []string{jsonType}},
	{line: "POST /wp-json/probe/v1/kept/7", body: `{"status":"a","_fields":"id","_method":"GET","_envelope":true,"_jsonp":"x","_embed":1,"_locale":"user"}`, headers: []string{jsonType}},
	{line: "POST /wp-json/probe/v1/kept/7", body: "status=a&order_total=9.5&billing%5Bemail%5D=x", headers: []string{formType}},
	{line: "PUT /wp-json/probe/v1/kept/7", body: "status=a&billing[email]=x", headers: []string{formType}},
	{line: "PATCH /wp-json/probe/v1/kept/7", body: "status=a", headers: []string{"Content-Type: application/x-www-form-urlencoded; charset=UTF-8"}},
	{line: "POST /wp-json/probe/v1/kept/7", body: "--b\r\nContent-Disposition: form-data; name=\"status\"\r\n\r\na\r\n--b--\r\n", headers: []string{"Content-Type: multipart/form-data; boundary=b"}},
	{line: "DELETE /wp-json/probe/v1/kept/7?status=a"},
	{line: "DELETE /wp-json/probe/v1/kept/7"},
	{line: "POST /wp-json/probe/v1/kept/7"},
	{line: "POST /wp-json/probe/v1/kept/7", body: "{}", headers: []string{jsonType}},
	{line: "POST /wp-json/probe/v1/kept/7", body: `{"status":"a"}`, headers: []string{jsonType, "Expect: 100-continue"}},
	{line: "chunked POST /wp-json/probe/v1/kept/7", body: `{"status":"a"}`, headers: []string{jsonType}},
	{line: "chunked PUT /wp-json/probe/v1/kept/7", body: "status=a", headers: []string{formType}},
	{line: "PUT /?rest_route=/probe/v1/kept/7", body: `{"status":"a"}`, headers: []string{jsonType}},
	{line: "PUT /wp-json/wc/v3/probes/7?consumer_key=ck_standin&consumer_secret=cs_standin", body: `{"status":"a"}`, headers: []string{"Content-Type: application/json;charset=utf-8"}},
	{line: "POST /wp-json/wc/v3/probes/batch", body: `{"create":[{"status":"a"}],"update":[{"id":7,"order_total":"3.00"}]}`, headers: []string{jsonType}},
	{line: "POST /wp-json/batch/v1", body: `{"requests":[{"path":"/probe/v1/kept/7","method":"PUT","body":{"status":"a"}},{"path":"/probe/v1/named/7?_locale=user","body":{"status":1}}]}`, headers: []string{jsonType}},
	{line: "POST /wp-json/probe/v1/named/7", body: `{"id":7,"status":"anything"}`, headers: []string{jsonType}},
	{line: "GET /wp-json/probe/v1/compared/7?status=a&order_total=-3"},
	{line: "GET /wp-json/probe/v1/compared/7?status=a&page=2&search=x"},
	{line: "PUT /wp-json/probe/v1/compared/7", body: `{"status":"b","billing":{"email":"x","phone":"1"},"other":1}`, headers: []string{jsonType}},
	{line: "POST /wp-json/probe/v1/kept/7", body: `{"status":"a"}`, headers: []string{"Content-Type: application/vnd.api+json"}},

	{line: "POST /wp-json/probe/v1/kept/7", body: `{"status":"a","total":1}`, headers: []string{jsonType}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7", body: `{"status":"a","total":1}`, headers: []string{"Content-Type: application/x+json"}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7", body: `{"status":"a","total":1}`, headers: []string{"Content-Type: application/json; charset=utf-16"}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7", body: "\xfe\xff\x00{\x00}", headers: []string{"Content-Type: application/json; charset=utf-16"}, want: "rest_ambiguous_request"},
	{line: "POST /wp-json/probe/v1/kept/7", body: "\ufeff" + `{"total":1}`, headers: []string{jsonType}, want: "rest_ambiguous_request"},
	{line: "POST /wp-json/probe/v1/kept/7", body: `{"status":"a"}`, headers: []string{jsonType, "Content-Encoding: gzip"}, want: "rest_unsupported_media_type"},
	{line: "POST /wp-json/probe/v1/kept/7", body: "status=a", headers: []string{formType, "Content-Encoding: deflate"}, want: "rest_unsupported_media_type"},
	{line: "GET /wp-json/probe/v1/kept/7?_method=PUT", body: `{"status":"a"}`, headers: []string{jsonType}, want: "rest_ambiguous_request"},
	{line: "GET /wp-json/probe/v1/kept/7?_method=PUT", body: `{"total":"a"}`, headers: []string{jsonType}, want: "rest_ambiguous_request"},
	{line: "GET /wp-json/probe/v1/kept/7", body: `{"total":"a"}`, headers: []string{jsonType, "X-HTTP-Method-Override: PUT"}, want: "rest_ambiguous_request"},
	{line: "chunked POST /wp-json/probe/v1/kept/7", body: `{"total":1}`, headers: []string{jsonType}, want: "rest_forbidden"},
	{line: "chunked POST /wp-json/probe/v1/kept/7", body: "x", headers: []string{"Content-Type: text/plain"}, want: "rest_forbidden"},
	{line: "chunked PUT /wp-json/probe/v1/kept/7", body: "total=1", headers: []string{formType}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7", body: "total=1", headers: []string{formType, "Expect: 100-continue"}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7?_method=GET", body: "total=1", headers: []string{formType}, want: "rest_not_logged_in"},
	{line: "POST /wp-json/probe/v1/kept/7?order.total=11", want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7?_jsonp=x&_fields=id&total=1", want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7?rest_route=/probe/v1/kept/7&total=1", want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/kept/7", body: `{"id":7}`, headers: []string{jsonType}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/named/7?id=8", body: `{"id":7}`, headers: []string{jsonType}, want: "rest_ambiguous_request"},
	{line: "POST /wp-json/probe/v1/named/7?id=8", body: "id=7", headers: []string{formType}, want: "rest_ambiguous_request"},
	{line: "POST /wp-json/probe/v1/compared/7?_method=GET&status=a", body: "status=c", headers: []string{formType}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/compared/7?_method=HEAD&status=a", body: "order_total=11", headers: []string{formType}, want: "rest_forbidden"},
	{line: "GET /wp-json/probe/v1/compared/7?status=a", body: "order_total=11", headers: []string{formType}, want: "rest_forbidden"},
	{line: "PUT /wp-json/probe/v1/kept/7", body: `[{"total":1}]`, headers: []string{formType}, want: "rest_forbidden"},
	{line: "POST /wp-json/probe/v1/compared/7", body: "--b\r\nContent-Disposition: form-data; name=\"status\"\r\n\r\na\r\n--b\r\nContent-Disposition: form-data; name=\"status\"; filename=\"f\"\r\n\r\nx\r\n--b--\r\n", headers: []string{"Content-Type: multipart/form-data; boundary=b"}, want: "rest_forbidden"},
	{line: "POST /wp-json/wc/v3/probes/batch", body: `{"update":[{"id":7,"total":1}]}`, headers: []string{jsonType}, want: "rest_forbidden"},
	{line: "POST /wp-json/wc/v3/probes/batch?total=1", body: `{"update":[{"id":7,"status":"a"}]}`, headers: []string{jsonType}, want: "rest_forbidden"},
	{line: "POST /wp-json/wc/v3/probes/batch", body: `{"create":[{"status":"c"}]}`, headers: []string{jsonType}, want: "rest_forbidden"},
	{line: "POST /wp-json/batch/v1", body: `{"requests":[{"path":"/probe/v1/kept/7?total=1","method":"PUT","body":{"status":"a"}}]}`, headers: []string{jsonType}, want: "rest_forbidden"},
}

// TestConditions_Calls sends the calls of keptCalls in every version of HTTP.
func TestConditions_Calls(t *testing.T) {
	s := setUps(t)
	for _, g := range s.gatesOf(modeKept) {
		for _, p := range protocols {
			t.Run(g.setUp()+" "+p.name, func(t *testing.T) {
				c := count(t)
				for i, call := range keptCalls {
					m := &message{body: call.body, headers: call.headers}
					line, chunked := strings.CutPrefix(call.line, "chunked ")
					m.method, m.target, _ = strings.Cut(line, " ")
					m.chunked = chunked
					c.check(call.line+" "+call.body, s.tryKept(t, g, p, m, fmt.Sprintf("kept-calls-%s-%s-%d", g.Site.Name, strings.NewReplacer("HTTP/", "", ".", "").Replace(p.name), i), call.want))
				}
			})
		}
	}
}

func (s *stack) tryKept(t *testing.T, g *gate, p protocol, m *message, tag, want string) error {
	t.Helper()
	a, err := p.send(t.Context(), g, m, tag)
	if err != nil {
		return err
	}
	seen, err := s.readTrace(tag)
	if err != nil {
		return err
	}
	for i := range seen.carried {
		if how := seen.carried[i].broken(); how != "" {
			return fmt.Errorf("it ran: %s", how)
		}
	}
	code := ""
	if a.refused() {
		code = a.decision[strings.LastIndexByte(a.decision, ' ')+1:]
	}
	if code != want || want == "" && len(seen.carried) == 0 {
		return fmt.Errorf("%q, want %q: %s", code, want, a)
	}
	return nil
}
