package monitoring

import (
	"slices"
	"strings"
	"testing"
)

// builtIn are the variables that Grafana itself fills in.
var builtIn = []string{"$__rate_interval", "$__range", "$__all"}

// TestDashboard_Variables: every variable that is used exists, and each that exists is used.
// Everything asks the data source that the variable names.
func TestDashboard_Variables(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	text := read(t, dashboardFile)
	for _, v := range d.Templating.List {
		used := "$" + v.Name
		if v.Type == "datasource" {
			used = "${" + v.Name + "}"
		} else if v.AllValue != ".*" {
			t.Errorf("%s: all is %q, which leaves out series without the label", v.Name, v.AllValue)
		}
		if !strings.Contains(text, used) {
			t.Errorf("nothing uses %s", used)
		}
		if v.Type != "datasource" && v.Datasource != (source{"prometheus", "${datasource}"}) {
			t.Errorf("%s asks %v", v.Name, v.Datasource)
		}
	}
	for _, q := range d.questions() {
		if left := usedVariable.FindAllString(d.filled(q.expr, nil), -1); len(left) > 0 {
			t.Errorf("%s: nothing fills %q", q.where, left)
		}
	}
	for _, name := range usedVariable.FindAllString(text, -1) {
		if !slices.Contains(builtIn, name) && !slices.ContainsFunc(d.Templating.List, func(v variable) bool { return "$"+v.Name == name }) {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestDashboard_Panels: every panel says what it shows, in a unit and with a legend, and
// none covers another or reaches beyond the width of 24.
func TestDashboard_Panels(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	ids, titles := map[int]bool{}, map[string]bool{}
	taken := map[[2]int]string{}
	for i := range d.Panels {
		p := &d.Panels[i]
		if p.ID == 0 || ids[p.ID] || p.Title == "" || titles[p.Title] {
			t.Errorf("id %d or title %q stand twice, or are missing", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = true, true
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s stands at %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s covers %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" {
			p.explained(t)
		}
	}
	if len(d.Panels) < 20 || d.SchemaVersion < 39 || d.Title == "" || d.UID == "" {
		t.Errorf("%d panels, schema %d, %q %q", len(d.Panels), d.SchemaVersion, d.Title, d.UID)
	}
}

func (p *panel) explained(t *testing.T) {
	t.Helper()
	if len(p.Description) < 30 || len(p.Targets) == 0 {
		t.Errorf("%s: %d expressions, described by %q", p.Title, len(p.Targets), p.Description)
	}
	if p.FieldConfig.Defaults.Unit == "" && p.Type != "heatmap" { // its unit belongs to its axis
		t.Errorf("%s has no unit", p.Title)
	}
	refs := map[string]bool{}
	for _, target := range p.Targets {
		if refs[target.RefID] || target.RefID == "" {
			t.Errorf("%s: %q stands twice", p.Title, target.RefID)
		}
		refs[target.RefID] = true
		if p.Datasource != target.Datasource || p.Datasource != (source{"prometheus", "${datasource}"}) {
			t.Errorf("%s asks %v and %v", p.Title, p.Datasource, target.Datasource)
		}
		if target.LegendFormat == "" && p.Type != "table" {
			t.Errorf("%s %s has no legend", p.Title, target.RefID)
		}
		for _, m := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
			if left := grouped(target.Expr); len(left) > 0 && !slices.Contains(left, m[1]) {
				t.Errorf("%s: the legend has the label %s, of %q", p.Title, m[1], left)
			}
		}
		if want := map[string]string{"table": "table", "heatmap": "heatmap"}[p.Type]; want != "" && target.Format != want {
			t.Errorf("%s is a %s, with data for a %s", p.Title, p.Type, target.Format)
		}
	}
}
