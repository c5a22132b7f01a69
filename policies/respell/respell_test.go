package respell_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/names"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/respell"
)

// calls are plain calls with neutral names, <base> for the home path, and the least number
// of their spellings.
var calls = []struct {
	line, header, body string
	least              int
}{
	{"GET <base>/cms-json/cms/v2/users", "", "", 80},
	{"GET <base>/cms-json/cms/v2/users?per_page=5&context=edit", "Cookie: cms_logged_in_x=1", "", 80},
	{"GET <base>/cms-json/", "", "", 70},
	{"GET <base>/?rest_route=/cms/v2/users", "", "", 80},
	{"GET <base>/index.php?context=edit&rest.route=/cms/v2/users", "", "", 80},
	{"GET <base>/cms-json/shop/v3/orders/7?id=9", "Authorization: Basic Y2tfMTpjc18x", "", 80},
	{"GET <base>/cms-json/shop/v3/orders/7", "Content-Type: application/json", "{}", 30},
	{"HEAD <base>/cms-json/cms/v2/users", "", "", 80},
	{"DELETE <base>/cms-json/cms/v2/posts/7?force=true", "", "", 80},
	{"POST <base>/cms-json/cms/v2/users?_method=GET", "", "", 80},
	{"POST <base>/cms-json/contact-form-7/v1/contact-forms/5/feedback", "Content-Type: application/x-www-form-urlencoded", "your-name=a+b&x[]=1&x[]=%26", 60},
	{"POST <base>/cms-json/shop/v3/orders/7", "", "id=9&a=1", 60},
	{"POST <base>/", "Content-Type: application/x-www-form-urlencoded", "rest_route=/cms/v2/posts&title=x", 60},
	{"PUT <base>/cms-json/shop/v3/orders/7", "Content-Type: application/json", `{"id":9,"customer_note":"x"}`, 50},
	{"PATCH <base>/cms-json/shop/v3/orders/7", "Content-Type: application/x-www-form-urlencoded", "id=9", 60},
	{"PUT <base>/cms-json/shop/v3/orders/7", "X-HTTP-Method-Override: DELETE", "", 80},
	{"POST <base>/cms-json/shop/v3/orders/batch", "Content-Type: application/json", `{"update":[{"id":9}],"delete":[8]}`, 35},
	{"POST <base>/cms-json/cms/v2/media", "Content-Type: image/png", "\x89PNG", 25},
	{"GET <base>/cms-json/cms/v2/templates/theme//home", "", "", 80},
	{"GET <base>/?rest_route=/plugin/v1/a%20b%26c", "", "", 60},
}

// bothPlatforms returns the two sets of names.
func bothPlatforms(t *testing.T) (list []platforms.Platform) {
	t.Helper()
	for _, name := range []string{names.Neutral, names.WordPress} {
		p, ok := platforms.ByName(name)
		if !ok {
			t.Fatal(name)
		}
		list = append(list, p)
	}
	return list
}

// requestAt returns a plain call at a site.
func requestAt(platform, base, line, header, body string) respell.Request {
	line = names.In(platform, strings.ReplaceAll(line, "<base>", base))
	method, target, _ := strings.Cut(line, " ")
	r := respell.Request{Method: method, URL: "https://shop.example.com" + target, Base: base}
	if header != "" {
		r.Header = []string{names.In(platform, header)}
	}
	if body != "" {
		r.Body = []byte(body)
	}
	return r
}

// described says what the gateway takes raw for: the call, its parts, and the ids. HEAD is
// what GET is.
func described(reader *call.Reader, raw []byte) string {
	c := rawrequest.Read(reader, raw)
	defer c.Close()
	if c.Kind == call.Refused {
		return "refused: " + c.Refusal.Reason
	}
	text := ""
	for _, p := range append([]*call.Call{c}, c.Parts...) {
		id, _, err := p.ObjectID()
		text += fmt.Sprintln(p.Kind, strings.Replace(p.Method, http.MethodHead, http.MethodGet, 1), p.Key, id, err)
	}
	return text
}

