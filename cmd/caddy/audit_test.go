package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/cmd/platform/site"
	"github.com/restwarden/restwarden/policies/index"
)

// audited are directives whose reports are compared with live requests. Policies that look
// at records and totals are off: an audit says who may call, not with what.
var audited = map[string]string{
	"login_only": `
		login_only
		allow plugin woocommerce wordpress
		deny plugin woocommerce
		allow anyone POST /consent/v1/consent
		allow role editor,administrator GET /wc-analytics/**
		allow role administrator /wp/v2/users/**
		deny DELETE /wp/v2/posts/*
		deny /wc/v3/refunds as 404
		allow anyone GET /wp/v2/posts/:id`,
	"open": `
		deny plugin wordpress woocommerce
		allow anyone GET /wp/v2/search
		allow users /wc/v3/**
		allow capability edit_posts PUT,PATCH /wp/v2/posts/**
		deny /wp/v2/widgets/**`,
	"observe": `
		mode observe
		login_only`,
}

// TestAudit: the report says what as many live requests give: one for each route, method and
// caller.
func TestAudit(t *testing.T) {
	for name, directive := range audited {
		t.Run(name, func(t *testing.T) {
			w := newPlatform(t, site.Options{Platform: "wordpress", Abilities: true, ToolServer: true})
			directive += "\norder_type off\ncheckout_total off\nrefund_totals off"
			report := w.audit("http://shop.example.com {\nrestwarden wordpress {\n" + directive + "\n}\nreverse_proxy 127.0.0.1:1\n}\n")
			w.users("subscriber")
			w.start(directive)
			w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool { // nothing is written
				if r.Header.Get(mark) != "" {
					rw.WriteHeader(http.StatusNoContent)
				}
				return r.Header.Get(mark) != ""
			})
			w.compare(report)
		})
	}
}

// TestAudit_Proposed: without a configuration everything reaches the platform. What the
// report says of its proposal is what a report of that configuration says, which has
// nothing more to propose, and each of its lines is needed.
func TestAudit_Proposed(t *testing.T) {
	w := newPlatform(t, site.Options{Platform: "wordpress"})
	bare := w.audit("")
	if n := bare.Totals.Endpoints; bare.Gateway || n < 100 || bare.Totals.Anonymous.All != n || bare.Totals.Administrator.All != n {
		t.Errorf("%+v", bare.Totals)
	}
	with := func(lines []string) *audit.Report {
		return w.audit("http://shop.example.com {\nrestwarden wordpress {\nlogin_only\n" + strings.Join(lines, "\n") + "\n}\nreverse_proxy 127.0.0.1:1\n}\n")
	}
	done := with(bare.Propose)
	if done.Totals.Anonymous != bare.Proposed.Anonymous || len(done.Propose) > 0 || !done.LoginOnly || len(bare.Propose) == 0 {
		t.Errorf("%q: %+v, then %q: %+v", bare.Propose, bare.Proposed.Anonymous, done.Propose, done.Totals.Anonymous)
	}
	for i, line := range bare.Propose {
		fewer := with(slices.Delete(slices.Clone(bare.Propose), i, i+1))
		if !slices.Equal(fewer.Propose, []string{line}) {
			t.Errorf("without %s: %q", line, fewer.Propose)
		}
	}
}

// audit runs the command against the bare platform, for the site of a Caddyfile. "" is none.
func (w *world) audit(caddyfile string, args ...string) *audit.Report {
	w.t.Helper()
	if caddyfile != "" {
		file := filepath.Join(w.t.TempDir(), "Caddyfile")
		if err := os.WriteFile(file, []byte(caddyfile), 0o600); err != nil {
			w.t.Fatal(err)
		}
		args = append(args, "--config", file)
	}
	out, err := runCommand(append([]string{"audit", "--format", "json", w.platform}, args...)...)
	if err != nil {
		w.t.Fatalf("%v: %.2000s", err, out)
	}
	report := new(audit.Report)
	if err := json.Unmarshal([]byte(out), report); err != nil {
		w.t.Fatalf("%v: %.2000s", err, out)
	}
	return report
}

// users adds an account of each role, named as the role.
func (w *world) users(roles ...string) {
	w.t.Helper()
	for _, role := range roles {
		body := fmt.Sprintf(`{"username":%q,"email":"%s@example.test","password":"x","roles":[%q]}`, role, role, role)
		id := w.bare("POST /wp-json/wp/v2/users", body, w.as("admin")).want(http.StatusCreated).at("id")
		password := w.bare(fmt.Sprintf("POST /wp-json/wp/v2/users/%v/application-passwords", id), `{"name":"audit"}`, w.as("admin")).want(http.StatusCreated).at("password")
		w.info.Users[role] = site.Credentials{ApplicationPassword: fmt.Sprint(password)}
	}
}

var group = regexp.MustCompile(`:\w+|\*`)

// examples returns a route for each name of the site's routes.
func (w *world) examples() map[string]string {
	w.t.Helper()
	root, err := index.ParseRoot([]byte(w.bare("GET /wp-json/", "").want(http.StatusOK).body))
	if err != nil {
		w.t.Fatal(err)
	}
	found := map[string]string{}
	for _, pattern := range root.Patterns() {
		x := index.New([]string{pattern}, nil)
		for _, value := range []string{"7", "EUR"} {
			name := x.Routes()[0].Name()
			if got, ok := x.Pattern(group.ReplaceAllString(name, value)); ok && got == name && found[name] == "" {
				found[name] = group.ReplaceAllString(name, value)
			}
		}
	}
	return found
}

// compare sends the requests. Of a route that is reached in part the report has an example
// for callers without a login.
func (w *world) compare(report *audit.Report) {
	w.t.Helper()
	examples := w.examples()
	reached, counted := map[string]int{}, 0
	for _, r := range report.Routes {
		example := examples[r.Name]
		if example == "" {
			w.t.Errorf("%s has no example", r.Name)
			continue
		}
		for _, m := range r.Methods {
			if m.Anonymous == audit.Some {
				w.agrees(m.Method, m.Passes, "", audit.All)
				w.agrees(m.Method, m.Refused, "", audit.None)
			} else {
				w.agrees(m.Method, example, "", m.Anonymous)
			}
			for login, says := range map[string]audit.Reach{"subscriber": m.Subscriber, "editor": m.Editor, "admin": m.Administrator} {
				if says == audit.Some {
					continue
				}
				w.agrees(m.Method, example, login, says)
			}
			counted++
			reached[string(m.Anonymous)]++
		}
	}
	a := report.Totals.Anonymous
	if counted < 100 || counted != report.Totals.Endpoints ||
		a != (audit.Count{All: reached["all"], Some: reached["some"], None: reached["none"], Unknown: reached["unknown"]}) {
		w.t.Errorf("%d endpoints, %v; the totals say %d, %+v", counted, reached, report.Totals.Endpoints, a)
	}
}

func (w *world) agrees(method, route, login string, says audit.Reach) {
	w.t.Helper()
	var edits []edit
	if login != "" {
		edits = append(edits, w.as(login))
	}
	got := w.gate(method+" /wp-json"+route, "", edits...)
	want := map[audit.Reach]int{audit.All: 1, audit.None: 0}
	if n, known := want[says]; !known || got.reached != n {
		w.t.Errorf("%s %s as %q: the report says %s; %d requests reached the platform (%d %.200s)", method, route, login, says, got.reached, got.status, got.body)
	}
}
