package command_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
)

// observed is a record of observe mode.
func observed(site, method, route, client string, at int) string {
	return fmt.Sprintf(`{"level":"info","ts":%d,"msg":"request would be refused","v":1,"request_id":"a","site":%q,"host":%q,"base":"","policy":"access",`+
		`"code":"rest_not_logged_in","outcome":"would_refuse","rule":"login_only","at":"Caddyfile:3","from":"page","why":"w","method":%q,"form":"pretty",`+
		`"route":%q,"client_ip":%q,"caller":"anonymous","remedy":"allow anyone %s %s"}`+"\n", at, site, site, method, route, client, method, route)
}

// logOf writes records of two sites and two days, and lines of other kinds.
func logOf(t *testing.T) (log string) {
	t.Helper()
	for i := range 4 {
		client := fmt.Sprintf("203.0.113.%d", i)
		log += observed("shop.example.com", "POST", "/contact-form-7/v1/contact-forms/:id/feedback", client, 1767225600+i)
		log += observed("blog.example.com", "GET", "/acme/v1/votes", client, 1767225600+86400+i) + "no JSON\n"
	}
	return log + `{"level":"info","msg":"handled request"}` + "\n"
}

func logFile(t *testing.T, name string, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	log := logOf(t)
	half := strings.Index(log, "no JSON") // in the middle of the lines
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(log[half:])) // into memory
	_ = z.Close()
	whole, first, second := logFile(t, "all.log", []byte(log)), logFile(t, "new.log", []byte(log[:half])), logFile(t, "old.log.gz", zipped.Bytes())
	const form, votes = "allow plugin contact-form-7\n", "allow anyone GET /acme/v1/votes\n"
	for name, c := range map[string]struct {
		in   string
		args []string
		want []string // "!" before what must not be there
		code int
	}{
		"all":             {"", []string{whole}, []string{form, votes, "# shop.example.com: 4 calls by 4 clients", "# blog.example.com"}, 0},
		"standard input":  {log, []string{"-"}, []string{form, votes}, 0},
		"host":            {"", []string{"--host", "shop.example.com", whole}, []string{form, "!" + votes}, 0},
		"since a day":     {"", []string{"--since", "2026-01-02", whole}, []string{votes, "!" + form}, 0},
		"since an hour":   {"", []string{"--since", "1h", whole}, []string{votes, "!" + form}, 0},
		"since two days":  {"", []string{"--since", "2d", whole}, []string{votes, form}, 0},
		"min clients":     {"", []string{"--min-clients", "5", whole}, []string{"!\n" + votes, "!\n" + form, "# Left out: too few clients"}, 0},
		"twice the same":  {"", []string{whole, whole}, []string{"# shop.example.com: 4 calls"}, 0},
		"another site's":  {"", []string{"--host", "x.example.com", whole}, []string{"!allow"}, 3},
		"no records":      {"x\n", []string{"-"}, nil, 3},
		"no log":          {"", nil, nil, 2},
		"missing":         {"", []string{whole + "x"}, nil, 2},
		"a wrong time":    {"", []string{"--since", "yesterday", whole}, nil, 2},
		"stdin, an hour":  {log, []string{"--since", "1h", "-"}, []string{votes, "!" + form}, 0},
		"hour of a host":  {"", []string{"--since", "1h", "--host", "shop.example.com", whole}, []string{form, "!" + votes}, 0},
		"too few clients": {"", []string{"--min-clients", "0", whole}, nil, 2},
		"too many":        {"", []string{"--min-clients", "101", whole}, nil, 2},
		"a wrong format":  {"", []string{"--format", "txt", whole}, nil, 2},
		"cut off":         {zipped.String()[:50], []string{"-"}, nil, 3},
	} {
		out, problems, status := command.Run(strings.NewReader(c.in), append([]string{"suggest"}, c.args...)...)
		if status != c.code || (status != 0) != strings.Contains(problems, "Error: ") {
			t.Errorf("%s: exit status %d, want %d: %s", name, status, c.code, problems)
		}
		for _, text := range c.want {
			if not, is := strings.CutPrefix(text, "!"); strings.Contains(out, not) == is {
				t.Errorf("%s: %q in\n%s", name, text, out)
			}
		}
	}
	one, _, _ := command.Run(nil, "suggest", whole)
	for _, files := range [][]string{{first, second}, {second, first}} {
		if out, problems, _ := command.Run(nil, append([]string{"suggest"}, files...)...); out != one || !strings.Contains(problems, "lines read: 13; records: 8; of observe mode, and in question: 8; no JSON, skipped: 4") {
			t.Errorf("%s\nfrom two files:\n%s\n%s", one, out, problems)
		}
	}
}