// TestAll: on both platforms, with and without a sub-folder, every spelling is the same
// call to the gateway, has a name of its own, and keeps the caller's headers.
func TestAll(t *testing.T) {
	for _, platform := range bothPlatforms(t) {
		for _, base := range []string{"", "/blog"} {
			reader := policies.NewReader(call.Config{Platform: platform, Base: base})
			for _, c := range calls {
				r := requestAt(platform.Name, base, c.line, c.header, c.body)
				list := respell.All(platform, r)
				if len(list) < c.least {
					t.Errorf("%s: %d spellings of %s %s", platform.Name, len(list), r.Method, r.URL)
				}
				checkSame(t, reader, r, list)
			}
		}
	}
}

func checkSame(t *testing.T, reader *call.Reader, r respell.Request, list []respell.Spelling) {
	t.Helper()
	if len(list) == 0 || list[0].Name != respell.Plain {
		t.Errorf("%s: the first is not the plain one", r.URL)
		return
	}
	want := described(reader, list[0].Raw)
	if !strings.HasPrefix(want, "call ") && !strings.HasPrefix(want, "batch ") {
		t.Errorf("%s is %s", r.URL, want)
	}
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s.Name] || seen[string(s.Raw)] {
			t.Errorf("twice: %s %q", s.Name, s.Raw)
		}
		seen[s.Name], seen[string(s.Raw)] = true, true
		if got := described(reader, s.Raw); got != want {
			t.Errorf("%s: %s is read as\n%snot\n%s%q", r.URL, s.Name, got, want, s.Raw)
		}
		for _, line := range r.Header {
			own := strings.HasPrefix(line, "Content-Type") || strings.HasPrefix(line, "X-HTTP-Method-Override")
			if !own && !bytes.Contains(s.Raw, []byte("\r\n"+line+"\r\n")) {
				t.Errorf("%s: %s has lost %s", r.URL, s.Name, line)
			}
		}
	}
}

// TestAll_Body: the parameters of a form go along into every spelling.
func TestAll_Body(t *testing.T) {
	platform := bothPlatforms(t)[1]
	reader := policies.NewReader(call.Config{Platform: platform})
	for _, s := range respell.All(platform, respell.Request{
		Method: "POST", URL: "https://shop.example.com/wp-json/wp/v2/posts?q=1", Body: []byte("title=a+%22b%22&meta[x]=%26"),
	}) {
		c := rawrequest.Read(reader, s.Raw)
		for name, want := range map[string]string{"title": `a "b"`, "q": "1"} {
			if v, set, err := c.Param(name); !set || err != nil || v != want {
				t.Errorf("%s: %s is %q, %v\n%q", s.Name, name, v, err, s.Raw)
			}
		}
		if _, set, err := c.Param("meta"); !set || err != nil {
			t.Errorf("%s: no meta, %v", s.Name, err)
		}
		c.Close()
	}
}

// TestAll_Kinds: a GET has spellings of every kind.
func TestAll_Kinds(t *testing.T) {
	list := respell.All(bothPlatforms(t)[1], respell.Request{URL: "https://shop.example.com/blog/wp-json/wp/v2/users"})
	for _, want := range []string{
		"GET /blog/wp-json/wp/v2/users ", "GET /blog/wp-json/wp/v2/users/ ", "GET /blog//wp-json/wp/v2/users ", "GET /blog/wp-json/WP/V2/users ",
		"GET /blog/?rest_route=/wp/v2/users ", "GET /blog/index.php?rest_route=/wp/v2/users ", "GET /blog/any-page/?rest_route=/wp/v2/users ",
		"GET /blog/?rest.route=", "GET /blog/?rest+route=", "GET /blog/?rest[route=", "GET /blog/?rest%5Froute=", "GET /blog/?rest_route=%2Fwp%2Fv2%2Fusers ",
		"HEAD /blog/wp-json/wp/v2/users ", "HEAD /blog/?rest_route=/wp/v2/users ", "POST /blog/wp-json/wp/v2/users?_method=GET ",
		"POST /blog/?_method=GET ", "\r\n\r\nrest.route=/wp/v2/users", "name=\"rest_route\"\r\n\r\n/wp/v2/users\r\n", "X-HTTP-Method-Override: GET\r\n",
	} {
		if !slices.ContainsFunc(list, func(s respell.Spelling) bool { return strings.Contains(string(s.Raw), want) }) {
			t.Errorf("no spelling has %q", want)
		}
	}
}

