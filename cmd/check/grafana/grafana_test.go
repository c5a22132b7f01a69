//go:build grafana

package grafana

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/npm"
)

//go:embed types/*.json types/*.mjs
var embedded embed.FS

var packages = npm.Packages{Files: embedded, Root: "types"}

func TestMain(m *testing.M) {
	code := m.Run()
	packages.Remove()
	os.Exit(code)
}

// dashboardFile is the dashboard for operators.
const dashboardFile = "../../../docs/grafana.json"

// faults are changes of the dashboard after which it is none, each with a word of what is
// wrong then.
var faults = map[string]struct{ old, new, wrong string }{
	"an unknown member":       {`"graphTooltip": 1`, `"graphTooltips": 1`, "graphTooltips"},
	"an unknown option":       {`"showHeader": true`, `"showsHeader": true`, "showsHeader"},
	"an unknown word":         {`"drawStyle": "line"`, `"drawStyle": "curve"`, "curve"},
	"a text for a truth":      {`"editable": true`, `"editable": "yes"`, "boolean"},
	"an unknown variable":     {`"type": "datasource"`, `"type": "source"`, "source"},
	"a missing member":        {`"frameIndex": 0,`, ``, "frameIndex"},
	"a color by no mode":      {`"mode": "palette-classic"`, `"mode": "rainbow"`, "rainbow"},
	"an option of a heatmap":  {`"scale": "exponential"`, `"scale": "steep"`, "steep"},
	"a panel without a place": {`"gridPos"`, `"gridPosition"`, "gridPosition"},
}

// TestDashboard: Grafana's own types find nothing wrong with the dashboard, and something
// with each that is damaged.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	dashboards := map[string]json.RawMessage{"": text}
	for name, f := range faults {
		damaged := strings.Replace(string(text), f.old, f.new, 1)
		if damaged == string(text) {
			t.Fatalf("%s: nothing to damage", name)
		}
		dashboards[name] = json.RawMessage(damaged)
	}
	wrong := check(t, dashboards)
	if len(wrong[""]) > 0 {
		t.Errorf("docs/grafana.json: %s", strings.Join(wrong[""], "\n"))
	}
	for name, f := range faults {
		if !slices.ContainsFunc(wrong[name], func(s string) bool { return strings.Contains(s, f.wrong) }) {
			t.Errorf("%s: found %q, nothing about %s", name, wrong[name], f.wrong)
		}
	}
}

// limit bounds the check of all dashboards.
const limit = 2 * time.Minute

// check returns what Grafana's types find wrong with each of dashboards.
func check(t *testing.T, dashboards map[string]json.RawMessage) (wrong map[string][]string) {
	t.Helper()
	dir := packages.Dir(t)
	given, err := json.Marshal(dashboards)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd, err := machine.Command(ctx, dir, "node", "check.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(given), &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &wrong)
	}
	if err != nil || len(wrong) != len(dashboards) {
		t.Fatalf("%v\n%s\n%s", err, out, &stderr)
	}
	return wrong
}
