package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/proxyprotocol"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy/forwardauth"

	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// surveyed returns what a survey finds in a Caddyfile.
func surveyed(tb testing.TB, source string) routing.Report {
	tb.Helper()
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		tb.Fatal(err)
	}
	return surveyedJSON(tb, adapted)
}

func surveyedJSON(tb testing.TB, adapted []byte) routing.Report {
	tb.Helper()
	var config caddy.Config
	if err := caddy.StrictUnmarshalJSON(adapted, &config); err != nil {
		tb.Fatal(err)
	}
	var app caddyhttp.App
	if err := caddy.StrictUnmarshalJSON(config.AppsRaw["http"], &app); err != nil {
		tb.Fatal(err)
	}
	return routing.Survey(&app, Directives)
}

// foundIn describes a report: "refused Caddyfile:3 W01 Caddyfile:2".
func foundIn(r routing.Report) string {
	var found []string
	for _, f := range r.Refused {
		found = append(found, "refused "+f.At)
	}
	for _, f := range r.Odd {
		found = append(found, f.Code+" "+f.At)
	}
	return strings.Join(found, " ")
}

// loadedWith validates a Caddyfile as "caddy validate" does. It returns what its survey
// found, in the form of foundIn.
func loadedWith(t *testing.T, source string) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	var config caddy.Config
	if err := caddy.StrictUnmarshalJSON(adapted, &config); err != nil {
		t.Fatal(err)
	}
	writer, err := json.Marshal(map[string]string{"output": "file", "filename": log})
	if err != nil {
		t.Fatal(err)
	}
	config.Logging = &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{WriterRaw: writer}}}}
	err = caddy.Validate(&config)
	var found []string
	if err != nil {
		for _, m := range regexp.MustCompile(`restwarden at (Caddyfile:\d+)[^:]*: no request`).FindAllStringSubmatch(err.Error(), -1) {
			found = append(found, "refused "+m[1])
		}
		if found == nil {
			t.Error(err)
		}
	}
	b, _ := os.ReadFile(log)
	for _, m := range regexp.MustCompile(`"level":"warn".*"code":"(W\d+)","at":"(Caddyfile:\d+)"`).FindAllStringSubmatch(string(b), -1) {
		found = append(found, m[1]+" "+m[2])
	}
	return strings.Join(found, " ")
}

func TestSurvey(t *testing.T) {
	for _, tt := range surveyTests {
		t.Run(tt.name, func(t *testing.T) {
			report := surveyed(t, tt.source)
			if got := foundIn(report); got != tt.want {
				t.Errorf("got %q, want %q: %+v", got, tt.want, report)
			}
		})
	}
}

// TestSurvey_Validate: "caddy validate" says the same, by file and line, and logs it once.
func TestSurvey_Validate(t *testing.T) {
	for _, tt := range surveyTests {
		if !spoken[tt.name] {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			if got := loadedWith(t, tt.source); got != tt.want || got == "" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// spoken are the Caddyfiles that operators got wrong, and one of each code.
var spoken = map[string]bool{
	"order last": true, "order after reverse_proxy": true, "route": true, "W03, matcher": true, "W03, handle": true,
	"W03, handle_path": true, "W01": true, "W02, observe": true, "W08, cookie": true, "W09": true, "W10": true, "W13, loopback": true,
}

// TestSurvey_Scale: the survey of a thousand sites takes a fraction of the time in which
// Caddy loads them.
func TestSurvey_Scale(t *testing.T) {
	var source strings.Builder
	source.WriteString("(site) {\n\troot * /srv/{args[0]}\n\t@hidden path /.git/* /xmlrpc.php\n\trespond @hidden 404\n" +
		"\trestwarden wordpress {\n\t\tlogin_only\n")
	for i := range 30 {
		fmt.Fprintf(&source, "\t\tallow anyone POST /plugin-%d/v1/**\n", i)
	}
	source.WriteString("\t}\n\t@static path *.css *.js\n\theader @static Cache-Control max-age=3600\n\tphp_fastcgi unix//run/php.sock\n\tfile_server\n}\n")
	for i := range 1000 {
		fmt.Fprintf(&source, "http://shop-%d.example.com, http://www.shop-%d.example.com {\n\timport site shop-%d\n}\n", i, i, i)
	}
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source.String()), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	var config caddy.Config
	if err := caddy.StrictUnmarshalJSON(adapted, &config); err != nil {
		t.Fatal(err)
	}
	var app caddyhttp.App
	if err := caddy.StrictUnmarshalJSON(config.AppsRaw["http"], &app); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	report := routing.Survey(&app, Directives)
	took := time.Since(start)
	t.Logf("%d bytes: %s", len(adapted), took)
	if got := foundIn(report); got != "" {
		t.Errorf("%s", got)
	}
}

// TestSurvey_Metric: what is odd is counted under the name of its site.
func TestSurvey_Metric(t *testing.T) {
	p := newPlatform(t)
	s := startSites(t, `http://anton.example:PORT {
	@rest path /cms-json/*
	restwarden @rest cms {
		base /blog
	}
	`+strings.TrimSpace(p.proxied())+`
}
http://metrics.example:PORT {
	metrics
}
`)
	const want = `caddy_restwarden_misconfigured{problem="W03",site="anton.example/blog"} 1`
	if got := s.at("metrics.example", "GET /", "").body; !strings.Contains(got, want+"\n") {
		t.Errorf("no %s in %s", want, got)
	}
}

// TestSurvey_Imported: what is odd in a snippet is said of each site that imports it, with
// the line of the import.
func TestSurvey_Imported(t *testing.T) {
	p := newPlatform(t)
	s := startSites(t, `(rw) {
	restwarden /cms-json/* cms
	`+strings.TrimSpace(p.proxied())+`
}
http://anton.example:PORT {
	import rw
}
http://berta.example:PORT {
	import rw
}
`)
	found := lines(t, s.log, `"code":"W03"`)
	if len(found) != 2 || found[0]["imported"] == found[1]["imported"] {
		t.Fatalf("%v", found)
	}
	for _, f := range found {
		if imported, _ := f["imported"].(string); !strings.HasPrefix(imported, "Caddyfile:") || f["at"] == imported {
			t.Errorf("%v", f)
		}
	}
}

// TestSurvey_RefusedInSnippet: the error says which site imports the directive that nothing
// reaches.
func TestSurvey_RefusedInSnippet(t *testing.T) {
	const file = `{
	admin off
	auto_https off
	order restwarden last
}
(rw) {
	restwarden cms
	reverse_proxy 127.0.0.1:9
}
http://anton.example:8080 {
	import rw
}
`
	var config caddy.Config
	if err := json.Unmarshal(caddyrun.Adapt(t, file), &config); err != nil {
		t.Fatal(err)
	}
	err := caddy.Validate(&config)
	if err == nil || !strings.Contains(err.Error(), "Caddyfile:7") || !strings.Contains(err.Error(), "Caddyfile:11") {
		t.Errorf("%v", err)
	}
}
