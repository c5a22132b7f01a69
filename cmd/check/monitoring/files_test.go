package monitoring

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The files for operators.
const (
	alertsFile    = "docs/alerts.yml"
	dashboardFile = "docs/grafana.json"
)

// root is the directory of the repository.
func root(tb testing.TB) string {
	tb.Helper()
	path, err := filepath.Abs("../../..")
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// read returns the text of a file of the repository.
func read(tb testing.TB, path string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(root(tb), path))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// alert is one alert of docs/alerts.yml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// alerts are all of them, by name.
func alerts(tb testing.TB) map[string]alert {
	tb.Helper()
	var file struct {
		Groups []struct{ Rules []alert }
	}
	if err := yaml.Unmarshal([]byte(read(tb, alertsFile)), &file); err != nil {
		tb.Fatal(err)
	}
	all := map[string]alert{}
	for _, g := range file.Groups {
		for _, a := range g.Rules {
			if _, twice := all[a.Alert]; twice {
				tb.Errorf("%s stands twice", a.Alert)
			}
			all[a.Alert] = a
		}
	}
	return all
}

// dashboard is docs/grafana.json as far as tests look at it.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Panels        []panel
	Annotations   struct {
		List []struct{ Name, Expr string }
	}
	Templating struct{ List []variable }
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	Datasource               source
	FieldConfig              struct {
		Defaults struct{ Unit string }
	}
	Targets []struct {
		Datasource                 source
		Expr, LegendFormat, Format string
		RefID                      string `json:"refId"`
		Instant                    bool
	}
}

type source struct{ Type, UID string }

type variable struct {
	Name, Type, AllValue, Definition string
	Datasource                       source
}

func readDashboard(tb testing.TB) *dashboard {
	tb.Helper()
	d := new(dashboard)
	if err := json.Unmarshal([]byte(read(tb, dashboardFile)), d); err != nil {
		tb.Fatal(err)
	}
	return d
}

// question is an expression of one of the two files, and where it stands.
type question struct{ where, expr string }

// questions are the expressions of the dashboard: of panels, and of its annotations.
func (d *dashboard) questions() (all []question) {
	for i := range d.Panels {
		for _, t := range d.Panels[i].Targets {
			all = append(all, question{d.Panels[i].Title + " " + t.RefID, t.Expr})
		}
	}
	for _, a := range d.Annotations.List {
		if a.Expr != "" {
			all = append(all, question{"annotation " + a.Name, a.Expr})
		}
	}
	return all
}

// filled is an expression of the dashboard with values for its variables: all of everything
// but what is given, by the variable's name.
func (d *dashboard) filled(expr string, given map[string]string) string {
	values := map[string]string{"__rate_interval": "1m", "__range": "5m"}
	for _, v := range d.Templating.List {
		values[v.Name] = v.AllValue
	}
	maps.Copy(values, given)
	return usedVariable.ReplaceAllStringFunc(expr, func(name string) string {
		if value, ok := values[name[1:]]; ok {
			return value
		}
		return name
	})
}

var (
	usedVariable  = regexp.MustCompile(`\$\w+`)
	variableQuery = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
)

// selector is a metric in an expression, with its matchers in braces.
type selector struct{ metric, matchers string }

var (
	selecting = regexp.MustCompile(`\b(caddy_\w+|up|ALERTS)\b(?:\{([^}]*)\})?`)
	matching  = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
	grouping  = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right) ?\(([^)]*)\)`)
)

func selectors(expr string) (all []selector) {
	for _, m := range selecting.FindAllStringSubmatch(expr, -1) {
		all = append(all, selector{m[1], m[2]})
	}
	return all
}

// narrowed are selectors for each value that s names, so that each must have a series: of a
// regular expression every alternative, of a matcher that excludes what it excludes.
func (s selector) narrowed() (all []string) {
	all = []string{""}
	for _, m := range matching.FindAllStringSubmatch(s.matchers, -1) {
		operator := map[string]string{"=": "=", "!=": "=", "=~": "=~", "!~": "=~"}[m[2]]
		var longer []string
		for _, before := range all {
			for value := range strings.SplitSeq(m[3], "|") {
				longer = append(longer, before+m[1]+operator+`"`+value+`",`)
			}
		}
		all = longer
	}
	for i, matchers := range all {
		all[i] = s.metric + "{" + matchers + "}"
	}
	return all
}

// labelsOf are the labels that an expression groups or matches by.
func labelsOf(expr string) []string {
	found := map[string]bool{}
	for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			if name = strings.TrimSpace(name); name != "" {
				found[name] = true
			}
		}
	}
	for _, m := range matching.FindAllStringSubmatch(expr, -1) {
		found[m[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

var (
	legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)
	aggregated  = regexp.MustCompile(`\bby ?\(([^)]*)\)`)
)

// grouped are the labels that an aggregation leaves; none where there is no aggregation.
func grouped(expr string) (left []string) {
	for _, m := range aggregated.FindAllStringSubmatch(expr, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			left = append(left, strings.TrimSpace(name))
		}
	}
	return left
}
