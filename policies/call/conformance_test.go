package call

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

	"github.com/restwarden/restwarden/internal/testkit/recordings"
)

var update = flag.Bool("update", false, "write the table of docs/reading.md")

func readerFor(site string) *Reader {
	p, _ := PlatformByName("wordpress")
	s := Site{Platform: p}
	if site == "subfolder" {
		s.Base = "/blog"
	}
	s.Scripts = true // they were there
	return NewReader(s)
}

// verdicts in the order of the table.
const (
	exact       = iota
	refused     // by the reader; nothing is forwarded
	overCareful // judged a call, the platform ran nothing
	harmless    // read differently, but the platform knew no such route
	wrong
	verdicts
)

func judge(c *Call, o recordings.Outcome) (int, string) {
	switch {
	case c.Kind == Refused:
		return refused, c.Refusal.Reason
	case o.Route == nil && c.Kind == Page:
		return exact, ""
	case o.Route == nil:
		return overCareful, ""
	case c.Kind == Page && o.Match == "":
		return harmless, ""
	case c.Kind == Page:
		return wrong, "taken for a page, ran " + *o.Route
	}
	if lower(c.Route) != lower(strings.TrimRight(*o.Route, "/")) && c.Route != *o.Route || c.Method != o.Method {
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

func judgeObject(c *Call, object json.RawMessage) (int, string) {
	id, ok, err := orderOf(c)
	switch want := strings.Trim(string(object), `"`); {
	case err != nil:
		return refused, err.Error()
	case !ok || id != want:
		return wrong, fmt.Sprintf("object %q, ran %s", id, want)
	}
	return exact, ""
}

var orderParts = []Pattern{
	MustPattern("/wc/v1/orders/:order_id/**"), MustPattern("/wc/v2/orders/:order_id/**"), MustPattern("/wc/v3/orders/:order_id/**"),
}

// orderOf returns the effective id of a call on an order or subscription, and on
// an order's sub-routes the effective id of the order.
func orderOf(c *Call) (string, bool, error) {
	if id, ok, err := c.ObjectID(); ok || err != nil {
		return id, ok, err
	}
	for _, p := range orderParts {
		if p.Match(c.Key) && digits(p.Group(c.Key, "order_id")) {
			id, err := c.ID("order_id", p.Group(c.Key, "order_id"))
			return strconv.FormatUint(id, 10), true, err
		}
	}
	return "", false, nil
}

func judgeParts(c *Call, o recordings.Outcome) (int, string) {
	if c.Kind != Batch {
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
		if lower(p.Route) != lower(ran.Route) || p.Method != ran.Method {
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
	readers := map[string]*Reader{}
	for _, r := range recordings.All(t) {
		rd := readers[r.Site]
		if rd == nil {
			rd = readerFor(r.Site)
			readers[r.Site] = rd
		}
		family := r.Family()
		if counts[family] == nil {
			counts[family] = new([verdicts]int)
		}
		c := rd.ReadRaw(r.Raw)
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
	if total[exact]*100 < sum*55 {
		t.Errorf("only %d of %d are exact", total[exact], sum)
	}
	compareTable(t, table(counts, total))
}

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

const docs = "../../docs/reading.md"

func compareTable(t *testing.T, table string) {
	t.Helper()
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), "| family |")
	if !ok {
		t.Fatal("docs/reading.md has no table")
	}
	switch want := head + table; {
	case *update:
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case string(text) != want:
		t.Errorf("the table of docs/reading.md is not what the recordings say (run with -update):\n%s", table)
	}
}
