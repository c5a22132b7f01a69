package audit_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
)

// TestReport_Docs: docs/commands/audit.md shows parts of the text of the report whose page it shows, in their order.
func TestReport_Docs(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/commands/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	text := savedReport(t).Text(terminal.Palette{}, false)
	_, shown, _ := strings.Cut(string(docs), "```text\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	parts, rest := strings.Split(shown, "…\n"), text
	for _, part := range parts {
		var found bool
		if _, rest, found = strings.Cut(rest, part); part == "" || !found {
			t.Errorf("docs/commands/audit.md shows\n%s\nwhich does not come next in\n%s", part, text)
		}
	}
	if len(parts) < 2 || !strings.HasPrefix(text, parts[0]) || rest != "" {
		t.Errorf("docs/commands/audit.md does not show the beginning and the end of\n%s", text)
	}
	for _, kind := range audit.Kinds() {
		if !bytes.Contains(docs, []byte("\n| `"+kind+"` |")) {
			t.Errorf("docs/commands/audit.md has no row for %s", kind)
		}
	}
}

// TestReport_Since: a comparison has exactly what was added, what was removed, and what
// callers without a login reach more or less of.
func TestReport_Since(t *testing.T) {
	old := reportOf(map[string]audit.Reach{"GET /a": audit.All, "POST /a": audit.None, "GET /gone": audit.All, "GET /b": audit.Some, "GET /c": audit.Unknown})
	now := reportOf(map[string]audit.Reach{"GET /a": audit.All, "POST /a": audit.Some, "PUT /new": audit.All, "GET /new": audit.None, "GET /b": audit.None, "GET /c": audit.Unknown})
	d := now.Since(old)
	want := "+ GET /new  none\n+ PUT /new  all\n- GET /gone\n~ POST /a  some, was none\n~ GET /b  none, was some\n"
	if got := d.Text(terminal.Palette{}); got != want {
		t.Errorf("%s", got)
	}
	if got := now.Since(now).Text(terminal.Palette{}); got != "nothing has changed\n" {
		t.Errorf("%s", got)
	}
	for kind, want := range map[string][]string{
		"new-anonymous-write": {"PUT /new", "POST /a"}, "new-route": {"GET /new", "PUT /new"}, "new-anonymous": {"PUT /new", "POST /a"},
	} {
		if failed, _ := now.FailOn([]string{kind}, d); len(failed) != 1 || failed[0].Kind != kind || !slices.Equal(failed[0].Has, want) {
			t.Errorf("%s: %v", kind, failed)
		}
		if failed, _ := old.FailOn([]string{kind}, old.Since(old)); len(failed) > 0 {
			t.Errorf("%s: %v", kind, failed)
		}
	}
}

// reportOf makes a report of endpoints "METHOD /route".
func reportOf(endpoints map[string]audit.Reach) *audit.Report {
	r := &audit.Report{Version: 1, Certain: true}
	var names []string
	for name := range endpoints {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := strings.Fields(a), strings.Fields(b)
		return slices.Compare([]string{x[1], x[0]}, []string{y[1], y[0]})
	})
	for _, name := range names {
		method, route, _ := strings.Cut(name, " ")
		if n := len(r.Routes); n == 0 || r.Routes[n-1].Name != route {
			r.Routes = append(r.Routes, audit.Route{Name: route})
		}
		last := &r.Routes[len(r.Routes)-1]
		last.Methods = append(last.Methods, audit.Method{Method: method, Anonymous: endpoints[name], Patterns: []string{route}})
		if endpoints[name] == audit.Some {
			last.Methods[len(last.Methods)-1].Parts = "x"
		}
	}
	return r
}

// TestReport_FailOn: the kinds that need no earlier report.
func TestReport_FailOn(t *testing.T) {
	bad := savedReport(t)
	for _, kind := range []string{"anonymous-write", "known-hole", "unknown-namespace"} {
		if failed, _ := bad.FailOn([]string{kind}, nil); len(failed) != 1 || len(failed[0].Has) == 0 {
			t.Errorf("%s: %v", kind, failed)
		}
	}
	if failed, _ := bad.FailOn([]string{"needed-closed"}, nil); len(failed) > 0 {
		t.Errorf("%v", failed)
	}
	closed := &audit.Report{Plugins: []audit.Plugin{{Slug: "x", Lines: []string{"allow plugin x"}, Needed: []audit.Need{
		{Methods: []string{"GET"}, Route: "/x/closed", Group: "visitors", Now: audit.None},
		{Methods: []string{"GET"}, Route: "/x/part", Group: "payments", Now: audit.Some},
		{Methods: []string{"GET"}, Route: "/x/open", Group: "visitors", Now: audit.All},
		{Methods: []string{"GET"}, Route: "/x/app", Group: "apps", Now: audit.None},
		{Methods: []string{"GET"}, Route: "/x/seldom", Group: "visitors", Optional: true, Now: audit.None},
	}}}}
	failed, _ := closed.FailOn([]string{"needed-closed", "known-hole", "anonymous-write", "unknown-namespace"}, nil)
	if len(failed) != 1 || !slices.Equal(failed[0].Has, []string{"GET /x/closed of x", "GET /x/part of x"}) {
		t.Errorf("%v", failed)
	}
}

