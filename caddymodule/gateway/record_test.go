package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// rootWithForms is the REST root of a platform with a plugin for forms.
const rootWithForms = `{"namespaces":["cms/v2","contact-form-7/v1"],"routes":{
	"/":{},"/cms/v2":{},"/cms/v2/posts":{},"/cms/v2/posts/(?P<id>[\\d]+)":{},"/cms/v2/users":{},"/batch/v1":{},
	"/contact-form-7/v1/contact-forms/(?P<id>\\d+)/feedback":{}}}`

// withRoot makes p answer its REST root.
func (p *platform) withRoot() {
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/cms-json/" {
			return false
		}
		_, err := io.WriteString(w, rootWithForms)
		return err == nil
	})
}

// TestRecord_Route: the route is the site's own pattern, or "unknown", whatever a client
// writes, with a line that would let the call pass.
func TestRecord_Route(t *testing.T) {
	p := newPlatform(t)
	p.withRoot()
	g := startGateway(t, loginOnly+p.proxied())
	g.do("GET /cms-json/cms/v2/posts", "")
	record := func(r reply) map[string]any {
		t.Helper()
		found := lines(t, g.log, r.header.Get("X-Request-Id"))
		if len(found) != 1 {
			t.Fatalf("%d lines for %v", len(found), r)
		}
		return found[0]
	}
	eventually(t, "the index is known", func() bool {
		return record(g.do("GET /cms-json/cms/v2/posts/12", ""))["route"] == "/cms/v2/posts/:id"
	})
	got := record(g.do("POST /cms-json/contact-form-7/v1/contact-forms/5/feedback", "a=b", form))
	if got["route"] != "/contact-form-7/v1/contact-forms/:id/feedback" ||
		got["remedy"] != "allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback" {
		t.Error(got)
	}
	got = record(g.do("POST /", "rest_route=%2Fcms%2Fv2%2Fposts%2F7", form))
	if got["route"] != "/cms/v2/posts/:id" || got["form"] != "body" || got["from"] != "none" {
		t.Error(got)
	}
	wordy := []string{"GET /cms-json/%s/v1/x", "GET /cms-json/cms/v2/%s", "GET /?rest_route=/%s", "POST /cms-json/cms/v2/posts?_method=%s"}
	for i := range 1000 {
		word := fmt.Sprintf("word%d", i)
		got := record(g.do(fmt.Sprintf(wordy[i%len(wordy)], word), ""))
		for name, value := range got {
			if strings.Contains(strings.ToLower(fmt.Sprint(value)), word) {
				t.Fatalf("%s is %v", name, value)
			}
		}
		if route := got["route"]; route != "unknown" && route != "/cms/v2/posts" {
			t.Fatalf("route %v", route)
		}
	}
}

// TestRecord_Batch: each refused part of a batch has its own line, with one id.
func TestRecord_Batch(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, strings.Replace(loginOnly, "login_only", "login_only\n\t\tallow anyone /batch/v1 /open/v1/**", 1)+p.proxied())
	r := g.do("POST /cms-json/batch/v1", `{"requests":[{"path":"/open/v1/x","method":"POST"},{"path":"/cms/v2/posts","method":"POST"},{"path":"/cms/v2/pages/3","method":"DELETE"}]}`, asJSON)
	r.want(t, 401, "rest_not_logged_in")
	got := lines(t, g.log, r.header.Get("X-Request-Id"))
	if len(got) != 2 || got[0]["method"] != "POST" || got[1]["method"] != "DELETE" || got[0]["parts"] != 3.0 || got[1]["route"] != "cms/v2" {
		t.Errorf("%d lines: %v", len(got), got)
	}
}

// TestRecord_WrongPassword: a wrong password is the platform's refusal.
func TestRecord_WrongPassword(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, loginOnly+p.proxied())
	r := g.do("GET /cms-json/cms/v2/posts", "", asWrong)
	got := lines(t, g.log, r.header.Get("X-Request-Id"))
	if len(got) != 1 || got[0]["code"] != "platform" || got[0]["rule"] != "" || !strings.Contains(got[0]["why"].(string), "incorrect_password") {
		t.Error(got)
	}
}

// TestRecord_RequestIDOff: request_id off leaves the header out, not the field.
func TestRecord_RequestIDOff(t *testing.T) {
	p := newPlatform(t)
	g := startGateway(t, strings.Replace(loginOnly, "login_only", "login_only\n\t\trequest_id off", 1)+p.proxied())
	r := g.do("GET /cms-json/cms/v2/posts", "")
	if _, there := r.header["X-Request-Id"]; there || strings.Count(g.logged(), `"request_id":"`) != 1 {
		t.Error(r.header, g.logged())
	}
}
