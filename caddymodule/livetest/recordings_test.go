package livetest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// recording is one recorded request and what the real platform made of it, on
// several releases and front-ends.
type recording struct {
	ID       string    `json:"id"` // family/hash
	Site     string    `json:"site"`
	Raw      []byte    `json:"request"`
	Outcomes []outcome `json:"outcomes"`
}

type outcome struct {
	By     []string        `json:"by"`
	Route  *string         `json:"route"`
	Bytes  []byte          `json:"route_b64"` // of routes that are not UTF-8
	Method string          `json:"method"`
	Match  string          `json:"match"` // the route's pattern, "" where there is none
	Object json.RawMessage `json:"object"`
	Parts  []struct {
		Route  string          `json:"route"`
		Method string          `json:"method"`
		Object json.RawMessage `json:"object"`
	} `json:"parts"`
}

// recordings returns every recorded request once for each kind of site, with
// all its outcomes there.
func recordings(tb testing.TB) []*recording {
	tb.Helper()
	f, err := os.Open("../../policies/call/testdata/recorded.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var all []*recording
	known := map[string]*recording{}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		r := new(recording)
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			tb.Fatal(err)
		}
		for i, o := range r.Outcomes {
			if o.Bytes != nil {
				r.Outcomes[i].Route = new(string(o.Bytes))
			}
		}
		key := r.base() + "\x00" + string(r.Raw)
		if same := known[key]; same != nil {
			same.Outcomes = append(same.Outcomes, r.Outcomes...)
			continue
		}
		known[key] = r
		all = append(all, r)
	}
	if err := lines.Err(); err != nil || len(all) < 8000 {
		tb.Fatalf("%d recordings, %v", len(all), err)
	}
	return all
}

func (r *recording) base() string {
	if r.Site == "subfolder" {
		return "/blog"
	}
	return ""
}

// agrees tells how what was judged, and let pass, differs from what the
// platform ran; "" where it does not.
func (o *outcome) agrees(j *judged) string {
	switch {
	case o.Route == nil, o.Match == "": // nothing ran, or no route exists
		return ""
	case j.kind == "page":
		return "taken for a page, ran " + o.Method + " " + *o.Route
	case !sameRoute(j.call.Route, *o.Route) || j.call.Method != o.Method:
		return fmt.Sprintf("judged %s %s, ran %s %s", j.call.Method, j.call.Route, o.Method, *o.Route)
	case o.Object != nil && !j.objects[0].is(o.Object):
		return fmt.Sprintf("judged object %v, ran %s", j.objects[0], o.Object)
	case o.Match != "/batch/v1" || o.Method != "POST" || len(o.Parts) == 0:
		return ""
	case len(j.call.Parts) != len(o.Parts):
		return fmt.Sprintf("judged %d parts, ran %d", len(j.call.Parts), len(o.Parts))
	}
	for i, p := range j.call.Parts {
		ran := o.Parts[i]
		if !sameRoute(p.Route, ran.Route) || p.Method != ran.Method || ran.Object != nil && !j.objects[i].is(ran.Object) {
			return fmt.Sprintf("judged part %s %s, ran %s %s", p.Method, p.Route, ran.Method, ran.Route)
		}
	}
	return ""
}

func sameRoute(a, b string) bool {
	fold := func(s string) string { return strings.ToLower(strings.TrimRight(s, "/")) }
	return fold(a) == fold(b)
}

// object is the effective id of an order or subscription; err where the gateway
// can only refuse when it needs to know.
type object struct {
	id  string
	err error
}

func (o object) is(recorded json.RawMessage) bool {
	return o.err != nil || o.id == strings.Trim(string(recorded), `"`)
}

var orderParts = []call.Pattern{
	call.MustPattern("/wc/v1/orders/:order_id/**"), call.MustPattern("/wc/v2/orders/:order_id/**"), call.MustPattern("/wc/v3/orders/:order_id/**"),
}

// orderOf returns the order or subscription that a call is about.
func orderOf(c *call.Call) object {
	if id, ok, err := c.ObjectID(); ok || err != nil {
		return object{id, err}
	}
	for _, p := range orderParts {
		group := ""
		if p.Match(c.Key) {
			group = p.Group(c.Key, "order_id")
		}
		if _, err := strconv.ParseUint(group, 10, 64); err == nil {
			id, err := c.ID("order_id", group)
			return object{strconv.FormatUint(id, 10), err}
		}
	}
	return object{}
}

var (
	trailingSlashes = regexp.MustCompile(`^GET [A-Za-z0-9/-]+ HTTP/1.1$`)
	queryOverride   = regexp.MustCompile(`[?&]_method=(?i:get|post|put|patch|delete|head|options)[& ]`)
	headerOverride  = regexp.MustCompile(`\n(?i:X-HTTP-Method-Override): (?i:get|post|put|patch|delete|head|options)\r\n`)
)

// honest tells whether an ordinary client may send the request.
func (r *recording) honest() bool {
	family, _, _ := strings.Cut(r.ID, "/")
	head, _, _ := bytes.Cut(r.Raw, []byte("\r\n"))
	line, raw := string(head), string(r.Raw)
	switch method, rest, _ := strings.Cut(line, " "); family {
	case "pretty.plain", "query.route", "wrapper":
		return true
	case "method.plain":
		return method == strings.ToUpper(method) && method != "CONNECT"
	case "method.query", "method.header":
		return strings.Count(strings.ToLower(phpvars.Decode(raw)), "method") == 1 && raw[0] >= 'A' && raw[0] <= 'Z' && strings.Count(raw, "\nConnection") == 1 &&
			!strings.Contains(raw, "\n ") && (queryOverride.MatchString(raw) || headerOverride.MatchString(raw))
	case "pretty.suffix":
		return trailingSlashes.MatchString(line)
	case "query.path":
		target, _, _ := strings.Cut(strings.TrimPrefix(rest, "/blog"), "?")
		return target == "/" || target == "/index.php"
	}
	return false
}
