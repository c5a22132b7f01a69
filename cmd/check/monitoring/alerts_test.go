package monitoring

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// promtool runs Prometheus's own tool in this directory.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := machine.Run(t.Context(), ".", nil, "promtool", args...); err != nil {
		t.Errorf("%v; `go run ./cmd/check` installs it, or: apt-get install prometheus\n%s", err, out)
	}
}

// ruleFiles are the files of tests that promtool runs.
func ruleFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*_test.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

// TestAlerts_Promtool: Prometheus takes the rules, and each fires when it should.
func TestAlerts_Promtool(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(root(t), alertsFile))
	promtool(t, append([]string{"test", "rules"}, ruleFiles(t)...)...)
}

// ruleTest is one test for promtool.
type ruleTest struct {
	Name   string
	Series []struct{ Series string } `yaml:"input_series"`
	Expect []struct {
		Expr    string
		Samples []struct{ Labels string } `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

// ruleTests are all tests for promtool.
func ruleTests(t *testing.T) (all []ruleTest) {
	t.Helper()
	for _, path := range ruleFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Tests []ruleTest }
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		all = append(all, file.Tests...)
	}
	return all
}

var (
	firing  = regexp.MustCompile(`^ALERTS\{alertname="(\w+)",alertstate="firing"\}$`)
	usedBy  = regexp.MustCompile(`\$labels\.(\w+)`)
	mention = regexp.MustCompile(`RestWarden[A-Z]\w+`)
)

// TestAlerts_BothWays: each alert has a test in which it fires, and not a step before, and one
// in which it just does not. Where it fires it has the labels that its message speaks of.
func TestAlerts_BothWays(t *testing.T) {
	t.Parallel()
	fires, quiet := map[string]bool{}, map[string]bool{}
	all := alerts(t)
	for _, test := range ruleTests(t) {
		name := strings.Fields(test.Name)[0]
		if len(test.Expect) == 0 || len(test.Series) == 0 {
			t.Fatalf("%s expects %d things of %d series", test.Name, len(test.Expect), len(test.Series))
		}
		for _, e := range test.Expect {
			if m := firing.FindStringSubmatch(e.Expr); m == nil || m[1] != name {
				t.Errorf("%s asks for %s", test.Name, e.Expr)
			}
		}
		samples := test.Expect[len(test.Expect)-1].Samples
		if before := test.Expect[0].Samples; len(samples) > 0 && (len(test.Expect) != 2 || len(before) > 0) {
			t.Errorf("%s: nothing says that it does not fire before", test.Name)
		}
		fires[name] = fires[name] || len(samples) > 0
		quiet[name] = quiet[name] || len(samples) == 0
		if len(samples) == 0 {
			continue
		}
		message := all[name].Annotations["summary"] + all[name].Annotations["description"]
		for _, label := range usedBy.FindAllStringSubmatch(message, -1) {
			if perHost := label[1] == "host"; !perHost && !strings.Contains(samples[0].Labels, ","+label[1]+"=") {
				t.Errorf("%s speaks of the label %s, which is not in %s", name, label[1], samples[0].Labels)
			}
		}
	}
	if want := slices.Sorted(maps.Keys(all)); !slices.Equal(slices.Sorted(maps.Keys(fires)), want) {
		t.Errorf("tests of %q, alerts %q", slices.Sorted(maps.Keys(fires)), want)
	}
	for name := range all {
		if !fires[name] || !quiet[name] {
			t.Errorf("%s: tested firing %t, and not firing %t", name, fires[name], quiet[name])
		}
	}
}

var (
	severities = []string{"critical", "warning", "info"}
	alertRow   = regexp.MustCompile("(?m)^\\| `(RestWarden\\w+)` \\| (\\w+) \\|")
	headings   = regexp.MustCompile(`(?m)^##+ (.*)$`)
	dropped    = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// TestAlerts_Explained: each alert says what it means, and leads to a heading of the docs.
// The table of docs/operations.md has each with its severity, and no other.
func TestAlerts_Explained(t *testing.T) {
	t.Parallel()
	all, rows := alerts(t), map[string]string{}
	for _, m := range alertRow.FindAllStringSubmatch(read(t, "docs/operations.md"), -1) {
		rows[m[1]] = m[2]
	}
	for name, a := range all {
		if a.For == "" || a.For == "0s" || !slices.Contains(severities, a.Labels["severity"]) {
			t.Errorf("%s: for %q, severity %q", name, a.For, a.Labels["severity"])
		}
		if rows[name] != a.Labels["severity"] {
			t.Errorf("%s is %s, in the table of docs/operations.md %q", name, a.Labels["severity"], rows[name])
		}
		delete(rows, name)
		if len(a.Annotations["summary"]) < 20 || len(a.Annotations["description"]) < 60 || len(a.Annotations) != 3 {
			t.Errorf("%s: %q", name, a.Annotations)
		}
		page, anchor, _ := strings.Cut(a.Annotations["docs"], "#")
		if !strings.HasPrefix(page, "docs/") || anchor != "" && !slices.Contains(anchors(read(t, page)), anchor) {
			t.Errorf("%s leads to %s", name, a.Annotations["docs"])
		}
	}
	if len(rows) > 0 {
		t.Errorf("docs/operations.md has alerts that there are not: %v", rows)
	}
	for _, path := range []string{dashboardFile, alertsFile, "docs/operations.md", "docs/hosting.md"} {
		for _, name := range mention.FindAllString(read(t, path), -1) {
			if _, ok := all[name]; !ok {
				t.Errorf("%s speaks of %s", path, name)
			}
		}
	}
}

// anchors are the headings of a page as links name them.
func anchors(text string) (found []string) {
	for _, m := range headings.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return found
}
