package drytest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

var (
	commandLine = regexp.MustCompile(`(?m)^  (\w+) +[A-Z]`)
	flagLine    = regexp.MustCompile(`(?m)^ +((?:-\w, )?--[\w-]+(?: [a-zA-Z]+)?) `)
)

// commands adds the commands, with their flags.
func (n nameSet) commands(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	all := commandLine.FindAllStringSubmatch(runs(t, program, dir, "restwarden", "--help").stdout, -1)
	if len(all) < 10 {
		t.Fatal(all)
	}
	for _, m := range all {
		for _, f := range flagLine.FindAllStringSubmatch(runs(t, program, dir, "restwarden", m[1], "--help").stdout, -1) {
			n["command "+m[1]+" "+f[1]] = true
		}
	}
}

// reports adds what commands print in JSON for one configuration.
func (n nameSet) reports(t *testing.T, program, file, record string) {
	t.Helper()
	dir := filepath.Dir(file)
	for _, line := range []string{
		"explain --config FILE --format json -v " + strings.Join(explained[4], " "),
		"explain --config FILE --format json " + strings.Join(explained[1], " "),
		"check --config FILE --format json",
		"check --config FILE --format sarif",
		"audit --config FILE --format json --index ROOT https://shop.example.com",
		"plugins --format json",
		"plugins --format json --index ROOT",
		"plugins --format json --index ROOT woocommerce",
		"suggest --format json RECORDS",
	} {
		args := strings.Fields(line)
		for i, arg := range args {
			args[i] = strings.NewReplacer("FILE", file, "ROOT", fixture(t, "audit/root.json"), "RECORDS", record).Replace(arg)
		}
		out := runs(t, program, dir, append([]string{"restwarden"}, args...)...)
		if out.stdout == "" {
			t.Fatal(line, out)
		}
		n.text(t, "report "+args[0], out.stdout)
	}
}

// exits are command lines, by what they exit with and why. FILE is a configuration that is odd and loads.
var exits = []struct {
	line   string
	status int
	means  string
}{
	{"explain --config FILE https://shop.example.com/", 0, "the request passes"},
	{"explain --config FILE https://shop.example.com/wp-json/wp/v2/users", 1, "it is refused"},
	{"explain --config NONE https://shop.example.com/", 2, "usage, or the configuration does not load"},
	{"explain --config FILE -u ada:secret https://shop.example.com/wp-json/wp/v2/users", 3, "it cannot be known"},
	{"explain --config FILE https://other.example.com/", 4, "the gateway is not on the way"},
	{"check --config FILE", 0, "the configuration loads"},
	{"check --config FILE --format json", 0, "the configuration loads"},
	{"check --config FILE --strict", 1, "something is odd, with --strict"},
	{"check --config NONE", 2, "usage, or the configuration does not load"},
	{"check --config FILE --live http://NOWHERE", 3, "it cannot be known"},
	{"test GOOD", 0, "all tests have passed"},
	{"test BAD", 1, "a test has failed"},
	{"test NONE", 2, "usage, or the configuration does not load"},
	{"test UNSURE", 3, "it cannot be known"},
	{"audit --index ROOT https://shop.example.com", 0, "there is a report"},
	{"audit --index ROOT --fail-on anonymous-write https://shop.example.com", 1, "something that --fail-on names"},
	{"audit --index NONE https://shop.example.com", 2, "usage, or no REST root"},
	{"audit --all --format json --config FILE", 3, "it cannot be known"},
	{"audit --config FILE --index ROOT https://other.example.com", 4, "no directive at the address"},
	{"suggest RECORDS", 0, "there are lines, or none are needed"},
	{"suggest NONE", 2, "usage"},
	{"suggest EMPTY", 3, "the logs have no record of observe mode"},
	{"credentials JOURNAL", 0, "there is a report"},
	{"credentials NONE", 2, "usage"},
	{"credentials EMPTY", 3, "nothing was found"},
	{"diff FILE --fail-on opened FILE", 0, "also with changes"},
	{"diff --fail-on opened FILE OPENED", 1, "something that --fail-on names"},
	{"diff FILE NONE", 2, "usage, or a configuration does not load"},
	{"plugins woocommerce", 0, "fine"},
	{"plugins no-such-plugin", 2, "usage, or no such name"},
	{"plugins --for http://NOWHERE", 3, "the REST root cannot be read"},
	{"classify REQUESTS", 0, "all lines were read"},
	{"classify FILE", 1, "a line cannot be read"},
	{"status --address NOWHERE", 1, "Caddy cannot be reached, or has failed"},
	{"status --nothing", 2, "usage, or no such site"},
	{"observe --address NOWHERE --site shop.example.com --yes --for 1h", 1, "Caddy cannot be reached, or has failed"},
	{"observe --nothing", 2, "usage, or no such site"},
	{"lockdown --address NOWHERE --for 1h --yes", 1, "Caddy cannot be reached, or has failed"},
	{"lockdown --nothing", 2, "usage, or no such site"},
	{"open --address NOWHERE --site shop.example.com --for 1h --yes GET /x", 1, "Caddy cannot be reached, or has failed"},
	{"open --nothing", 2, "usage, no such site, or no such line"},
	{"close --address NOWHERE --site shop.example.com GET /x", 1, "Caddy cannot be reached, or has failed"},
	{"close --nothing", 2, "usage, no such site, or no such line"},
	{"confirmations --address NOWHERE", 1, "Caddy cannot be reached, or has failed"},
	{"confirmations --nothing", 2, "usage, or no such confirmation"},
}

