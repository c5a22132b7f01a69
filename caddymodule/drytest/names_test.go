package drytest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
)

var update = flag.Bool("update", false, "write the names that others rely on into testdata/names.txt")

// nameSet is a set of names that others rely on: configurations in JSON, readers of logs,
// alerts, scripts.
type nameSet map[string]bool

// variable is a key that is no name, and questions are what has such keys.
var (
	variable  = regexp.MustCompile(`[/ .:]|^\d+$`)
	questions = regexp.MustCompile(`sites\[\]\.questions$`)
)

// value adds the names in a JSON value, with the kinds of its values.
func (n nameSet) value(at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			if variable.MatchString(key) || questions.MatchString(at) {
				key = "*"
			}
			n.value(at+"."+key, child)
		}
	case []any:
		for _, child := range v {
			n.value(at+"[]", child)
		}
	case string:
		n[at+" string"] = true
	case float64:
		n[at+" number"] = true
	case bool:
		n[at+" bool"] = true
	}
}

// text adds the names in a text of JSON: one value, or several one after the other.
func (n nameSet) text(t *testing.T, at, text string) {
	t.Helper()
	for in := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		switch err := in.Decode(&v); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatalf("%s: %v\n%.500s", at, err, text)
		}
		n.value(at, v)
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
	n.methods(c)
}

// methods adds the methods that the paths of the admin endpoint take.
func (n nameSet) methods(c *running) {
	c.t.Helper()
	_, body := c.says(adminapi.Path + adminapi.SitesPath)
	name, _ := client.At(body, "sites", "0", "site").(string)
	for _, path := range []string{
		adminapi.SitesPath, adminapi.RefusalsPath, adminapi.ModePath, adminapi.OpenPath, adminapi.ClosePath,
		adminapi.LockdownPath, adminapi.EventsPath, adminapi.ConfirmationsPath, adminapi.ConfirmationPath,
	} {
		req, err := client.Request(c.t.Context(), "http://"+c.admin, "PATCH "+adminapi.Path+adminapi.Named(path, name), "")
		if err != nil {
			c.t.Fatal(err)
		}
		got, err := client.Do(client.New(), req)
		if err != nil || got.Status != http.StatusMethodNotAllowed {
			c.t.Fatalf("%s: %v, %v", path, got, err)
		}
		n["admin "+got.Header.Get("Allow")+" "+path] = true
	}
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

const namesFile = "testdata/names.txt"

// hold holds the names against those of the file. Where n is not the whole of them, only new names are
// a fault. -update adds names, and takes none out.
func (n nameSet) hold(t *testing.T, whole bool) {
	t.Helper()
	text, err := os.ReadFile(namesFile)
	if err != nil {
		t.Fatal(err)
	}
	known := nameSet{}
	for name := range strings.Lines(string(text)) {
		known[strings.TrimSpace(name)] = true
	}
	if *update {
		maps.Copy(known, n)
		if err := os.WriteFile(namesFile, []byte(strings.Join(sorted(known), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range sorted(n) {
		if !known[name] {
			t.Errorf("%s is new. docs/project/versioning.md: an addition is a minor release, with a line in CHANGELOG.md. -update writes it", name)
		}
	}
	for _, name := range sorted(known) {
		if whole && !n[name] {
			t.Errorf("%s is gone. docs/project/versioning.md: it stays until it was deprecated for as long as that page says, and then a person takes it out of %s", name, namesFile)
		}
	}
}

func sorted(n nameSet) []string {
	all := make([]string, 0, len(n))
	for name := range n {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// all adds the names that no configuration needs to run for.
func (n nameSet) all(t *testing.T) {
	t.Helper()
	n.modules()
	n.types()
	n.caddyfile()
	n.forms(t)
	n.commands(t, caddyrun.Binary(t))
	n.exits(t, caddyrun.Binary(t))
}

// TestNames: what the tree declares is in the list. TestDryRun_Agrees adds what shows in a running Caddy, and
// finds what is gone.
func TestNames(t *testing.T) {
	n := nameSet{}
	n.all(t)
	n.hold(t, false)
}
