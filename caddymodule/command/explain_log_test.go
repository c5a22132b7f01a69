package command_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/policy"
)

const loggedSite = `shop.example.com {
	restwarden wordpress {
		login_only
		allow role editor /newsletter/v1/**
		allow users /members/v1/:id
		deny /wc/v3/orders/*/notes
		allow anyone /files/v1/public/*
	}
	reverse_proxy 127.0.0.1:8080
}
`

// record is a line of the log, with fields in place of the usual ones.
func record(fields map[string]any) string {
	rec := map[string]any{
		"level": "info", "ts": 1767225600.5, "logger": "http.handlers.restwarden", "msg": "request refused", "v": 1,
		"request_id": "id-1", "site": "shop.example.com", "host": "shop.example.com", "base": "", "policy": "access",
		"code": "rest_not_logged_in", "outcome": "refused", "rule": "login_only", "at": "Caddyfile:3", "from": "page",
		"why": "A rule asks for a login for this call, and the caller sent none that counts here.", "method": "POST",
		"form": "pretty", "route": "/contact-form-7/v1/contact-forms/:id/feedback", "client_ip": "203.0.113.7", "caller": "anonymous",
	}
	maps.Copy(rec, fields)
	line, err := json.Marshal(rec)
	if err != nil {
		panic(err)
	}
	return string(line)
}

