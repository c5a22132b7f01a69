package call

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

var update = flag.Bool("update", false, "write the table of docs/reading.md")

// recording is one recorded request, with what each front-end and release of
// the platform made of it.
type recording struct {
	ID       string    `json:"id"` // family/hash
	Site     string    `json:"site"`
	Request  []byte    `json:"-"`
	Outcomes []outcome `json:"outcomes"`
}

type outcome struct {
	By     []string        `json:"by"` // front-ends
	Route  *string         `json:"route"`
	Raw    string          `json:"route_b64"` // of routes that are not UTF-8
	Method string          `json:"method"`
	Match  string          `json:"match"` // first pattern that fits; "" where no route exists
	Ran    bool            `json:"ran"`   // a handler ran
	Object json.RawMessage `json:"object"`
	Parts  []struct {
		Route  string          `json:"route"`
		Method string          `json:"method"`
		Match  string          `json:"match"`
		Object json.RawMessage `json:"object"`
	} `json:"parts"`
}

func recordings(tb testing.TB) []recording {
	tb.Helper()
	f, err := os.Open("testdata/recorded.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var all []recording
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var line struct {
			recording
			Request string `json:"request"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			tb.Fatal(err)
		}
		r := line.recording
		if r.Request, err = base64.StdEncoding.DecodeString(line.Request); err != nil {
			tb.Fatal(err)
		}
		for i, o := range r.Outcomes {
			if b, err := base64.StdEncoding.DecodeString(o.Raw); err == nil && o.Raw != "" {
				route := string(b)
				r.Outcomes[i].Route = &route
			}
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil || len(all) < 10_000 {
		tb.Fatalf("%d recordings, %v", len(all), err)
	}
	return all
}

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

func judge(c *Call, o outcome) (int, string) {
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
	if o.Match == "/batch/v1" && o.Method == "POST" {
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

func judgeParts(c *Call, o outcome) (int, string) {
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

// honest tells whether an ordinary client may send a recorded request.
func honest(r recording) bool {
	family, _, _ := strings.Cut(r.ID, "/")
	line, _, _ := bytes.Cut(r.Request, []byte("\r\n"))
	switch method, rest, _ := strings.Cut(string(line), " "); family {
	case "pretty.plain", "query.route", "wrapper":
		return true
	case "method.plain":
		return method == strings.ToUpper(method) && method != "CONNECT"
	case "method.query", "method.header":
		return plainOverride(string(r.Request))
	case "pretty.suffix":
		return trailingSlashes.MatchString(string(line))
	case "query.path":
		target, _, _ := strings.Cut(strings.TrimPrefix(rest, "/blog"), "?")
		return target == "/" || target == "/index.php"
	}
	return false
}

var (
	trailingSlashes = regexp.MustCompile(`^GET [A-Za-z0-9/-]+ HTTP/1.1$`)
	queryOverride   = regexp.MustCompile(`[?&]_method=(?i:get|post|put|patch|delete|head|options)[& ]`)
	headerOverride  = regexp.MustCompile(`\n(?i:X-HTTP-Method-Override): (?i:get|post|put|patch|delete|head|options)\r\n`)
)

// plainOverride tells whether a request overrides its method once, in a plain
// spelling.
func plainOverride(raw string) bool {
	override := strings.Count(strings.ToLower(phpvars.Decode(raw)), "method")
	return override == 1 && raw[0] >= 'A' && raw[0] <= 'Z' && strings.Count(raw, "\nConnection") == 1 &&
		!strings.Contains(raw, "\n ") && (queryOverride.MatchString(raw) || headerOverride.MatchString(raw))
}

func TestConformance(t *testing.T) {
	counts := map[string]*[verdicts]int{}
	total := [verdicts]int{}
	readers := map[string]*Reader{}
	for _, r := range recordings(t) {
		rd := readers[r.Site]
		if rd == nil {
			rd = readerFor(r.Site)
			readers[r.Site] = rd
		}
		family, _, _ := strings.Cut(r.ID, "/")
		if counts[family] == nil {
			counts[family] = new([verdicts]int)
		}
		c := rd.ReadRaw(r.Request)
		for _, o := range r.Outcomes {
			v, why := judge(c, o)
			counts[family][v] += len(o.By)
			total[v] += len(o.By)
			if v == wrong || v == refused && honest(r) && o.Route != nil {
				t.Errorf("%s@%s %v: %s\n%.400q", r.ID, r.Site, o.By, why, r.Request)
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
