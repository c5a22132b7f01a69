//go:build before

package drytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
)

// side is one of two programs that get the same requests.
type side struct {
	upstream
	platform *platform
	caddy    *running
	answers  []string // by request

	mu        sync.Mutex
	forwarded map[string][]string // what came of clients, by their address
	asked     map[string]bool     // the gateway's own questions
}

func newSide(t *testing.T, p *platform) *side {
	t.Helper()
	s := &side{platform: p, forwarded: map[string][]string{}, asked: map[string]bool{}}
	s.upstream = serve(t, s)
	return s
}

// ServeHTTP keeps what comes and lets the platform answer, which both sides share.
func (s *side) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		r.Body = http.NoBody // requests by FastCGI without a body share one reader
	}
	body, err := io.ReadAll(r.Body)
	text := came(r, body, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	if r.Header.Get(mark) != "" {
		from, _, _ := strings.Cut(r.RemoteAddr, ":")
		if f := r.Header.Get("X-Forwarded-For"); f != "" {
			from = f
		}
		s.forwarded[from] = append(s.forwarded[from], text)
	} else {
		s.asked[whose.ReplaceAllString(text, "$1$2")] = true
	}
	s.mu.Unlock()
	s.platform.ServeHTTP(w, r)
}

// whose are the parts of a question that depend on how long an answer is remembered: for
// whom it asks, and of which of the orders.
var whose = regexp.MustCompile(`(?m)^((?:X-Forwarded-For:|Authorization: \w+|Cookie: \w+=|X-Wp-Nonce:)).*|(?m)\d+(/notes/0)`)

// came is a request as text, without what differs from run to run.
func came(r *http.Request, body []byte, err error) string {
	head, dumped := httputil.DumpRequest(r, false)
	return steady(fmt.Sprintf("%s%q %v %v", head, body, err, dumped))
}

// passing are the parts of a text that differ from run to run: ids of requests, times, and
// ports of the test.
var passing = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<id>"},
	{regexp.MustCompile(`\brestwarden=[A-Z2-7]{26}`), "restwarden=<id>"},
	{regexp.MustCompile(`(?m)^(Date|Ratelimit-Remaining|Ratelimit-Reset|Ratelimit|Retry-After): .*`), "$1: <>"},
	{regexp.MustCompile(`"(Date|Ratelimit[\w-]*|Retry-After)":\["[^"]*"\]`), `"$1":<>`},
	{regexp.MustCompile(`(?:127\.0\.0\.1|\*):\d+`), "<address>"},
	{regexp.MustCompile(`off by [\dhms]+`), "off by <>"},
	{regexp.MustCompile(`("confirmation":"|"id":"|: confirmation |/confirm/)[\w-]{10,}`), "$1<>"},
	{regexp.MustCompile(`"expires":(?:"[\dTZ:-]+"|\d+)`), `"expires":<>`},
	{regexp.MustCompile(`"(ts|duration|remote_port|seconds|took|since|started|read|asked|known|failed|until|time|first|last|at|wall_seconds|uptime|seen|loaded|saved|idle)":("[^"]*\d\d:\d\d:[^"]*"|"?[\d.e+-]+"?)`), `"$1":<>`},
	{regexp.MustCompile(`("last":<>),"error":"(?:[^"\\]|\\.)*"`), "$1"}, // of the question that ended last, of several at once
	{regexp.MustCompile(`has [\d.]+ [KMGT]?i?B free`), "has <> free"},
}

func steady(text string) string {
	for _, p := range passing {
		text = p.pattern.ReplaceAllString(text, p.by)
	}
	return added.ReplaceAllStringFunc(text, func(member string) string {
		if strings.HasPrefix(member, ",") && strings.HasSuffix(member, ",") {
			return ","
		}
		return ""
	})
}

// added are the members of JSON, texts, whose names RESTWARDEN_ADDED lists: the program of before
// has none of them.
var added = func() *regexp.Regexp {
	names := strings.ReplaceAll(os.Getenv("RESTWARDEN_ADDED"), ",", "|")
	if names == "" {
		return regexp.MustCompile(`\z`)
	}
	return regexp.MustCompile(`,?\s*"(?:` + names + `)":\s*"(?:[^"\\]|\\.)*"(?:,?)`)
}()

// TestBefore_Requests sends the requests of TestDryRun_Agrees through a program of before a
// change and through this one. Clients get the same, the platform gets the same, and the
// logs, the metrics and the admin endpoint say the same.
func TestBefore_Requests(t *testing.T) {
	seed, all := seed(t), recordings.Requests(t)
	programs, sent := programs(t), 0
	for _, one := range slices.Concat(documented(t), written) {
		t.Run(one.name, func(t *testing.T) {
			p := newPlatform(t)
			c := prepared(t, one, p, seed, all)
			if old := adaptedBy(t, programs[0], c.file); !sameJSON(t, old, c.adapted()) {
				t.Errorf("was\n%s\nis\n%s", old, c.adapted())
			}
			sent += len(c.mixer.made)
			differences := c.between(programs)
			if len(differences) > 0 { // also where an answer was remembered in one only
				differences = c.between(programs)
			}
			for _, d := range differences[:min(shown, len(differences))] {
				t.Error(d)
			}
			if len(differences) > 0 {
				t.Error(len(differences), "differences")
			}
		})
	}
	t.Attr("checks", strconv.Itoa(sent))
}

