package call_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	"github.com/restwarden/restwarden/cmd/check/testkit/names"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call"
)

// printed writes sources a line each.
func printed(list []call.Source) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%s in %s", s.Of, s.In)
		if s.Value != "" {
			fmt.Fprintf(&b, " %q", s.Value)
		}
		if !s.Named {
			b.WriteString(": " + s.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// bare returns a request without a body.
func bare(line string, headers ...string) string {
	return strings.Join(append([]string{line + " HTTP/1.1", "Host: s"}, headers...), "\r\n") + "\r\n\r\n"
}

// withBody returns a request with a body of a type.
func withBody(line, kind, body string, headers ...string) string {
	return bare(line, append(headers, "Content-Type: "+kind, fmt.Sprint("Content-Length: ", len(body)))...) + body
}

// The lines of places that say nothing.
const (
	noForm   = "route in form rest_route: not read: the method is GET\n"
	noQuery  = "route in query rest_route: not there\n"
	noHeader = "method in header X-HTTP-Method-Override: not there\n"
	byLine   = "method in query _method: not there\n" + noHeader + "method in request line "
)

var sourceTests = []struct{ raw, from, want string }{
	{
		bare("GET /wp-json/wp/v2/users"), "",
		noForm + noQuery + "route in path \"/wp/v2/users\"\n" + byLine + "\"GET\"\n",
	},
	{
		bare("GET /about/?x=1"), "",
		noForm + noQuery + "route in path: no segment of it is wp-json\n",
	},
	{
		bare("GET /about/?rest_route=0"), "",
		noForm + "route in query rest_route \"0\": \"0\" is no route\n" +
			"route in path: no segment of it is wp-json\n",
	},
	{
		bare("HEAD /wp-json/wp/v2/users?rest.route=/wp/v2/users&.method=get"), "",
		"route in form rest_route: not read: the method is HEAD\nroute in query rest.route \"/wp/v2/users\"\n" +
			"route in path \"/wp/v2/users\": the query has rest_route, which comes before\n" +
			"method in query .method \"get\"\n" + noHeader + "method in request line \"HEAD\": overridden by _method in the query\n",
	},
	{
		withBody("POST /x?_method=DELETE", client.Form, "a=1&rest%5Froute=/wc/v3/orders/7&id=8", "X-HTTP-Method-Override: delete"), "",
		"route in form rest%5Froute \"/wc/v3/orders/7\"\n" + noQuery + "route in path: no segment of it is wp-json\n" +
			"method in query _method \"DELETE\"\nmethod in header X-HTTP-Method-Override \"delete\": _method in the query comes before\n" +
			"method in request line \"POST\": overridden by _method in the query\n" +
			"id in JSON body id: the body is not JSON\nid in form id \"8\"\nid in query id: not there\nid in path \"7\": the form comes before\n",
	},
	{
		withBody("PUT /wp-json/wc/v3/orders/7?+id=9", client.JSON, `{"id":"08"}`), "",
		"route in form rest_route: not read: the method is PUT\n" + noQuery + "route in path \"/wc/v3/orders/7\"\n" + byLine + "\"PUT\"\n" +
			"id in JSON body id \"08\"\nid in form id: not read: the JSON body comes before\n" +
			"id in query +id \"9\": the JSON body comes before\nid in path \"7\": the JSON body comes before\n",
	},
	{
		bare("GET /wp-json/wc/v3/orders/7?id=x"), "",
		noForm + noQuery + "route in path \"/wc/v3/orders/7\"\n" + byLine + "\"GET\"\n" +
			"id in JSON body id: there is no body\nid in form id: not read: a form does not count for GET\n" +
			"id in query id \"x\": disputed: it is no plain decimal number\nid in path \"7\": the query comes before\n",
	},
	{
		bare("GET /wp-json/wp/v2/posts?rest_route=/wp/v2/users"), "",
		noForm + "route in query rest_route \"/wp/v2/users\": disputed: the places name different routes, or one of them names two\n" +
			"route in path \"/wp/v2/posts\": disputed: the places name different routes, or one of them names two\n" +
			byLine + "\"GET\": the request is refused: two_routes\n",
	},
	{
		bare("GET /wp-json/wp/v2/posts?_method=PUT", "X-HTTP-Method-Override: DELETE"), "",
		noForm + noQuery + "route in path \"/wp/v2/posts\": the request is refused: method\n" +
			"method in query _method \"PUT\": disputed: the header X-HTTP-Method-Override says something else\n" +
			"method in header X-HTTP-Method-Override \"DELETE\": disputed: _method in the query says something else\n" +
			"method in request line \"GET\": the request is refused: method\n",
	},
	{
		bare("GET /index.php?a=1"), "/wp-json/wp/v2/users",
		noForm + noQuery + "route in path as the client sent it \"/wp/v2/users\"\nroute in path after the rewrite: no segment of it is wp-json\n" +
			byLine + "\"GET\"\n",
	},
	{
		bare("GET /wp-json/wp/v2/users"), "/blog/wp-json/wp/v2/users",
		noForm + noQuery + "route in path as the client sent it \"/wp/v2/users\": the path after the rewrite says so too\n" +
			"route in path after the rewrite \"/wp/v2/users\"\n" + byLine + "\"GET\"\n",
	},
}

func TestSources(t *testing.T) {
	rd := call.ReaderFor("root")
	for _, test := range sourceTests {
		r := parsed([]byte(test.raw))
		original := r.URL
		if test.from != "" {
			original = &url.URL{Path: test.from}
		}
		c := rd.Read(r, original)
		if got := printed(rd.Sources(c, r, original)); got != test.want {
			t.Errorf("%s\nhas\n%swant\n%s", test.raw, got, test.want)
		}
		c.Close()
	}
}

// TestSources_Part: the parts of a batch name route and method themselves.
func TestSources_Part(t *testing.T) {
	rd := call.ReaderFor("root")
	body := `{"requests":[{"method":"PUT","path":"/wc/v3/orders/7","body":{"id":8}}]}`
	r := parsed([]byte(withBody("POST /wp-json/batch/v1", client.JSON, body)))
	c := rd.Read(r, nil)
	defer c.Close()
	want := "route in part \"/wc/v3/orders/7\"\nmethod in part \"PUT\"\nid in part id \"8\"\nid in query id: not there\nid in path \"7\": the part comes before\n"
	if got := printed(rd.Sources(c.Parts[0], r, nil)); got != want {
		t.Errorf("got\n%s", got)
	}
}

// parsed returns raw as a handler of Caddy gets it, or nil.
func parsed(raw []byte) *http.Request {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return nil
	}
	rawrequest.DropAliases(r.Header)
	return r
}

// checkSources checks that sources say what their reading says.
func checkSources(c *call.Call, list []call.Source) error {
	named := map[string][]call.Source{}
	for _, s := range list {
		if !slices.Contains([]string{"route", "method", "id"}, s.Of) || s.In == "" || s.Named != (s.Why == "") {
			return fmt.Errorf("odd: %+v", s)
		}
		if s.Named {
			named[s.Of] = append(named[s.Of], s)
		}
	}
	want := map[string]int{}
	if c.Kind == call.Single || c.Kind == call.Batch {
		want["route"], want["method"] = 1, 1
	}
	id, hasID, err := c.ObjectID()
	if hasID && err == nil {
		want["id"] = 1
	}
	for _, of := range []string{"route", "method", "id"} {
		if len(named[of]) != want[of] {
			return fmt.Errorf("%d places name the %s, not %d", len(named[of]), of, want[of])
		}
	}
	if want["route"] == 0 {
		return nil
	}
	route, method := named["route"][0], named["method"][0]
	switch {
	case !call.NamesRoute(route.Value, c.Route), strings.HasPrefix(route.In, "form") != c.Posted, strings.HasPrefix(route.In, "path") != (c.Form == call.Pretty):
		return fmt.Errorf("%+v names the route %q", route, c.Route)
	case strings.ToUpper(method.Value) != c.Method:
		return fmt.Errorf("%+v names the method %s", method, c.Method)
	case want["id"] == 0:
		return nil
	}
	if got, ok := call.PlainID(named["id"][0].Value); !ok || got != id {
		return fmt.Errorf("%+v names the id %s", named["id"][0], id)
	}
	return nil
}

// disputing are the reasons of refusals that some source is the cause of.
var disputing = []string{"two_routes", "route", "method", "path", "script_path", "rewritten_path"}

// disputes tells whether a source is named as the cause of a refusal.
func disputes(list []call.Source) bool {
	return slices.ContainsFunc(list, func(s call.Source) bool { return strings.HasPrefix(s.Why, "disputed") })
}

// trySources reads raw as it is, behind rewrites to the front controller, and behind one
// that has removed a folder.
func trySources(tb testing.TB, rd *call.Reader, raw []byte) {
	tb.Helper()
	for _, rewrite := range []string{"", "/index.php", "/blog/index.php", "folder"} {
		r := parsed(raw)
		if r == nil {
			return
		}
		original := new(*r.URL)
		switch rewrite {
		case "":
			original = r.URL // as Caddy has it where nothing was rewritten
		case "folder":
			if r.URL.RawPath != "" || !strings.HasPrefix(r.URL.Path, "/blog/") {
				continue
			}
			r.URL.Path = strings.TrimPrefix(r.URL.Path, "/blog")
		default:
			r.URL.Path, r.URL.RawPath = rewrite, ""
		}
		c := rd.Read(r, original)
		before := call.Describe(c)
		list := rd.Sources(c, r, original)
		if err := checkSources(c, list); err != nil {
			tb.Errorf("%v\n%s\n%s\nbehind %q: %.400q", err, before, printed(list), rewrite, raw)
		}
		if after := call.Describe(c); after != before {
			tb.Errorf("read as %s, behind Sources as %s: %.400q", before, after, raw)
		}
		if c.Kind == call.Refused && slices.Contains(disputing, c.Refusal.Reason) && !disputes(list) {
			tb.Errorf("%s, and nothing disputes\n%s\nbehind %q: %.400q", before, printed(list), rewrite, raw)
		}
		c.Close()
	}
}

// TestSources_Recordings: of all recorded requests the sources say what the reading says.
func TestSources_Recordings(t *testing.T) {
	readers := map[string]*call.Reader{}
	for _, r := range recordings.Requests(t) {
		if readers[r.Site] == nil {
			readers[r.Site] = call.ReaderFor(r.Site)
		}
		trySources(t, readers[r.Site], r.Raw)
	}
}

// TestSources_Doors: the same of all doors.
func TestSources_Doors(t *testing.T) {
	rd := call.ReaderFor("root")
	for _, d := range doors.All() {
		d = d.At(4711, 4712).In(names.WordPress)
		raw := bare(d.Line(), d.Headers...)
		if d.Body != "" {
			raw = bare(d.Line(), append(d.Headers, fmt.Sprint("Content-Length: ", len(d.Body)))...) + d.Body
		}
		if parsed([]byte(raw)) == nil {
			t.Errorf("no request: %q", raw)
		}
		trySources(t, rd, []byte(raw))
	}
}

// FuzzSources: the sources of a request never disagree with its reading.
func FuzzSources(f *testing.F) {
	for i, rec := range recordings.Requests(f) {
		if len(rec.Raw) < 2000 && i%4 == 0 { // TestSources_Recordings has all of them
			f.Add(rec.Raw)
		}
	}
	root, folder := call.ReaderFor("root"), call.ReaderFor("subfolder")
	f.Fuzz(func(t *testing.T, raw []byte) {
		trySources(t, root, raw)
		trySources(t, folder, raw)
	})
}