// TestExplain_Log: the record of a request, and what becomes of the request now.
func TestExplain_Log(t *testing.T) {
	t.Parallel()
	file := written(t, loggedSite)
	const refusedThen = "refused then: rest_not_logged_in; now: "
	for _, c := range []struct {
		name   string
		fields map[string]any
		status int
		first  string
		also   string
	}{
		{"the same", map[string]any{"at": file + ":3"}, 1, refusedThen + "the same", "A line that lets it pass"},
		{"another line now", nil, 1, refusedThen + "refused: 401 rest_not_logged_in", file + ":3"},
		{"by role", map[string]any{"caller": "user", "code": "rest_forbidden", "route": "/newsletter/v1/issues", "rule": "allow role editor /newsletter/v1/**"}, 3, "refused then: rest_forbidden; now: it depends", "who the caller is"},
		{"by a role that the record has", map[string]any{"caller": "user", "roles": []string{"author", "customer"}, "code": "rest_forbidden", "route": "/newsletter/v1/issues", "rule": "allow role editor /newsletter/v1/**", "at": file + ":4"}, 1, "refused then: rest_forbidden; now: the same", "caller user author, customer"},
		{"one of two roles is admitted", map[string]any{"caller": "user", "roles": []string{"author", "editor"}, "method": "GET", "code": "rest_forbidden", "route": "/newsletter/v1/issues", "rule": "x"}, 0, "refused then: rest_forbidden; now: passes", ""},
		{"a user, whatever the role", map[string]any{"caller": "user", "method": "GET", "code": "rest_forbidden", "rule": "x", "route": "/wp/v2/posts"}, 0, "refused then: rest_forbidden; now: passes", ""},
		{"a key", map[string]any{"caller": "key", "method": "GET", "code": "rest_forbidden", "rule": "deny /wc/v3/orders/*/notes", "at": file + ":6", "route": "/wc/v3/orders/:order_id/notes"}, 1, "refused then: rest_forbidden; now: the same", ""},
		{"nobody asked", map[string]any{"caller": "", "method": "GET", "code": "rest_forbidden", "rule": "deny /wc/v3/orders/*/notes", "at": file + ":6", "route": "/wc/v3/orders/:order_id/notes"}, 1, "refused then: rest_forbidden; now: the same", "all callers were tried"},
		{"the query form", map[string]any{"form": "query", "at": file + ":3"}, 1, refusedThen + "the same", "rest_route="},
		{"the form of a body", map[string]any{"form": "body", "at": file + ":3"}, 1, refusedThen + "the same", "body form"},
		{"it may pass", map[string]any{"caller": "user", "route": "/members/v1/:id", "method": "GET"}, 3, refusedThen + "it depends", "the query and the body (without them it passes)"},
		{"a body", map[string]any{"caller": "user", "route": "/wp/v2/posts"}, 3, refusedThen + "it depends", "the query and the body (without them it passes)"},
		{"a parameter", map[string]any{"route": "/gallery/v1/:name/x", "method": "GET"}, 1, refusedThen + "refused: 401 rest_not_logged_in", "examples of the route"},
		{"a named word decides", map[string]any{"route": "/files/v1/:name/:id", "method": "GET"}, 3, refusedThen + "it depends", "the parameters of the route"},
		{"no route", map[string]any{"route": "unknown"}, 3, refusedThen + "it depends", "decides: the route, since"},
		{"a namespace", map[string]any{"route": "wc/v3"}, 3, refusedThen + "it depends", "decides: the route, since"},
		{"alternatives", map[string]any{"route": "/x/v1/(a|b)"}, 3, refusedThen + "it depends", "which of its forms the route had"},
		{"no reading", map[string]any{"policy": "call", "form": "", "code": "rest_ambiguous_request"}, 3, "refused then: rest_ambiguous_request; now: it depends", "--raw"},
		{"two routes", map[string]any{"policy": "call", "form": "", "code": "rest_ambiguous_request", "rule": "two_routes", "route": "unknown", "caller": ""}, 1, "refused then: rest_ambiguous_request; now: the same", "names two different REST routes"},
		{"a misread page", map[string]any{"policy": "call", "form": "", "code": "rest_misread", "rule": "misread refuse", "method": "GET", "route": "unknown", "caller": ""}, 3, "refused then: rest_misread; now: it depends", "an ERROR line with the same request id"},
		{"no method", map[string]any{"policy": "call", "form": "", "code": "rest_ambiguous_request", "rule": "two_routes", "method": "", "route": "unknown", "from": "none", "caller": ""}, 1, "refused then: rest_ambiguous_request; now: the same", "  call    unknown\n"},
		{"two routes of a site that is gone", map[string]any{"site": "gone.example.com", "policy": "call", "form": "", "code": "rest_ambiguous_request", "rule": "two_routes", "route": "unknown"}, 3, "refused then: rest_ambiguous_request; now: it depends", "names two different REST routes"},
		{"a lockdown, and a route that is open", map[string]any{"policy": "lockdown", "rule": "lockdown", "route": "/wp/v2/posts", "method": "GET", "caller": "anonymous"}, 1, "refused then: rest_not_logged_in, by a lockdown; now, without one: refused: 401", "login_only"},
		{"another policy", map[string]any{"policy": "order_type", "code": "x"}, 1, "refused then: x; now: refused: 401", "the id is no order's, as order_type had found"},
		{"the platform", map[string]any{"code": "platform"}, 3, "refused then: platform; now: it depends", "the credentials, which the site itself refused"},
		{"a part of a batch", map[string]any{"parts": 2, "at": file + ":3"}, 1, refusedThen + "the same", "the refused part of the batch, as a call of its own"},
		{"a part that may pass", map[string]any{"parts": 2, "caller": "user", "route": "/members/v1/:id"}, 3, refusedThen + "it depends", "the parts of the batch"},
		{"a batch that was not opened", map[string]any{"route": "/batch/v1"}, 3, refusedThen + "it depends", "the parts of the batch"},
		{"a method", map[string]any{"method": "other"}, 3, refusedThen + "it depends", "the method"},
		{"unverified", map[string]any{"caller": "unverified"}, 3, refusedThen + "it depends", "nobody knew"},
		{"a host", map[string]any{"host": "other"}, 3, refusedThen + "it depends", "the host"},
		{"a site that is gone", map[string]any{"site": "gone.example.com", "host": "gone.example.com"}, 4, refusedThen + "not reached", `"host shop.example.com"`},
		{"another base", map[string]any{"site": "shop.example.com/blog", "base": "/blog"}, 3, refusedThen + "it depends", "has no shop.example.com/blog that"},
		{"observed", map[string]any{"outcome": "would_refuse", "at": file + ":3"}, 1, "would have been refused then: rest_not_logged_in; now: ", ""},
	} {
		out, problems, status := command.Run(strings.NewReader(record(c.fields)+"\n"), "explain", "--config", file, "--log", "-", "id-1")
		if first, _, _ := strings.Cut(out, "\n"); status != c.status || !strings.HasPrefix(first, c.first) || !strings.Contains(out, c.also) || problems != "" {
			t.Errorf("%s: exit status %d, want %d: %s … %s\n%s\n%s", c.name, status, c.status, c.first, c.also, out, problems)
		}
	}
}

