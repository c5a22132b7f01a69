package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// TestDraw: one seed draws the same requests again, another one others, and there are some
// of each kind.
func TestDraw(t *testing.T) {
	t.Parallel()
	s := settings{route: "/wp/v2/users", open: "/wp/v2/taxonomies", requests: 3000, seed: 1}
	list, err := s.draw("shop.example.com")
	if err != nil || len(list) != s.requests {
		t.Fatalf("%d requests, %v", len(list), err)
	}
	again, _ := s.draw("shop.example.com")
	s.seed = 2
	others, _ := s.draw("shop.example.com")
	known, same, of := map[string]bool{}, 0, map[string]int{}
	for i, r := range list {
		wire := string(r.Wire("shop.example.com"))
		if wire != string(again[i].Wire("shop.example.com")) {
			t.Fatalf("the same seed: %s, %s", r, again[i])
		}
		if known[wire] {
			t.Errorf("twice: %s", r)
		}
		known[wire] = true
		of[kind(r, s.route)]++
	}
	for _, r := range others {
		if known[string(r.Wire("shop.example.com"))] {
			same++
		}
	}
	if same > len(list)*2/3 {
		t.Errorf("%d of %d are those of another seed", same, len(list))
	}
	for _, kind := range kinds {
		if of[kind] == 0 {
			t.Errorf("no request is %q", kind)
		}
		delete(of, kind)
	}
	if len(of) > 0 {
		t.Errorf("other kinds: %v", of)
	}
	s.requests = 7
	if few, err := s.draw("shop.example.com"); err != nil || len(few) != 7 {
		t.Errorf("%d, %v", len(few), err)
	}
}

func form(target, body string, fields ...grammar.Field) *grammar.Request {
	return &grammar.Request{Method: http.MethodPost, Target: target, Body: body, Fields: fields}
}

func field(line string) grammar.Field {
	name, value, _ := strings.Cut(line, ": ")
	return grammar.Field{Name: name, Value: value}
}