// between sends all requests to two programs and returns how they differ.
func (c *comparison) between(programs [2]string) []string {
	c.t.Helper()
	var sides [2]*side
	made, config := c.mixer.sent, c.adapted()
	for i, program := range programs {
		s := newSide(c.t, c.mixer.platform)
		s.caddy = startCaddy(c.t, program, config, s.upstream)
		c.caddy, c.mixer.sent = s.caddy, made // the same addresses
		c.finish()
		c.sendTo(s)
		sides[i] = s
	}
	return slices.Concat(c.requests(sides), c.admin(sides), c.logs(sides))
}

// sendTo sends all requests to one side, one after the other.
func (c *comparison) sendTo(s *side) {
	c.t.Helper()
	for _, r := range c.mixer.made {
		raw, err := s.caddy.exchange(r)
		s.answers = append(s.answers, steady(fmt.Sprintf("%s %v", raw, err)))
	}
	s.platform.rest(c.t)
}

// requests compares what clients and the platform get.
func (c *comparison) requests(sides [2]*side) (differ []string) {
	for i, r := range c.mixer.made {
		differ = append(differ, texts("the answer to "+r.name+" as "+r.as, sides[0].answers[i], sides[1].answers[i])...)
		differ = append(differ, texts("what the platform gets of "+r.name+" as "+r.as, strings.Join(sides[0].forwarded[r.client], "\n"), strings.Join(sides[1].forwarded[r.client], "\n"))...)
	}
	return append(differ, sets("what the gateway asks", slices.Collect(maps.Keys(sides[0].asked)), slices.Collect(maps.Keys(sides[1].asked)))...)
}

// texts compares two texts.
func texts(what, was, is string) []string {
	if was == is {
		return nil
	}
	return []string{fmt.Sprintf("%s was\n%s\nis\n%s", what, differing(was, is), differing(is, was))}
}

// sets compares two lists, whose order does not count.
func sets(what string, was, is []string) (differ []string) {
	number := map[string]int{}
	for _, text := range was {
		number[text]++
	}
	for _, text := range is {
		number[text]--
	}
	for _, text := range slices.Sorted(maps.Keys(number)) {
		if n := number[text]; n != 0 {
			differ = append(differ, fmt.Sprintf("%s: %+d\n%.1500s", what, -n, text))
		}
	}
	return differ
}

// logs ends both programs and compares their logs of the requests.
func (c *comparison) logs(sides [2]*side) []string {
	c.t.Helper()
	var access, records [2][]string
	for i, s := range sides {
		if err := s.caddy.process.End(patience); err != nil {
			c.t.Error(err)
		}
		access[i], records[i] = c.lines(s.caddy, "access.log"), c.lines(s.caddy, "records.log")
	}
	return append(sets("the log of requests", access[0], access[1]), sets("the log of the gateway", records[0], records[1])...)
}

// lines are those of a log, without what differs from run to run. The first request to each
// site may come before the site's routes are known.
func (c *comparison) lines(of *running, name string) (all []string) {
	c.t.Helper()
	clients := map[any]bool{nil: true}
	for _, r := range c.mixer.made {
		clients[r.client] = true
	}
	for _, l := range logged[object](of, name) {
		client := l["client_ip"]
		if request, ok := l["request"].(object); ok {
			client = request["client_ip"]
		}
		text, err := json.Marshal(l) // sorted
		if err != nil {
			c.t.Fatal(err)
		}
		if clients[client] {
			all = append(all, steady(string(text)))
		}
	}
	return all
}

// admin compares what both say at their admin endpoints, metrics included.
func (c *comparison) admin(sides [2]*side) (differ []string) {
	c.t.Helper()
	for _, path := range []string{adminapi.SitesPath, adminapi.ConfirmationsPath, "none"} {
		path = adminapi.Path + path
		differ = append(differ, texts(path, steady(fmt.Sprintln(sides[0].caddy.says(path))), steady(fmt.Sprintln(sides[1].caddy.says(path))))...)
	}
	var metrics [2][]string
	for i, s := range sides {
		_, text := s.caddy.says("/metrics")
		for line := range strings.Lines(text) {
			if strings.Contains(line, "caddy_restwarden_") {
				metrics[i] = append(metrics[i], timed.ReplaceAllString(steady(line), "$1"))
			}
		}
	}
	return append(differ, sets("metrics", metrics[0], metrics[1])...)
}

// timed are metrics whose numbers depend on times, or on what is held at a moment.
var timed = regexp.MustCompile(`^(caddy_restwarden_\w*(?:seconds|bytes|timestamp|lookups)\w*\S*) .*`)