// TestExplain_LogEveryCode: whatever policy refuses with whatever code, there is an answer or the
// fact that decides.
func TestExplain_LogEveryCode(t *testing.T) {
	t.Parallel()
	file := written(t, loggedSite)
	for _, e := range policies.Catalog {
		for _, code := range slices.Concat(e.Codes, policy.ReadingCodes, []policy.Code{policy.CodeUnavailable, policy.CodePlatform}) {
			rec := record(map[string]any{"policy": e.Name, "code": code, "rule": e.Name, "caller": "key", "route": "/wc/v3/products", "method": "GET"})
			out, problems, status := command.Run(strings.NewReader(rec), "explain", "--config", file, "--log", "-", "id-1")
			if fact := strings.Contains(out, "Now: what the record does not hold decides: "); fact != (status == 3) || status > 1 && !fact {
				t.Errorf("%s %s: exit status %d\n%s%s", e.Name, code, status, out, problems)
			}
		}
	}
}

// TestExplain_LogScheme: a record says by which scheme its call came, where the sites of a host
// differ.
func TestExplain_LogScheme(t *testing.T) {
	t.Parallel()
	file := written(t, "http://shop.example.com {\n\trestwarden wordpress {\n\t\tdeny /wp/v2/posts\n\t}\n"+proxied+"}\nhttps://shop.example.com {\n\trestwarden wordpress {\n\t\tlogin_only\n\t}\n"+proxied+"}\n")
	for scheme, want := range map[string]string{"": "it depends", "http": "refused: 403 rest_forbidden", "https": "refused: 401 rest_not_logged_in"} {
		out, problems, _ := command.Run(strings.NewReader(record(map[string]any{"scheme": scheme, "route": "/wp/v2/posts"})), "explain", "--config", file, "--log", "-", "id-1")
		if !strings.Contains(out, "now: "+want+"\n") {
			t.Errorf("%q:\n%s%s", scheme, out, problems)
		}
	}
}

// TestExplain_LogAlias: the record of a call under a rewrite rule of the site is run again under
// that rule, where other directives guard the prefix.
func TestExplain_LogAlias(t *testing.T) {
	t.Parallel()
	file := written(t, `shop.example.com {
	handle /wp-json/* {
		restwarden wordpress {
			login_only
		}
		reverse_proxy 127.0.0.1:8080
	}
	handle {
		restwarden wordpress {
			alias ^api/v([0-9]+)/(?:old/)?(.+)$ /$2/v$1
			deny /acme/v1 as 404
		}
		reverse_proxy 127.0.0.1:8080
	}
}
`)
	rec := record(map[string]any{"form": "alias", "route": "/acme/v1", "code": "rest_no_route", "rule": "deny /acme/v1 as 404", "at": file + ":11"})
	out, problems, status := command.Run(strings.NewReader(rec), "explain", "--config", file, "--log", "-", "id-1")
	if status != 1 || !strings.Contains(out, "now: the same\n") || !strings.Contains(out, "POST /api/v1/acme\n") {
		t.Errorf("exit status %d\n%s%s", status, out, problems)
	}
}