// TestQuiet: what may change something, or become another request on the way, is not sent.
func TestQuiet(t *testing.T) {
	t.Parallel()
	five, chunked, override := field("Content-Length: 5"), field("Transfer-Encoding: chunked"), field("X-HTTP-Method-Override: get")
	for name, r := range map[string]*grammar.Request{
		"get":                 asking("/wp-json/wp/v2/users"),
		"get of the site":     asking("http://shop.example.com/wp-json/wp/v2/users"),
		"override":            form("/wp-json/wp/v2/users", "", override),
		"override, by query":  form("/?rest_route=/wp/v2/users&_method=Get", ""),
		"body":                form("/?_method=GET", "a=bcd", five),
		"chunks":              form("/?_method=GET", "5\r\na=bcd\r\n0\r\n\r\n", chunked),
		"script of all pages": form("/index.php?_method=GET", "a=bcd", five),
		"another's field":     form("/?_method=GET", "a=bcd", five, field("Content_Type: text/plain")),
	} {
		if !quiet(r, "shop.example.com") {
			t.Errorf("%s is not sent", name)
		}
	}
	for name, r := range map[string]*grammar.Request{
		"post":                   form("/wp-json/wp/v2/users", "a=bcd", five),
		"delete":                 {Method: http.MethodDelete, Target: "/wp-json/wp/v2/users"},
		"small letters":          {Method: "get", Target: "/wp-json/wp/v2/users"},
		"override":               form("/wp-json/wp/v2/users", "", field("X-HTTP-Method-Override: PUT")),
		"override of a get":      asking("/wp-json/wp/v2/users?.method=DELETE"),
		"override twice":         form("/?_method=GET", "", field("X_HTTP_Method_Override: PUT")),
		"override, brackets":     form("/?_method[]=GET", ""),
		"another script":         form("/wp-comments-post.php?_method=GET", ""),
		"another script, hidden": form("/index.php/wp-login%2Ephp?_method=GET", ""),
		"credentials":            {Method: http.MethodGet, Target: "/", Fields: []grammar.Field{field("Authorization: Basic eDp5")}},
		"another host":           asking("http://other.example/wp-json/wp/v2/users"),
		"a host for caches":      {Method: http.MethodGet, Target: "/", Fields: []grammar.Field{field("X-Forwarded-Host: a")}},
		"two lengths":            form("/?_method=GET", "a=bcd", five, five),
		"two kinds of lengths":   form("/?_method=GET", "5\r\na=bcd\r\n0\r\n\r\n", chunked, five),
		"another spelling":       form("/?_method=GET", "a=bcd", five, field("Transfer_Encoding: chunked")),
		"less than announced":    form("/?_method=GET", "a=b", five),
		"more than announced":    form("/?_method=GET", "a=bcdefg", five),
		"behind the chunks":      form("/?_method=GET", "5\r\na=bcd\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", chunked),
		"no length":              form("/?_method=GET", "a=bcd"),
		"a request in a path":    asking("/x%20HTTP/1.1%0d%0aHost:a%0d%0a%0d%0aGET%20/"),
		"line ends":              asking("/x\r\nA: b"),
	} {
		if quiet(r, "shop.example.com") {
			t.Errorf("%s is sent", name)
		}
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	typed := field("Content-Type: application/x-www-form-urlencoded")
	parts := field("Content-Type: multipart/form-data; boundary=B")
	for _, test := range []struct {
		want string
		r    *grammar.Request
	}{
		{"path, as documented", asking("/wp-json/wp/v2/users?a=b")},
		{"path, another method on the wire", form("/wp-json/wp/v2/users?_method=GET", "")},
		{"path, in capitals", asking("/wp-json/WP/v2/users")},
		{"path, with escapes", asking("/wp-json/wp/v2/%75sers")},
		{"path, behind a script", asking("/index.php/wp-json/wp/v2/users")},
		{"path, written in another way", asking("//wp-json/wp/v2/users")},
		{"query, as documented", asking("/?rest_route=/wp/v2/users")},
		{"query, another method on the wire", form("/?rest_route=/wp/v2/users&_method=GET", "")},
		{"query, beside other variables", asking("/?a=b&rest_route=/wp/v2/users")},
		{"query, on another page", asking("/feed/?rest_route=/wp/v2/users")},
		{"query, the name written in another way", asking("/?rest.route=/wp/v2/users")},
		{"query, the route written in another way", asking("/?rest_route=%2Fwp/v2/users")},
		{"form body, as documented", form("/?_method=GET", "rest_route=/wp/v2/users", typed)},
		{"form body, beside other variables", form("/?_method=GET", "a=b&rest_route=/wp/v2/users", typed)},
		{"form body, written in another way", form("/?_method=GET", "rest[route=/wp/v2/users", typed)},
		{"multipart body, as documented", form("/?_method=GET", "--B\r\nContent-Disposition: form-data; name=\"rest_route\"\r\n\r\n/wp/v2/users\r\n--B--\r\n", parts)},
		{"multipart body, written in another way", form("/?_method=GET", "--B\r\nContent-Disposition: form-data; name=rest_route\r\n\r\n/wp/v2/users\r\n--B--\r\n", parts)},
	} {
		if got := kind(test.r, "/wp/v2/users"); got != test.want {
			t.Errorf("%s: %q, want %q", test.r, got, test.want)
		}
	}
}

// TestShown: what cannot be printed is an escape, and long requests are cut.
func TestShown(t *testing.T) {
	t.Parallel()
	got := shown([]byte("GET /\x1b\xff HTTP/1.1\r\nA: \"b\"\r\n\r\n"))
	if want := "GET /\\x1b\\xff HTTP/1.1\nA: \"b\""; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := shown([]byte(strings.Repeat("x", shownBytes+7))); !strings.HasSuffix(got, "x\nand 7 bytes more") {
		t.Errorf("%q", got)
	}
}

// TestReport: the table has a line for each kind, and the shortest request that got past.
func TestReport(t *testing.T) {
	t.Parallel()
	trial := &trial{settings: &settings{route: "/wp/v2/users"}, proxy: &peer{host: "shop.example.com"}}
	r := trial.report([]outcome{
		{request: asking("/wp-json/wp/v2/users"), run: true},
		{request: asking("/?rest_route=/wp/v2/users&"), run: true, past: true},
		{request: asking("/?rest_route=/wp/v2/users"), run: true, past: true},
		{request: asking("/?rest_route=/wp/v2/user")},
	})
	var out strings.Builder
	if err := r.write(&out, "text"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"     1    1        1     0  path, as documented\n",
		"     1    1        0     1  query, as documented\n",
		"     4    3        1     2  all\n",
		"\nquery, as documented: the shortest that got past\n\n    GET /?rest_route=/wp/v2/users HTTP/1.1\n    Host: shop.example.com\n    Connection: close\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