// TestAll_None: what is no call has no spellings, and what would change a call is left out.
func TestAll_None(t *testing.T) {
	platform := bothPlatforms(t)[1]
	for _, url := range []string{
		"https://shop.example.com/about/", "https://shop.example.com", "/wp-json/wp/v2/users", "://", "https://shop.example.com/index.php/wp-json/wp/v2/users",
		"https://shop.example.com/wp-json/wc/v3/orders/7?id=x", "https://shop.example.com/wp-json/a b", "https://shop.example.com/cms-json/a",
	} {
		if list := respell.All(platform, respell.Request{URL: url}); list != nil {
			t.Errorf("%s has %d spellings", url, len(list))
		}
	}
	for _, line := range []string{" 0", "no colon", "A b: c", "A: \x01", "A: b\v", "A: b\r\n", "Expect: more"} {
		r := respell.Request{URL: "https://shop.example.com/wp-json/wp/v2/users", Header: []string{line}}
		if list := respell.All(platform, r); list != nil {
			t.Errorf("%q: %d spellings", line, len(list))
		}
	}
	for _, test := range []struct{ kind, body, never string }{
		{client.JSON, `{"a":1}`, "form body"},
		{client.JSON, `{"a":1}`, "multipart"},
		{client.Form, "a=1", "on GET"},
		{client.Form, "%22=1", "multipart"},
	} {
		r := respell.Request{Method: "POST", URL: "https://shop.example.com/wp-json/a/v1/b", Header: []string{"Content-Type: " + test.kind}, Body: []byte(test.body)}
		for _, s := range respell.All(platform, r) {
			if strings.Contains(s.Name, test.never) {
				t.Errorf("%s: %s", test.body, s.Name)
			}
		}
	}
}

// TestAll_Prefix: a site that has changed its prefix has its own pretty forms.
func TestAll_Prefix(t *testing.T) {
	platform := bothPlatforms(t)[1]
	list := respell.All(platform, respell.Request{URL: "https://shop.example.com/?rest_route=/wp/v2/users", Prefix: "/api/"})
	own := func(s respell.Spelling) bool { return strings.HasPrefix(string(s.Raw), "GET /api/wp/v2/users HTTP") }
	if len(list) < 80 || !slices.ContainsFunc(list, own) {
		t.Errorf("%d spellings, none at the site's own prefix", len(list))
	}
}

// FuzzAll: whatever the call, every spelling of it is that call.
func FuzzAll(f *testing.F) {
	platform, _ := platforms.ByName("wordpress")
	reader := policies.NewReader(call.Config{Platform: platform})
	for _, c := range calls {
		method, target, _ := strings.Cut(names.In(names.WordPress, strings.ReplaceAll(c.line, "<base>", "")), " ")
		f.Add(method, target, c.header, c.body)
	}
	f.Fuzz(func(t *testing.T, method, target, header, body string) {
		if strings.ContainsAny(method+target+header, "\r\n") {
			return
		}
		r := respell.Request{Method: method, URL: "https://shop.example.com" + target, Body: []byte(body)}
		if header != "" {
			r.Header = []string{header}
		}
		if list := respell.All(platform, r); list != nil {
			checkSame(t, reader, respell.Request{URL: r.URL}, list)
		}
	})
}

// TestAll_Aliased: a call under an alias is written in the other ways, and where a header or the
// query changes the method is marked.
func TestAll_Aliased(t *testing.T) {
	p, _ := platforms.ByName(names.WordPress)
	for _, base := range []string{"", "/blog"} {
		all := respell.All(p, respell.Request{
			URL: "https://shop.example.com" + base + "/api/wp/v2/users", Base: base, Aliases: []call.Alias{{Pattern: "^api/(.+)", Route: "/$1"}},
		})
		overrides := 0
		for _, s := range all {
			if s.Overrides {
				overrides++
			}
			named := bytes.Contains(s.Raw, []byte("X-HTTP-Method-Override")) || bytes.Contains(s.Raw, []byte("method="))
			if s.Overrides != (named && !bytes.HasPrefix(s.Raw, []byte("GET "))) {
				t.Errorf("%s: %v", s.Name, s.Overrides)
			}
		}
		if len(all) < 60 || overrides == 0 || !slices.ContainsFunc(all, func(s respell.Spelling) bool {
			return bytes.HasPrefix(s.Raw, []byte("GET "+base+"/wp-json/wp/v2/users "))
		}) {
			t.Errorf("%q: %d spellings, %d with an override", base, len(all), overrides)
		}
	}
}
