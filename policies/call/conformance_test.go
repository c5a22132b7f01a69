package call_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

var update = flag.Bool("update", false, "write the tables of docs/reading.md and testdata/readings.md")

// verdicts in the order of the table.
const (
	exact       = iota
	refused     // by the reader; nothing is forwarded
	overCareful // judged a call, the platform ran nothing
	harmless    // read differently, but the platform knew no such route
	wrong
	verdicts
)

func judge(c *call.Call, o recordings.Outcome) (int, string) {
	switch {
	case c.Kind == call.Refused:
		return refused, c.Refusal.Reason
	case o.Route == nil && c.Kind == call.Page:
		return exact, ""
	case o.Route == nil:
		return overCareful, ""
	case c.Kind == call.Page && o.Match == "":
		return harmless, ""
	case c.Kind == call.Page:
		return wrong, "taken for a page, ran " + *o.Route
	}
	if phpvars.Lower(c.Route) != phpvars.Lower(strings.TrimRight(*o.Route, "/")) && c.Route != *o.Route || c.Method != o.Method {
		if o.Match == "" {
			return harmless, ""
		}
		return wrong, fmt.Sprintf("read %s %s, ran %s %s", c.Method, c.Route, o.Method, *o.Route)
	}
	if o.Object != nil {
		if v, why := judgeObject(c, o.Object); v != exact {
			return v, why
		}
	}
	if o.Match == "/batch/v1" && o.Method == http.MethodPost {
		return judgeParts(c, o)
	}
	return exact, ""
}

func judgeObject(c *call.Call, object json.RawMessage) (int, string) {
	id, ok, err := call.OrderOf(c)
	switch want := strings.Trim(string(object), `"`); {
	case err != nil:
		return refused, err.Error()
	case !ok || id != want:
		return wrong, fmt.Sprintf("object %q, ran %s", id, want)
	}
	return exact, ""
}

func judgeParts(c *call.Call, o recordings.Outcome) (int, string) {
	if c.Kind != call.Batch {
		return wrong, "batch read as " + c.Kind.String()
	}
	if len(o.Parts) == 0 {
		if len(c.Parts) > 0 {
			return overCareful, ""
		}
		return exact, ""
	}
	if len(c.Parts) != len(o.Parts) {
		return wrong, fmt.Sprintf("%d parts, ran %d", len(c.Parts), len(o.Parts))
	}
	for i, p := range c.Parts {
		ran := o.Parts[i]
		if phpvars.Lower(p.Route) != phpvars.Lower(ran.Route) || p.Method != ran.Method {
			return wrong, fmt.Sprintf("part %s %s, ran %s %s", p.Method, p.Route, ran.Method, ran.Route)
		}
		if ran.Object != nil {
			if v, why := judgeObject(p, ran.Object); v != exact {
				return v, why
			}
		}
	}
	return exact, ""
}

func TestConformance(t *testing.T) {
	counts := map[string]*[verdicts]int{}
	total := [verdicts]int{}
	readers := map[string]*call.Reader{}
	for _, r := range recordings.All(t) {
		rd := readers[r.Site]
		if rd == nil {
			rd = call.ReaderFor(r.Site)
			readers[r.Site] = rd
		}
		family := r.Family()
		if counts[family] == nil {
			counts[family] = new([verdicts]int)
		}
		c := rawrequest.Read(rd, r.Raw)
		for _, o := range r.Outcomes {
			v, why := judge(c, o)
			counts[family][v] += len(o.By)
			total[v] += len(o.By)
			if v == wrong || v == refused && r.Honest() && o.Route != nil {
				t.Errorf("%s@%s %v: %s\n%.400q", r.ID, r.Site, o.By, why, r.Raw)
			}
		}
		c.Close()
	}
	sum := 0
	for _, n := range total {
		sum += n
	}
	t.Attr("checks", strconv.Itoa(sum))
	if total[exact]*100 < sum*52 {
		t.Errorf("only %d of %d are exact", total[exact], sum)
	}
	compareTable(t, "testdata/readings.md", table(counts, total))
	compareTable(t, "../../docs/reading.md", table(nil, total))
}

// table has a row for each family, and one for all of them.
func table(counts map[string]*[verdicts]int, total [verdicts]int) string {
	var b strings.Builder
	b.WriteString("| family | exact | refused | over-careful | harmless | unsafe |\n|---|--:|--:|--:|--:|--:|\n")
	row := func(name string, n [verdicts]int) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", name, n[exact], n[refused], n[overCareful], n[harmless], n[wrong])
	}
	for _, family := range slices.SortedFunc(maps.Keys(counts), cmp.Compare[string]) {
		row("`"+family+"`", *counts[family])
	}
	row("**all**", total)
	return b.String()
}

// compareTable holds the table at the end of a page. With -update it writes it.
func compareTable(t *testing.T, page, table string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), "| family |")
	if !ok {
		t.Fatalf("%s has no table", page)
	}
	switch want := head + table; {
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	case string(text) != want:
		t.Errorf("the table of %s is not what the recordings say (run with -update):\n%s", page, table)
	}
}