// shows are those of the lines that print JSON of which no type is [declared], with what begins the names of its members.
var shows = map[string]string{
	"check --config FILE --format json":       "check",
	"classify REQUESTS":                       "classify",
	"audit --all --format json --config FILE": "audit --all",
}

// switches runs the commands that need a running Caddy, and change nothing in it.
func (n nameSet) switches(c *running) {
	c.t.Helper()
	for _, line := range []string{
		"status", "confirmations", "open --list --format json", "close --list --format json",
		"observe --site * --for 0s --yes", "lockdown --for 0s --yes",
	} {
		args := append([]string{"restwarden"}, strings.Fields(line)...)
		got := runs(c.t, caddyrun.Binary(c.t), c.dir, append(args, "--address", c.admin)...)
		if got.status != 0 {
			c.t.Errorf("%s: %s", line, got)
		}
		n["exit "+args[1]+" 0 done"] = true
		if strings.Contains(line, "json") {
			n.text(c.t, "report "+args[1], got.stdout)
		}
	}
}

// nobody begins a file of one test.
const nobody = "config: file.caddyfile\ntests:\n  - name: users\n    request: PUT https://shop.example.com/wp-json/acme/v1/x\n"

// exitFiles are the files that the lines name.
var exitFiles = map[string]string{
	"FILE":     "shop.example.com {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\tallow users /acme/v1/**\n\t\tallow role editor /acme/v1/x\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n\nother.example.com {\n\trespond ok\n}\n",
	"OPENED":   "shop.example.com {\n\trestwarden wordpress {\n\t\tallow anyone /acme/v1/**\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n",
	"GOOD":     nobody + "    as: anonymous\n    expect: { refused: rest_not_logged_in }\n",
	"BAD":      nobody + "    as: anonymous\n    expect: pass\n",
	"UNSURE":   strings.Replace(nobody, "acme/v1/x", "wc/v3/orders/7", 1) + "    as: key\n    expect: pass\n",
	"EMPTY":    "",
	"RECORDS":  `{"level":"info","ts":1767225600.5,"logger":"http.handlers.restwarden","msg":"request would be refused","v":1,"request_id":"a","site":"shop.example.com","host":"shop.example.com","base":"","policy":"access","code":"rest_not_logged_in","outcome":"would_refuse","rule":"login_only","at":"Caddyfile:3","from":"page","why":"w","method":"POST","form":"pretty","route":"/x/v1/y","client_ip":"203.0.113.7","caller":"anonymous"}` + "\n",
	"JOURNAL":  `{"level":"info","ts":1767225600.5,"logger":"http.handlers.restwarden.journal","msg":"call passed","v":1,"request_id":"a","site":"shop.example.com","host":"shop.example.com","client_ip":"203.0.113.7","credential":{"kind":"key","key":"3f9a01c"},"caller":"key","method":"PUT","route":"/wc/v3/orders/:id","ids":[7],"status":200,"took":0.5}` + "\n",
	"REQUESTS": `{"id":0,"request":"R0VUIC8gSFRUUC8xLjENCkhvc3Q6IHgNCg0K"}` + "\n" + `{"id":1,"request":"R0VUIC9jbXMtanNvbi9jbXMvdjIvdXNlcnMgSFRUUC8xLjENCkhvc3Q6IHgNCg0K"}` + "\n" + `{"id":2,"request":"R0VUIC9jbXMtanNvbi9jbXMvdjIvdXNlcnM/cmVzdF9yb3V0ZT0veCBIVFRQLzEuMQ0KSG9zdDogeA0KDQo="}` + "\n" + `{"id":3,"request":"UE9TVCAvY21zLWpzb24vYmF0Y2gvdjEgSFRUUC8xLjENCkhvc3Q6IHgNCkNvbnRlbnQtVHlwZTogYXBwbGljYXRpb24vanNvbg0KQ29udGVudC1MZW5ndGg6IDY1DQoNCnsicmVxdWVzdHMiOlt7Im1ldGhvZCI6IlBPU1QiLCJwYXRoIjoiL2Ntcy92Mi9wb3N0cyIsImJvZHkiOnt9fV19"}` + "\n",
}

// exits runs the lines and adds what each exits with.
func (n nameSet) exits(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	words := []string{"NOWHERE", "127.0.0.1:1", "NONE", filepath.Join(dir, "none"), "ROOT", fixture(t, "audit/root.json")}
	for name, text := range exitFiles {
		path := filepath.Join(dir, strings.ToLower(name))
		if name == "FILE" || name == "OPENED" {
			path += ".caddyfile"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		words = append(words, name, path)
	}
	for _, one := range exits {
		args := append([]string{"restwarden"}, strings.Fields(strings.NewReplacer(words...).Replace(one.line))...)
		got := runs(t, program, dir, args...)
		if got.status != one.status {
			t.Errorf("%s: want exit status %d (%s), got %s", one.line, one.status, one.means, got)
		}
		command, _, _ := strings.Cut(one.line, " ")
		if name, shown := shows[one.line]; shown {
			n.text(t, "report "+name, got.stdout)
		}
		n["exit "+command+" "+strconv.Itoa(one.status)+" "+one.means] = true
	}
}
