package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/restwarden/restwarden/caddymodule/metrics"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/policies/ask"
)

// causes are answers of servers and plugins to questions, by what they come from
// (docs/project/interface 7).
var causes = []struct {
	name, kind, body, location string
	given                      int    // status
	status                     int    // of the client's answer to a call that needs a question
	cause                      string // in the log
	public                     string // in the client's answer
}{
	{"stale rewrite rules", "text/html", "<html>Not Found</html>", "", 404, 404, "status 404: rewrite rules that are stale", "<html>Not Found</html>"},
	{"a wrong sub-folder", "text/plain", "File not found.\n", "", 404, 404, "the wrong sub-folder", "File not found."},
	{"a firewall", "text/html", "<html>Forbidden</html>", "", 403, 403, "status 403: a firewall or an access rule", "<html>Forbidden</html>"},
	{"a large page", "text/html", "<html>" + strings.Repeat("x", 300<<10), "", 403, 503, "status 403: a firewall or an access rule", "a firewall or an access rule blocks its REST interface"},
	{"a login of the server", "text/html", "<html>Login</html>", "", 401, 503, "status 401: the server in front", "login of its own"},
	{"a fatal error", "text/html", "<html>There has been a critical error</html>", "", 500, 503, "status 500: a fatal error of PHP", "answer: it failed. Please"},
	{"a proxy without PHP", "text/html", "<html>Bad Gateway</html>", "", 502, 503, "status 502: PHP or the server behind is down", "it is down"},
	{"maintenance", "text/html", "<html>Soon back</html>", "", 503, 503, "status 503: maintenance", "in maintenance"},
	{"a cached page", "text/html", "<html>Home</html>", "", 200, 503, "status 200: a page in place of JSON", "a page in place of data"},
	{"nothing", "text/plain", "", "", 200, 503, "status 200: an empty answer", "an empty answer"},
	{"a redirect", "text/html", "", "https://www.shop.example/x?key=s3cret", 301, 503, "status 301: a redirect to www.shop.example", "it redirects"},
	{"a plugin", "application/json", `{"code":"blocked_by_plugin","message":"s3cret"}`, "", 403, 503, `status 403, code "blocked_by_plugin": the platform or one of its plugins`, "could not be checked. Please"},
}

// answer answers a question with the cause at i.
func answerCause(i int) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !isQuestion(r) {
			return false
		}
		h := w.Header()
		h.Set("Content-Type", causes[i].kind)
		h.Set("Set-Cookie", "leak=1")
		h.Set("X-Powered-By", "leak")
		if causes[i].location != "" {
			h.Set("Location", causes[i].location)
		}
		w.WriteHeader(causes[i].given)
		_, _ = io.WriteString(w, causes[i].body)
		return true
	}
}

// TestCauses: whatever a question meets, the record names it, and the caller gets what the
// call itself would get, or a 503 that says what is wrong.
func TestCauses(t *testing.T) {
	questions := map[string]struct{ site, line string }{
		"who is calling":   {"\trestwarden cms {\n\t\tlogin_only\n\t}\n", "GET /cms-json/cms/v2/posts"},
		"what is order 7":  {"\trestwarden cms\n", "PUT /cms-json/shop/v3/orders/7"},
		"in another form":  {"\trestwarden cms\n", "PUT /?rest_route=/shop/v3/orders/7"},
		"parts of a batch": {"\trestwarden cms\n", "POST /cms-json/shop/v3/orders/batch"},
	}
	for i, c := range causes {
		for name, q := range questions {
			if c.given == http.StatusForbidden && strings.Contains(c.body, `"code"`) && name != "who is calling" {
				continue // the platform refuses the caller's own question in its own words: TestOrderType_Refuses
			}
			t.Run(c.name+"/"+name, func(t *testing.T) {
				p := newPlatform(t)
				p.setAnswer(answerCause(i))
				g := startGateway(t, q.site+p.proxied())
				r := g.do(q.line, `{"update":[{"id":7}]}`, asAdmin, "Content-Type: application/json", "Origin: https://evil.example")
				status, public := c.status, c.public
				if status == http.StatusNotFound && name != "who is calling" { // an order is proven by a 404
					status, public = http.StatusServiceUnavailable, "its REST interface is not where it should be"
				}
				r.want(t, status, public)
				checkCause(t, g, r, status, c.cause)
				if seen := p.received(); len(seen) > 0 {
					t.Errorf("reached the platform: %q", seen)
				}
			})
		}
	}
}