// TestCheckKinds: unknown words have the nearest, and some need an earlier report.
func TestCheckKinds(t *testing.T) {
	if err := audit.CheckKinds(audit.Kinds(), true); err != nil {
		t.Error(err)
	}
	for word, want := range map[string]string{"anonymous-writes": "did you mean anonymous-write?", "new-route": "new-route needs --diff", "": "is not one of"} {
		if err := audit.CheckKinds([]string{word}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// TestRead: what is no report is told.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"v":1,"routes":[]}`: "", `{"v":2,"routes":[]}`: "it is no report", `{"v":1,"routes":{"/":{}}}`: "it is no report",
		`{"v":1}`: "it is no report", `no`: "it is no report",
	} {
		if _, err := audit.Read([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestReport_Undecided: what could be reasoned about before, and cannot now, may be more.
func TestReport_Undecided(t *testing.T) {
	for before, want := range map[audit.Reach]bool{audit.None: true, audit.Some: true, audit.All: false, audit.Unknown: false} {
		old, now := reportOf(map[string]audit.Reach{"POST /a": before}), reportOf(map[string]audit.Reach{"POST /a": audit.Unknown})
		for _, kind := range []string{"new-anonymous", "new-anonymous-write"} {
			failed, undecided := now.FailOn([]string{kind}, now.Since(old))
			if len(failed) > 0 || (len(undecided) == 1) != want || want && !slices.Equal(undecided[0].Has, []string{"POST /a"}) {
				t.Errorf("%s, %s: %v, %v", before, kind, failed, undecided)
			}
		}
	}
	now := reportOf(map[string]audit.Reach{"GET /a": audit.None})
	now.Certain = false
	if failed, undecided := now.FailOn(audit.Kinds(), now.Since(now)); len(failed) > 0 || len(undecided) != 4 {
		t.Errorf("%v, %v", failed, undecided)
	}
}

// TestReport_Parts: where a part is reached before and now, another part is more or less of the
// endpoint; an earlier report that does not tell the parts or the patterns decides nothing.
func TestReport_Parts(t *testing.T) {
	some := map[string]audit.Reach{"POST /a": audit.Some}
	old, now := reportOf(some), reportOf(some)
	now.Routes[0].Methods[0].Parts = "y"
	d := now.Since(old)
	if got := d.Text(terminal.Palette{}); got != "~ POST /a  some, otherwise than before\n" {
		t.Error(got)
	}
	kinds := []string{"new-anonymous", "new-anonymous-write"}
	if failed, undecided := now.FailOn(kinds, d); len(failed) > 0 || len(undecided) != 2 || !slices.Equal(undecided[1].Has, []string{"POST /a"}) {
		t.Errorf("%v, %v", failed, undecided)
	}
	bare := &old.Routes[0].Methods[0]
	bare.Parts, bare.Patterns = "", nil
	d = now.Since(old)
	if got := d.Text(terminal.Palette{}); !strings.HasPrefix(got, "~ POST /a  some, perhaps otherwise than before\nnote the earlier report") {
		t.Error(got)
	}
	if failed, undecided := now.FailOn(append(kinds, "new-route"), d); len(failed) > 0 || len(undecided) != 3 {
		t.Errorf("%v, %v", failed, undecided)
	}
}

// TestReport_Patterns: a pattern that is new under a known name is an added endpoint.
func TestReport_Patterns(t *testing.T) {
	all := map[string]audit.Reach{"POST /a/:id": audit.All}
	old, now := reportOf(all), reportOf(all)
	old.Routes[0].Methods[0].Patterns = []string{`/a/(?P<id>\d+)`}
	now.Routes[0].Methods[0].Patterns = []string{`/a/(?P<id>[a-z]+)`}
	d := now.Since(old)
	want := "+ POST /a/:id, pattern /a/(?P<id>[a-z]+)  all\n- POST /a/:id, pattern /a/(?P<id>\\d+)\n"
	if got := d.Text(terminal.Palette{}); got != want {
		t.Error(got)
	}
	for _, kind := range []string{"new-route", "new-anonymous", "new-anonymous-write"} {
		if failed, _ := now.FailOn([]string{kind}, d); len(failed) != 1 || !slices.Equal(failed[0].Has, []string{"POST /a/:id, pattern /a/(?P<id>[a-z]+)"}) {
			t.Errorf("%s: %v", kind, failed)
		}
	}
}