// TestExplain_LogLines: what is no record is skipped and counted.
func TestExplain_LogLines(t *testing.T) {
	t.Parallel()
	file := written(t, loggedSite)
	for _, c := range []struct {
		log, id string
		status  int
		problem string
	}{
		{"not JSON\n" + record(nil) + "\n{}\n", "id-1", 1, "lines of the log that are no JSON, skipped: 1\n"},
		{"not JSON\n" + record(nil) + "\n{}\n", "id-2", 2, `no record has the request id "id-2"; lines read: 3, of them records: 1, no JSON (skipped): 1`},
		{record(map[string]any{"v": 2}), "id-1", 2, "records of another version (skipped): 1"},
		{"", "id-1", 2, "lines read: 0"},
	} {
		out, problems, status := command.Run(strings.NewReader(c.log), "explain", "--config", file, "--log", "-", c.id)
		if status != c.status || !strings.Contains(problems, c.problem) {
			t.Errorf("%q: exit status %d\n%s\n%s", c.log, status, out, problems)
		}
	}
	for _, args := range [][]string{{"--log", "-"}, {"--log", "-", "a", "b"}, {"--log", filepath.Join(t.TempDir(), "missing"), "a"}} {
		if out, problems, status := explain(t, loggedSite, args...); status != 2 || problems == "" {
			t.Errorf("%q: exit status %d\n%s", args, status, out)
		}
	}
	// The parts of a batch have a record each.
	out, _, status := command.Run(strings.NewReader(record(map[string]any{"parts": 2})+"\n"+record(map[string]any{"parts": 2})), "explain", "--config", file, "--log", "-", "id-1")
	if status != 1 || !strings.Contains(out, "Record 2 of 2") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	out, _, status = command.Run(strings.NewReader(record(nil)), "explain", "--config", file, "--log", "-", "--format", "json", "id-1")
	var said struct {
		Version int    `json:"v"`
		Answer  string `json:"answer"`
		Result  struct {
			Version int `json:"v"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || status != 1 || fmt.Sprint(said) != "{1 refused {1}}" {
		t.Errorf("exit status %d, %v, %v\n%s", status, err, said, out)
	}
}

// TestExplain_LogManyGroups: a log may hold any route. One with more groups than a site has does not make the command
// look at every combination.
func TestExplain_LogManyGroups(t *testing.T) {
	t.Parallel()
	rec := record(map[string]any{"route": strings.Repeat("/:group", 60)})
	out, problems, _ := command.Run(strings.NewReader(rec), "explain", "--config", written(t, loggedSite), "--log", "-", "id-1")
	if !strings.Contains(out, "the rules tell too many routes of the pattern apart") {
		t.Errorf("%s\n%s", out, problems)
	}
}

// TestExplain_LogSites: the record of a site with base and prefix, and of a catch-all.
func TestExplain_LogSites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		caddyfile string
		fields    map[string]any
	}{
		{"shop.example.com {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\tbase /blog\n\t\tprefix api\n\t}\n" + proxied + "}\n", map[string]any{"site": "shop.example.com/blog", "base": "/blog"}},
		{":8080 {\n\trestwarden wordpress {\n\t\tlogin_only\n\t}\n" + proxied + "}\n", map[string]any{"site": "*:8080", "host": "other"}},
		{"*.example.com {\n\ttls internal\n\trestwarden wordpress {\n\t\tlogin_only\n\t}\n" + proxied + "}\n", map[string]any{"site": "*.example.com", "host": "a.example.com"}},
		{"http://shop.example.com {\n\trestwarden cms {\n\t\tlogin_only\n\t}\n" + proxied + "}\n", nil},
	} {
		out, problems, status := command.Run(strings.NewReader(record(c.fields)), "explain", "--config", written(t, c.caddyfile), "--log", "-", "id-1")
		if status != 1 || !strings.Contains(out, "now: refused: 401 rest_not_logged_in\n") {
			t.Errorf("%s: exit status %d\n%s\n%s", c.caddyfile, status, out, problems)
		}
	}
}