// checkCause looks at what an answer carries beside the body, and at the record.
func checkCause(t *testing.T, g *gateway, r reply, status int, cause string) {
	t.Helper()
	for _, name := range []string{"Set-Cookie", "X-Powered-By", "Location"} {
		if r.header.Get(name) != "" {
			t.Errorf("%s is handed on: %v", name, r.header)
		}
	}
	handedOn := status != http.StatusServiceUnavailable
	code := map[bool]string{true: `"code":"platform"`, false: `"code":"rest_policy_unavailable"`}[handedOn]
	if shared := r.header.Get("Access-Control-Allow-Origin") != ""; shared == handedOn {
		t.Errorf("another origin may read it: %t", shared)
	}
	if handedOn != (r.header.Get("Content-Security-Policy") != "") || r.header.Get("Cache-Control") != "no-store" {
		t.Error(r.header)
	}
	record := recordOf(g.logged())
	quoted := strings.ReplaceAll(cause, `"`, `\"`)
	if !strings.Contains(record, code) || !strings.Contains(record, quoted) || !strings.Contains(record, "The site answered the gateway's question with status") {
		t.Errorf("the record has no %s, %s: %s", code, quoted, record)
	}
	if strings.Contains(g.logged(), "s3cret") || strings.Contains(r.body, "s3cret") {
		t.Error("a word of the answer is in the log or in the body")
	}
}

// TestCauses_OwnKey: the answer to a question with the gateway's own key stays here.
func TestCauses_OwnKey(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/cms-json/" { // where the key may go
			_, _ = io.WriteString(w, `{"home":"http://a.test","namespaces":["cms/v2","shop/v3"]}`)
			return true
		}
		name, _, _ := r.BasicAuth()
		if !isQuestion(r) || name != "ck_own" && r.URL.Query().Get("oauth_consumer_key") != "ck_own" {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<html>own key</html>")
		return true
	})
	g := startGateway(t, "\trestwarden cms {\n\t\torder_type {\n\t\t\tcredential ck_own:cs_own\n\t\t}\n\t}\n"+p.proxied())
	r := g.do("PUT /cms-json/shop/v3/orders/7?oauth_consumer_key=a&oauth_signature=b", `{}`, "Content-Type: application/json")
	r.want(t, 503, "rest_policy_unavailable")
	if strings.Contains(r.body, "own key") || !strings.Contains(g.logged(), "a firewall or an access rule") {
		t.Error(r.body, g.logged())
	}
}

