package site_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	kit "github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/names"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// client calls a site through its handler, under the names of its platform.
type client struct {
	t    *testing.T
	site *site.Site
	info site.Info
	base string
	wp   bool
}

func newClient(t *testing.T, options site.Options) *client {
	t.Helper()
	s, err := site.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t, s, s.Info(), options.Base, options.Platform == "wordpress"}
}

// answer is a response with its decoded body.
type answer struct {
	t *testing.T
	*http.Response
	body []byte
	json any
}

// branded turns the neutral words of a test into the platform's.
func (c *client) branded(s string) string {
	if !c.wp {
		return s
	}
	return names.In(names.WordPress, s)
}

type edit = kit.Edit

// send sends one raw request.
func (c *client) send(method, target, body string, edits ...edit) *answer {
	c.t.Helper()
	r := httptest.NewRequest(method, c.base+c.branded(target), strings.NewReader(body))
	for _, e := range append([]edit{kit.Typed(body)}, edits...) {
		e(r)
	}
	w := httptest.NewRecorder()
	c.site.ServeHTTP(w, r)
	a := &answer{t: c.t, Response: w.Result()}
	a.body, _ = io.ReadAll(a.Body)
	if strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") && len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &a.json); err != nil && method != http.MethodHead {
			c.t.Fatalf("%s %s: %v in %q", method, target, err, a.body)
		}
	}
	return a
}

// rest calls a route in the pretty form.
func (c *client) rest(method, route, body string, edits ...edit) *answer {
	c.t.Helper()
	return c.send(method, "/cms-json"+route, body, edits...)
}

// as is an application password.
func (c *client) as(login string) edit {
	return func(r *http.Request) { r.SetBasicAuth(login, c.info.Users[login].ApplicationPassword) }
}

// withKey logs in by a shop key "ck_…:cs_…", with sends a header.
var withKey, with = kit.Login, kit.Header

func withCookie(cookie *http.Cookie) edit {
	return func(r *http.Request) { r.AddCookie(cookie) }
}

// get walks into the decoded body; a number is an index.
func (a *answer) get(path ...string) any { return kit.In(a.json, path...) }

// want checks the status and, where a code is given, that the body is the error
// object with that code and status (docs/project/interface 7).
func (a *answer) want(status int, code ...string) *answer {
	a.t.Helper()
	if a.StatusCode != status {
		a.t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	if len(code) == 0 {
		return a
	}
	if a.get("code") != code[0] {
		a.t.Fatalf("code %v, want %s", a.get("code"), code[0])
	}
	if a.get("data", "status") != float64(status) {
		a.t.Fatalf("data.status %v, want %d", a.get("data", "status"), status)
	}
	return a
}

func id(n int) string { return strconv.Itoa(n) }

// both runs a test under either set of names.
func both(t *testing.T, options site.Options, test func(*testing.T, *client)) {
	t.Helper()
	for _, platform := range []string{"cms", "wordpress"} {
		t.Run(platform, func(t *testing.T) {
			options := options
			options.Platform = platform
			test(t, newClient(t, options))
		})
	}
}
