// Package recordings gives tests the requests that were sent to real releases of the
// platform behind several front-ends, and how the platform read each.
package recordings

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed" // for the recordings
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

//go:embed recorded.jsonl.gz
var recorded []byte

// Recording is one request, and its outcome on one kind of site.
type Recording struct {
	ID       string    `json:"id"`   // family/hash
	Site     string    `json:"site"` // "root" or "subfolder"
	Raw      []byte    `json:"request"`
	Outcomes []Outcome `json:"outcomes"`
}

// Outcome is how some front-ends and releases read a request.
type Outcome struct {
	By     []string        `json:"by"`
	Route  *string         `json:"route"`     // nil where no route was looked for
	Bytes  []byte          `json:"route_b64"` // of routes that are not UTF-8; All puts them into Route
	Method string          `json:"method"`
	Match  string          `json:"match"`  // the route's pattern, "" where there is none
	Ran    bool            `json:"ran"`    // a handler ran
	Object json.RawMessage `json:"object"` // the id that the handler worked on
	Parts  []struct {      // of a batch
		Route  string          `json:"route"`
		Method string          `json:"method"`
		Match  string          `json:"match"`
		Object json.RawMessage `json:"object"`
	} `json:"parts"`
}

// atLeast is the least number of recordings: a test of fewer proves little.
const atLeast = 10_000

// All returns every recording. A request may be in several, with an outcome each.
func All(tb testing.TB) []*Recording {
	tb.Helper()
	all, err := Read()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// Read returns what All does, or why it cannot be read.
func Read() (all []*Recording, err error) {
	z, err := gzip.NewReader(bytes.NewReader(recorded))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		r := new(Recording)
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			return nil, err
		}
		for i, o := range r.Outcomes {
			if o.Bytes != nil {
				r.Outcomes[i].Route = new(string(o.Bytes))
			}
		}
		all = append(all, r)
	}
	if len(all) < atLeast {
		err = fmt.Errorf("%d recordings, want %d", len(all), atLeast)
	}
	return all, errors.Join(lines.Err(), err)
}

// Requests returns every request once for each kind of site, with all its outcomes
// there.
func Requests(tb testing.TB) (all []*Recording) {
	tb.Helper()
	type request struct{ base, raw string }
	known := map[request]*Recording{}
	for _, r := range All(tb) {
		key := request{r.Base(), string(r.Raw)}
		if same := known[key]; same != nil {
			same.Outcomes = append(same.Outcomes, r.Outcomes...)
			continue
		}
		known[key] = r
		all = append(all, r)
	}
	return all
}

// Base is the path that the site is below.
func (r *Recording) Base() string {
	if r.Site == "subfolder" {
		return "/blog"
	}
	return ""
}

// Family is the kind of request.
func (r *Recording) Family() string {
	family, _, _ := strings.Cut(r.ID, "/")
	return family
}

// Honest tells whether an ordinary client may send the request. The gateway must not
// refuse such a request for its spelling.
func (r *Recording) Honest() bool {
	head, _, _ := bytes.Cut(r.Raw, []byte("\r\n"))
	line := string(head)
	switch method, rest, _ := strings.Cut(line, " "); r.Family() {
	case "pretty.plain", "query.route", "wrapper":
		return true
	case "method.plain":
		return method == strings.ToUpper(method) && method != "CONNECT"
	case "method.query", "method.header":
		return plainOverride(string(r.Raw))
	case "pretty.suffix":
		return trailingSlashes.MatchString(line)
	case "query.path":
		target, query, _ := strings.Cut(strings.TrimPrefix(rest, "/blog"), "?")
		return (target == "/" || target == "/index.php") && !strings.Contains(query, "?")
	}
	return false
}

var (
	trailingSlashes = regexp.MustCompile(`^GET [A-Za-z0-9/-]+ HTTP/1.1$`)
	queryOverride   = regexp.MustCompile(`[^?][?&]_method=(?i:get|post|put|patch|delete|head|options)[& ]`)
	headerOverride  = regexp.MustCompile(`\n(?i:X-HTTP-Method-Override): (?i:get|post|put|patch|delete|head|options)\r\n`)
)

// plainOverride tells whether a request overrides its method once, in a plain
// spelling.
func plainOverride(raw string) bool {
	override := strings.Count(strings.ToLower(phpvars.Decode(raw)), "method")
	return override == 1 && raw[0] >= 'A' && raw[0] <= 'Z' && strings.Count(raw, "\nConnection") == 1 &&
		!strings.Contains(raw, "\n ") && (queryOverride.MatchString(raw) || headerOverride.MatchString(raw))
}
