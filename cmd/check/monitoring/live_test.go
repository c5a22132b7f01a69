package monitoring

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// lonely are panels that one gateway of two may leave empty, and why.
var lonely = map[string]string{
	"Routes that came or went A": "of two gateways with one Redis the one that finds a change counts it",
}

// TestLive: behind gateways with calls of every kind, every expression of the dashboard and
// of the alerts is one that Prometheus understands, about metrics, labels and values that
// there are; every panel shows something, whether metrics are per host or not.
func TestLive(t *testing.T) {
	t.Parallel()
	f := startFleet(t)
	addresses := []string{strings.TrimPrefix(f.gateways[0].Admin(), "http://"), f.gateways[1].Address}
	p := startPrometheus(t, addresses)
	f.flood()
	f.round()
	f.read() // before anything fails, so that the reading does not
	f.during(&f.silent)
	f.during(&f.broken)
	p.scraped(`count(up == 1) == 2 and count(caddy_restwarden_decision_duration_seconds_count > 10) == 2`)
	f.grow()
	p.scraped(`sum(caddy_restwarden_route_changes_total) > 0`)
	f.round()
	f.lock()
	p.scraped(`sum(caddy_restwarden_lockdown) == 2`)
	f.round() // a series that came with the first call of its kind grows only now
	f.upload()
	p.scraped(`count(caddy_restwarden_spooled_bytes > 0) == 2`)
	f.redis.Kill()
	f.flooded()
	p.scraped(`count(sum by (instance) (caddy_restwarden_store_operations_total{result!="ok"}) > 0) == 2`)

	d := readDashboard(t)
	t.Run("panels", func(t *testing.T) {
		for _, instance := range []string{".*", addresses[0], addresses[1]} {
			for _, q := range d.questions() {
				if instance != ".*" && lonely[q.where] != "" {
					continue
				}
				p.shows(t, q.where, d.filled(q.expr, map[string]string{"instance": instance}))
			}
		}
	})
	t.Run("names", func(t *testing.T) {
		questions := d.questions()
		for _, v := range d.Templating.List {
			if m := variableQuery.FindStringSubmatch(v.Definition); m != nil {
				questions = append(questions, question{"variable " + v.Name, "count by (" + m[2] + ") (" + m[1] + ")"})
			} else if v.Type != "datasource" {
				t.Errorf("the variable %s is %q", v.Name, v.Definition)
			}
		}
		for i := range questions {
			questions[i].expr = d.filled(questions[i].expr, nil)
		}
		for _, a := range alerts(t) {
			questions = append(questions, question{a.Alert, a.Expr})
		}
		p.named(t, questions)
		for _, test := range ruleTests(t) {
			for _, s := range test.Series {
				p.labeled(t, question{test.Name, s.Series})
			}
		}
	})
	t.Run("rules", func(t *testing.T) {
		wait.For(t, patience, "all rules are evaluated", func() bool {
			broken, good := p.brokenRules()
			return len(broken) == 0 && good == len(alerts(t))
		})
	})
	t.Run("promtool", func(t *testing.T) { lint(t, f.gateways[1].Admin()) })
}

// scraped waits until an expression has a series.
func (p *prometheus) scraped(expression string) {
	p.tb.Helper()
	wait.For(p.tb, patience, expression, func() bool {
		found, err := p.query(expression)
		if err != nil {
			p.tb.Fatal(err)
		}
		return len(found) > 0
	})
}

// shows requires that an expression has a value that can be drawn.
func (p *prometheus) shows(t *testing.T, where, expression string) {
	t.Helper()
	found, err := p.query(expression)
	if err != nil {
		t.Errorf("%s: %v\n%s", where, err, expression)
		return
	}
	if !slices.ContainsFunc(found, func(s sample) bool { return s.value() != "NaN" }) {
		t.Errorf("%s: no data, %d series\n%s", where, len(found), expression)
	}
}

// named requires that everything which expressions name exists: metrics, labels and values.
// Both files together use all metrics that there are, and docs/operations.md explains them.
func (p *prometheus) named(t *testing.T, questions []question) {
	t.Helper()
	used := map[string]bool{}
	for _, q := range questions {
		p.labeled(t, q)
		for _, s := range selectors(q.expr) {
			used[metricOf(s.metric)] = true
			for _, one := range s.narrowed() {
				p.shows(t, q.where, "last_over_time("+one+"[10m])")
			}
		}
	}
	all, err := p.metrics()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 12 {
		t.Errorf("only %q", all)
	}
	for _, name := range all {
		if !used[name] {
			t.Errorf("neither the dashboard nor an alert uses %s", name)
		}
		if !strings.Contains(read(t, "docs/operations.md"), "| `"+name+"` |") {
			t.Errorf("docs/operations.md does not explain %s", name)
		}
	}
}

// labeled requires that the metrics of an expression have the labels by which it matches and
// groups.
func (p *prometheus) labeled(t *testing.T, q question) {
	t.Helper()
	known := map[string]bool{}
	for _, s := range selectors(q.expr) {
		labels, err := p.labels(s.metric)
		if err != nil {
			t.Fatal(err)
		}
		if len(labels) == 0 {
			t.Errorf("%s: there is no %s", q.where, s.metric)
		}
		maps.Copy(known, labels)
	}
	for _, label := range labelsOf(q.expr) {
		if !known[label] {
			t.Errorf("%s: no metric there has the label %s", q.where, label)
		}
	}
}

// lint asks Prometheus's own tool about the gateway's metrics.
func lint(t *testing.T, admin string) {
	t.Helper()
	text, err := get(t.Context(), admin+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	var ours strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "caddy_restwarden_") {
			ours.WriteString(line)
		}
	}
	path, err := machine.LookPath("promtool")
	if err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), path, "check", "metrics")
	check.Stdin = strings.NewReader(ours.String())
	if out, err := check.CombinedOutput(); err != nil || ours.Len() == 0 {
		t.Errorf("%v %s", err, out)
	}
}
