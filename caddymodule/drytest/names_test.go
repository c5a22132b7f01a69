package drytest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

var update = flag.Bool("update", false, "write the names that others rely on into testdata/names.txt")

// nameSet is a set of names that others rely on: configurations in JSON, readers of logs,
// alerts, scripts.
type nameSet map[string]bool

// variable is a key that is no name.
var variable = regexp.MustCompile(`[/ .:]|^\d+$`)

// value adds the names in a JSON value, with the kinds of its values.
func (n nameSet) value(at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			if variable.MatchString(key) {
				key = "*"
			}
			n.value(at+"."+key, child)
		}
	case []any:
		for _, child := range v {
			n.value(at+"[]", child)
		}
	case nil:
	default:
		n[fmt.Sprintf("%s %T", at, v)] = true
	}
}

// text adds the names in a text of JSON.
func (n nameSet) text(t *testing.T, at, text string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v\n%.500s", at, err, text)
	}
	n.value(at, v)
}

// fields adds the names of a type in JSON: those that a configuration has.
func (n nameSet) fields(at string, t reflect.Type, within ...reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(within, t) {
		n[fmt.Sprintf("%s %s", at, t.Kind())] = true
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() && name != "-" && (name != "" || !f.Anonymous) {
			n.fields(at+"."+name, f.Type, append(within, t)...)
		}
	}
}

// modules adds those of Caddy's modules that are the gateway's, with their fields.
func (n nameSet) modules() {
	for _, m := range caddy.Modules() {
		info, err := caddy.GetModule(m)
		if err != nil || !strings.Contains(m, "restwarden") && !strings.Contains(m, "rest_call") {
			continue
		}
		n.fields("module "+m, reflect.TypeOf(info.New()))
	}
}

var (
	commandLine = regexp.MustCompile(`(?m)^  (\w+)  +[A-Z]`)
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

// metrics adds those in an answer of Caddy's endpoint, with their labels.
func (n nameSet) metrics(text string) {
	for line := range strings.Lines(text) {
		switch name, labels, _ := strings.Cut(strings.TrimSpace(line), "{"); {
		case strings.HasPrefix(line, "# TYPE caddy_restwarden_"):
			n["metric "+strings.TrimSpace(line[len("# TYPE "):])] = true
		case strings.HasPrefix(line, "caddy_restwarden_"):
			name, _, _ = strings.Cut(name, " ")
			for _, l := range labelName.FindAllStringSubmatch(labels, -1) {
				n["metric "+name+" "+l[1]] = true
			}
		}
	}
}

var labelName = regexp.MustCompile(`(\w+)="`)

// running adds what a running gateway says.
func (n nameSet) running(c *running) {
	c.t.Helper()
	for _, path := range []string{adminapi.SitesPath, adminapi.ConfirmationsPath} {
		_, body := c.says(adminapi.Path + path)
		n.text(c.t, "admin "+path, body)
	}
	_, body := c.says("/metrics")
	n.metrics(body)
}

// logged adds what a gateway has logged.
func (n nameSet) logged(c *running) {
	c.t.Helper()
	for _, l := range logged[object](c, "records.log") {
		if l["logger"] == "http.handlers.restwarden" || strings.HasPrefix(fmt.Sprint(l["logger"]), "http.handlers.restwarden.") {
			n.value("log", l)
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

const namesFile = "testdata/names.txt"

// hold holds the names against those of the file. Where some of the configurations did not
// run, only new names are a fault.
func (n nameSet) hold(t *testing.T, whole bool) {
	t.Helper()
	if *update {
		var b strings.Builder
		for _, name := range sorted(n) {
			b.WriteString(name + "\n")
		}
		if err := os.WriteFile(namesFile, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(namesFile)
	if err != nil {
		t.Fatal(err)
	}
	known := nameSet{}
	for name := range strings.Lines(string(text)) {
		known[strings.TrimSpace(name)] = true
	}
	for _, name := range sorted(n) {
		if !known[name] {
			t.Errorf("%s is new: go test -run TestDryRun_Agrees -update", name)
		}
	}
	for _, name := range sorted(known) {
		if whole && !n[name] && !ofTheLast.MatchString(name) {
			t.Errorf("%s is gone, which others rely on", name)
		}
	}
}

// ofTheLast matches what depends on which of the questions that are asked at once is the last: it had no usable answer, or had one.
var ofTheLast = regexp.MustCompile(`\.questions\.\w+\.error string$`)

func sorted(n nameSet) []string {
	all := make([]string, 0, len(n))
	for name := range n {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
