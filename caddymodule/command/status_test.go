package command_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestStatus_Escapes: what a site says of itself, and what its operator reads of it, moves no
// cursor.
func TestStatus_Escapes(t *testing.T) {
	t.Parallel()
	const word = `\u001b]0;x\u0007\u009b2J\t\n\u202e`
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"v":1,"sites":[{"site":"a.example","mode":"W","release":"W","problems":[{"code":"prefix","problem":"W"}],"questions":{"W":{"asked":1,"error":"W"}}}]}`
		if strings.HasSuffix(r.URL.Path, "/refusals") {
			answer = `{"v":1,"refusals":[{"outcome":"W","code":"W","method":"W","route":"/W","policy":"W","rule":"W","at":"W","client_ip":"W","request_id":"W"}]}`
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(answer, "W", word))
	}))
	t.Cleanup(admin.Close)
	out, problems, status := command.Run(nil, "status", "--site", "a.example", "--address", strings.TrimPrefix(admin.URL, "http://"))
	if status != 0 || !strings.Contains(out, `prefix: \x1b]0;x\a\u009b2J\t\n\u202e`) || !strings.Contains(out, ` /\x1b]0;x`) {
		t.Errorf("%d %s\n%q", status, problems, out)
	}
	for _, c := range out {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Errorf("%q in %q", c, out)
		}
	}
}

// TestStatus_Choice: the sites of names and tags are shown, and the last refusals of a single one.
func TestStatus_Choice(t *testing.T) {
	t.Parallel()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"v":1,"sites":[{"site":"a.example","mode":"enforce","tags":["shops"]},{"site":"b.example","mode":"enforce"},{"site":"c.example","mode":"enforce","tags":["shops","eu"]}]}`
		if r.URL.Path == "/restwarden/sites/c.example/refusals" {
			answer = `{"v":1,"refusals":[{"code":"rest_not_logged_in"}]}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(admin.Close)
	for flags, want := range map[string]string{
		"": "a b c", "--tag shops": "a c", "--tag eu": "c refused", "--site b.example --tag eu": "b c", "--site *.example": "a b c", "--site c*": "c refused", "--tag none": "",
		"--web --tag eu": "", "--web --site a.example --site b.example": "",
	} {
		out, problems, status := command.Run(nil, append([]string{"status", "--address", strings.TrimPrefix(admin.URL, "http://")}, strings.Fields(flags)...)...)
		var got []string
		for _, word := range []string{"a", "b", "c"} {
			if strings.Contains(out, word+".example") {
				got = append(got, word)
			}
		}
		if strings.Contains(out, "rest_not_logged_in") {
			got = append(got, "refused")
		}
		if strings.Join(got, " ") != want || (status == 2) != (want == "") {
			t.Errorf("%s: %d %v %s", flags, status, got, problems)
		}
	}
}

// TestStatus_Misread: below the table the status says how many pages were misread, and what
// does not tell.
func TestStatus_Misread(t *testing.T) {
	t.Parallel()
	for misread, want := range map[string]string{
		`{"action":"count","count":0}`:                                                        "",
		`{"action":"count","count":2,"last":"2026-03-01T10:04:31Z"}`:                          "a.example: misread: the REST interface answered 2 pages, the last at 2026-0",
		`{"action":"count","count":0,"unguarded":["Access-Control-Allow-Headers","W\u001b"]}`: `a.example: misread: pages of the site have Access-Control-Allow-Headers and W\x1b, which then does not tell`,
	} {
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a.example","mode":"enforce","misread":`+misread+`}]}`)
		}))
		t.Cleanup(admin.Close)
		out, problems, status := command.Run(nil, "status", "--address", strings.TrimPrefix(admin.URL, "http://"))
		if status != 0 || !strings.Contains(out, want) || strings.Contains(out, "misread") != (want != "") {
			t.Errorf("%d %s\n%q", status, problems, out)
		}
	}
}

// TestStatus_Tells: the table has a line for each port of a host, the last change of the routes, each scope,
// and a Redis that is lost.
func TestStatus_Tells(t *testing.T) {
	t.Parallel()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a.example","listen":[":8081"],"mode":"enforce"},{"site":"a.example","listen":[":8082"],"mode":"observe"},`+
			`{"site":"b.example","mode":"enforce","tags":["shops","eu"],"routes":{"count":9,"changed_at":"2026-03-01T12:00:00Z","added":3,"removed":1},`+
			`"scopes":[{"scope":"erp","mode":"enforce","last_use":"2026-03-01T12:00:00Z","refusals":2,"would_refuse":0,"until":"2026-05-31","days_left":91},`+
			`{"scope":"old","mode":"observe","refusals":0,"would_refuse":7,"until":"2026-02-01","days_left":-9}],`+
			`"opens":[{"line":"POST /a/b","since":"2026-03-01T12:00:00Z","until":"2026-03-01T13:00:00Z","by":"10.0.0.1","operator":"anna","claimed":true}],"closes":[{"line":"/a/c\u001b","since":"2026-03-01T12:00:00Z"}]}],`+
			`"store":{"reachable":false,"since":"2026-03-01T12:00:00Z","error":"connection refused"}}`)
	}))
	t.Cleanup(admin.Close)
	out, problems, status := command.Run(nil, "status", "--address", strings.TrimPrefix(admin.URL, "http://"))
	for _, want := range []string{
		"\na.example on :8081  enforce", "\na.example on :8082  observe", "\nb.example: routes changed at 2026-03-0", ": 3 came, 1 went\n",
		"\nRedis cannot be reached since 2026-03-0", ": connection refused\n",
		"\nb.example  erp    enforce  2026-03-0", "\nb.example  open POST /a/b  2026-03-0", "  anna, claimed (10.0.0.1)\n", "  TAGS\n", "  shops, eu\n", "\nb.example  close /a/c\\x1b  2026-03-0", "  no end               \n",
		"  2         0             2026-05-31, 91 days left\n", "\nb.example  old    observe  not yet              0         7             2026-02-01, ended\n",
	} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%d %s: no %q in\n%s", status, problems, want, out)
		}
	}
}

// TestStatus_OtherRelease: JSON has what Caddy says, also what this release does not know; and what
// it does not say is missed nowhere.
func TestStatus_OtherRelease(t *testing.T) {
	t.Parallel()
	for answer, line := range map[string]string{
		`{"v":1,"sites":[{"later":[1],"site":"a.example","mode":"enforce","misread":{"later":2,"count":1}}],"store":{"later":3,"reachable":true}}`: "a.example  enforce ",
		`{"v":1,"sites":[{"site":"a.example","mode":"observe"}],"store":{"reachable":false}}`:                                                      "a.example  observe ",
		`{"v":1,"sites":[]}`: "SITE ",
	} {
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
		t.Cleanup(admin.Close)
		address := strings.TrimPrefix(admin.URL, "http://")
		if out, problems, status := command.Run(nil, "status", "--format", "json", "--address", address); status != 0 || out != answer+"\n" {
			t.Errorf("%d %s\n%s, want\n%s", status, problems, out, answer)
		}
		if out, problems, status := command.Run(nil, "status", "--address", address); status != 0 || !strings.Contains(out, line) {
			t.Errorf("%d %s\n%s", status, problems, out)
		}
	}
}