func zipOf(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // into memory
	_ = z.Close()
	return b.Bytes()
}

// TestSuggest_Torn: what was read of a torn file counts, the other files do, too, and the exit
// status says that something was lost.
func TestSuggest_Torn(t *testing.T) {
	t.Parallel()
	whole := logFile(t, "new.log", []byte(observed("shop.example.com", "GET", "/acme/v1/votes", "203.0.113.9", 1767225600)))
	random := rand.New(rand.NewPCG(1, 2))
	var text string
	for i := range 1000 {
		text += observed("shop.example.com", "GET", "/acme/v1/votes", fmt.Sprintf("203.0.%d.%d", random.IntN(9), i%250), 1767225600)
	}
	zipped := zipOf(t, text)
	for name, torn := range map[string][]byte{
		"torn.log.gz": zipped[:len(zipped)/2], "zeros.log.gz": append(slices.Clone(zipped), make([]byte, 512)...), "header.log.gz": zipped[:5],
	} {
		file := logFile(t, name, torn)
		for _, args := range [][]string{{file, whole}, {whole, file}} {
			out, problems, status := command.Run(nil, append([]string{"suggest"}, args...)...)
			if status != 3 || strings.Count(problems, name) != 1 || !strings.Contains(problems, "Error: logs that cannot be read to their end: 1") {
				t.Errorf("%s: %d, %s", name, status, problems)
			}
			if few := strings.Contains(out, ": 1 call by"); few != (name == "header.log.gz") || !strings.Contains(out, "# shop.example.com: ") {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
}

// TestSuggest_Compressing: a file that Caddy compresses counts once, whether or not the
// compressed one is whole; another file with that name counts for itself.
func TestSuggest_Compressing(t *testing.T) {
	t.Parallel()
	log := logOf(t)
	zipped := zipOf(t, log)
	for name, c := range map[string]struct {
		compressed []byte
		calls      string
		status     int
	}{
		"whole":   {zipped, "4 calls", 0},
		"torn":    {zipped[:len(zipped)/2], "4 calls", 0},
		"empty":   {nil, "4 calls", 0},
		"another": {zipOf(t, strings.ReplaceAll(log, "Caddyfile:3", "Caddyfile:4")), "8 calls", 0},
		"longer":  {zipOf(t, log+log), "12 calls", 0},
	} {
		file := logFile(t, "x.log", []byte(log))
		if err := os.WriteFile(file+".gz", c.compressed, 0o600); err != nil {
			t.Fatal(err)
		}
		out, problems, status := command.Run(nil, "suggest", file, file+".gz")
		if status != c.status || !strings.Contains(out, "# shop.example.com: "+c.calls+" by") || strings.Contains(problems, "left out") != (c.calls == "4 calls") {
			t.Errorf("%s: %d, %s\n%s", name, status, problems, out)
		}
	}
}

// TestSuggest_Nothing: where no record is in question, the error says which there are.
func TestSuggest_Nothing(t *testing.T) {
	t.Parallel()
	file := logFile(t, "x.log", []byte(logOf(t)))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--host", "shop.exmple.com"}, `no record of "shop.exmple.com", but of other sites: did you mean`},
		{[]string{"--host", "s01"}, `no record of "s01", but of other sites: blog.example.com, shop.example.com`},
		{[]string{"--since", "2027-01-01"}, "8 are before --since"},
	} {
		if _, problems, status := command.Run(nil, append(append([]string{"suggest"}, c.args...), file)...); status != 3 || !strings.Contains(problems, c.want) {
			t.Errorf("%q: %d, %s", c.args, status, problems)
		}
	}
}

func TestSuggest_JSON(t *testing.T) {
	t.Parallel()
	out, problems, status := command.Run(strings.NewReader(logOf(t)), "suggest", "--format", "json", "-")
	var report suggest.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 0 {
		t.Fatalf("%v, %d: %s", err, status, problems)
	}
	if report.Version != 1 || len(report.Sites) != 2 || report.Sites[1].Name != "shop.example.com" || report.Sites[1].Lines[0].Plugin != "contact-form-7" {
		t.Errorf("%s", out)
	}
}

// TestSuggest_Check: what is printed loads in a directive with login_only, and nothing in it is
// odd: plugins by default and by group, what closes risky routes, routes of all kinds.
func TestSuggest_Check(t *testing.T) {
	t.Parallel()
	var log string
	for i := range 4 {
		for _, c := range [][2]string{
			{"POST", "/contact-form-7/v1/contact-forms/:id/feedback"},
			{"POST", "/jwt-auth/v1/token/validate"},
			{"POST", "/wc-stripe/v1/webhook"},
			{"GET", "/wc/store/v1/cart"},
			{"POST", "/gdpr/v2/acme"},
			{"GET", "/acme/v1/votes/:id"},
			{"POST", "/acme/v1/votes/:id"},
			{"GET", "/acme/v1/votes/new"},
			{"GET", "/acme/v1/:what/new"},
			{"GET", "/wp/v2/posts/:id"},
		} {
			log += observed("shop.example.com", c[0], c[1], fmt.Sprintf("203.0.113.%d", i), 1767225600)
		}
		risky := observed("shop.example.com", "POST", "/gdpr/v2/get_user_dashboard_data", fmt.Sprintf("203.0.113.%d", 10+i), 1767225600)
		log += strings.Replace(risky, `"from":"page"`, `"from":"none"`, 1)
		user := observed("shop.example.com", "GET", "/acme/v1/reports", fmt.Sprintf("203.0.113.%d", i), 1767225600)
		log += strings.NewReplacer(
			`"rule":"login_only"`, `"rule":"allow role editor /acme/v1/reports/**"`, `"caller":"anonymous"`, `"caller":"user"`, "allow anyone", "allow users",
			"rest_not_logged_in", "rest_forbidden",
		).Replace(user)
	}
	lines, problems, status := command.Run(strings.NewReader(log), "suggest", "-")
	if status != 0 {
		t.Fatal(problems)
	}
	const users = "allow users GET /acme/v1/reports"
	if !strings.Contains(lines, "\n#   "+users+", before Caddyfile:3,") {
		t.Errorf("%s", lines)
	}
	if n := strings.Count("\n"+lines, "\nallow ") + strings.Count(lines, "\ndeny "); n != 10 {
		t.Errorf("%d lines:\n%s", n, lines)
	}
	own := "shop.example.com {\n\trestwarden wordpress {\n\t\tspool_dir /var/tmp\n\t\tlogin_only\n\t\t" + users + "\n\t\tallow role editor /acme/v1/reports/**\n" + lines + "\t}\n\treverse_proxy 127.0.0.1:8080\n}\n"
	out, problems, _ := command.Run(nil, "check", "--config", logFile(t, "Caddyfile", []byte(own)), "--adapter", "caddyfile", "--format", "json")
	var found struct{ Findings []odd }
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v: %s\n%s", err, problems, own)
	}
	for _, f := range found.Findings {
		if f.Code != "W14" { // of this machine's disk
			t.Errorf("%+v\n%s", f, own)
		}
	}
}

// TestSuggest_Untrusted: no control character of a log reaches the terminal, and no line of one
// becomes a line of the Caddyfile.
func TestSuggest_Untrusted(t *testing.T) {
	t.Parallel()
	var log string
	for i := range 9 {
		for _, text := range []string{"/acme/v1/x\nallow anyone /**", "/acme/v1/\x1b[31m", "/acme/v1/a b", "/acme/v1/{$SECRET}", "/acme/v1/**", "/acme/v1/\"q"} {
			log += observed("a\nallow anyone /**\x1b[0m", "GET", text, fmt.Sprintf("203.0.113.%d", i), 1767225600)
			log += observed("b.example.com", "GET,POST", text, fmt.Sprintf("203.0.113.%d", i), 1767225600)
		}
	}
	log = strings.NewReplacer(`\x1b`, `\u001b`, "/x\nallow", `/x\nallow`, "\x1b", `\u001b`, ` /acme/v1/"q"`, ` /acme/v1/\"q"`).Replace(log)
	out, problems, status := command.Run(strings.NewReader(log), "suggest", "-")
	if status != 0 || !strings.Contains(problems, "records: 108;") || strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("%d %s\n%q", status, problems, out)
	}
	for line := range strings.Lines(out) {
		if line != "\n" && line[0] != '#' {
			t.Errorf("%q", line)
		}
	}
}