// TestCauses_OnErrorPass: a policy with on_error pass lets such calls pass.
func TestCauses_OnErrorPass(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(answerCause(0))
	g := startGateway(t, "\trestwarden cms {\n\t\tlogin_only\n\t\taccess {\n\t\t\ton_error pass\n\t\t}\n\t}\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 200, "/cms/v2/posts")
}

// TestCauses_Discovery: the log says once why there is no REST root.
func TestCauses_Discovery(t *testing.T) {
	for i, c := range causes {
		if c.given == http.StatusUnauthorized || strings.HasPrefix(c.kind, "application/json") {
			continue // closed: the site shows its root to nobody, which is no problem
		}
		t.Run(c.name, func(t *testing.T) {
			p := newPlatform(t)
			p.setAnswer(answerCause(i))
			g := startGateway(t, "\trestwarden cms\n"+p.proxied())
			g.do("GET /cms-json/cms/v2/posts", "").want(t, 200, "")
			warned := func() int {
				n := 0
				for line := range strings.Lines(g.logged()) {
					if strings.Contains(line, `"level":"warn"`) && strings.Contains(line, `"site":`) && strings.Contains(line, c.cause) {
						n++
					}
				}
				return n
			}
			eventually(t, "a warning that names the cause", func() bool { return warned() == 1 })
			if strings.Contains(g.logged(), "s3cret") {
				t.Error(fmt.Sprint("an address is in the log: ", g.logged()))
			}
		})
	}
}

// TestCauses_Status: the state of a site says why its last question had no usable answer,
// until one has.
func TestCauses_Status(t *testing.T) {
	state := newTestState(t)
	trace := state.counting(metrics.New(nil, false, nil))
	tell := func(kind ask.Kind, a *ask.Answer, err error) string {
		trace.Asked(ask.Question{Kind: kind}, a, err, time.Second)
		return state.asked()[kind].Error
	}
	page := &ask.Answer{Status: http.StatusNotFound, Body: []byte("<html>s3cret")}
	if got := tell(ask.KindCaller, page, nil); !strings.Contains(got, "rewrite rules that are stale") || strings.Contains(got, "s3cret") {
		t.Errorf("got %q", got)
	}
	if got := tell(ask.KindRecord, nil, ask.ErrUndecided); got != ask.ErrUndecided.Error() {
		t.Errorf("got %q", got)
	}
	for kind, a := range map[ask.Kind]*ask.Answer{
		ask.KindIndex:  page,
		ask.KindRecord: {Status: http.StatusNotFound, Body: []byte(`{"code":"shop_rest_invalid_id"}`)},
		ask.KindCaller: {Status: http.StatusOK},
	} {
		if got := tell(kind, a, nil); got != "" {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

// TestCauses_Late: a question that takes longer than timeout goes on while its client waits.
// Where too many are late already, the record names the option.
func TestCauses_Late(t *testing.T) {
	p := newPlatform(t)
	hangs := make(chan struct{})
	p.setAnswer(func(_ http.ResponseWriter, r *http.Request) bool {
		if isQuestion(r) {
			<-hangs
		}
		return false
	})
	g := startGateway(t, "\tmetrics /metrics\n\trestwarden cms {\n\t\tlogin_only\n\t\tidentity {\n\t\t\ttimeout 50ms\n\t\t\tmax_in_flight 1\n\t\t}\n\t}\n"+p.proxied())
	first := make(chan reply)
	go func() { first <- g.do("GET /cms-json/cms/v2/posts", "", asAdmin) }()
	eventually(t, "the first question", func() bool { return len(p.asked()) == 1 })
	g.do("GET /cms-json/cms/v2/posts", "", asCustomer).want(t, 503, "it did not answer in time")
	close(hangs)
	got := <-first
	got.want(t, 200, `"route":"/cms/v2/posts"`)
	for _, want := range []string{"no answer within identity { timeout 50ms }", "PHP is slow or has no free worker"} {
		if !strings.Contains(g.logged(), want) {
			t.Errorf("the record has no %q: %s", want, g.logged())
		}
	}
}

// TestCauses_Down: a connection that is refused has its cause in record and answer, without
// the places in Caddy, and the metric counts it as an error.
func TestCauses_Down(t *testing.T) {
	g := startGateway(t, "\trestwarden cms {\n\t\tlogin_only\n\t}\n\treverse_proxy "+machine.FreeAddress(t))
	g.do("GET /cms-json/cms/v2/posts", "", asAdmin).want(t, 503, "it cannot be reached")
	if record := recordOf(g.logged()); !strings.Contains(record, "the site cannot be reached: dial tcp") || strings.Contains(record, "statusError") {
		t.Error(record)
	}
}

// TestCauses_Metric: an answer that cannot be used is no success.
func TestCauses_Metric(t *testing.T) {
	q, state := ask.Question{Kind: ask.KindCaller}, newTestState(t)
	for result, a := range map[string]*ask.Answer{
		"ok":    {Status: 401, Body: []byte(`{"code":"rest_not_logged_in"}`)},
		"error": {Status: 404, Body: []byte("<html>")},
	} {
		registry := prometheus.NewRegistry()
		state.counting(metrics.New(registry, false, func(func(string, metrics.Site) bool) {})).Asked(q, a, nil, time.Second)
		if n := series(t, registry, "caddy_restwarden_lookups_total", string(q.Kind), result); n != 1 {
			t.Errorf("%d: %v counted as %s", a.Status, n, result)
		}
	}
}

// recordOf returns the line of the last refusal in a log.
func recordOf(logged string) (record string) {
	for line := range strings.Lines(logged) {
		if strings.Contains(line, `"msg":"request refused"`) {
			record = line
		}
	}
	return record
}
