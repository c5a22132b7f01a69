package gateway

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policy"
)

const (
	cmsAllow  = "Authorization, X-CMS-Nonce, Content-Disposition, Content-MD5, Content-Type"
	cmsExpose = "X-CMS-Total, X-CMS-TotalPages, Link"
)

// mark gives an answer the headers of the REST interface.
func mark(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Headers", cmsAllow)
	w.Header().Set("Access-Control-Expose-Headers", cmsExpose)
}

// rewriting is a platform with a rewrite rule of its own: what is below /api/ is a call. home, if
// set, answers for the home page.
func rewriting(tb testing.TB, home http.HandlerFunc) *platform {
	p := newPlatform(tb)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.UserAgent() == "RestWarden" {
			p.mu.Lock()
			p.asks = append(p.asks, r)
			p.mu.Unlock()
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/"), strings.HasPrefix(r.URL.Path, "/cms-json/"):
			mark(w)
			if status := r.URL.Query().Get("status"); status != "" {
				var code int
				_, _ = fmt.Sscan(status, &code)
				w.WriteHeader(code)
				return true
			}
			return false
		case (r.URL.Path == "/" || r.URL.Path == "/index.php") && home != nil:
			home(w, r)
			return true
		}
		return false
	})
	return p
}

const misreadSite = `	restwarden cms {
		%s
	}
	metrics /metrics
`

// misread is how many pages the metric says were misread.
func (g *gateway) misread() string {
	for line := range strings.Lines(g.do("GET /metrics", "").body) {
		if rest, ok := strings.CutPrefix(line, `caddy_restwarden_misread_total{site="*:`+g.port()+`"} `); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "no series"
}

func (g *gateway) isMisread(n int) {
	g.t.Helper()
	eventually(g.t, fmt.Sprintf("%d misread pages, there are %s", n, g.misread()), func() bool { return g.misread() == fmt.Sprint(n) })
}

// misreadLines are the lines of the log about misread pages.
func (g *gateway) misreadLines() (lines []map[string]any) {
	g.t.Helper()
	for line := range strings.Lines(g.logged()) {
		var fields map[string]any
		if strings.Contains(line, "a page was answered by the REST interface") && json.Unmarshal([]byte(line), &fields) == nil {
			lines = append(lines, fields)
		}
	}
	return lines
}

// TestMisread: what a rewrite rule behind the gateway makes a call is counted and logged with
// the request, and passes. No other answer is.
func TestMisread(t *testing.T) {
	p := rewriting(t, nil)
	g := startGateway(t, fmt.Sprintf(misreadSite, "")+p.proxied())
	if got := g.misread(); got != "0" {
		t.Errorf("at the start: %s", got)
	}
	for _, line := range []string{"GET /", "GET /product/shirt", "GET /cms-json/cms/v2/posts", "POST /?rest_route=/cms/v2/posts", "GET /cms-admin/admin-ajax.php"} {
		g.do(line, "")
	}
	got := g.do("GET /api/cms/v2/users?per_page=9&consumer_key=hush", "", "User-Agent: stranger", "X-Forwarded-Host: stranger", "X-Forwarded-For: 1.2.3.4", "Cookie: a=stranger")
	got.want(t, 200, `"access_token"`)
	g.isMisread(1)
	lines := g.misreadLines()
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	for name, want := range map[string]any{
		"level": "error", "site": "*:" + g.port(), "method": "GET", "target": "/api/cms/v2/users?per_page=…&consumer_key=…",
		"client_ip": "127.0.0.1", "credentials": true, "not_logged": 0.0,
	} {
		if lines[0][name] != want {
			t.Errorf("%s is %v, not %v", name, lines[0][name], want)
		}
	}
	if id, _ := lines[0]["request_id"].(string); len(id) != 36 || strings.Contains(g.logged(), "hush") {
		t.Errorf("request_id %q, or a secret in the log", id)
	}
	for _, r := range p.homes() {
		for name := range r.Header {
			switch name {
			case "Accept", "Accept-Encoding", "User-Agent", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via":
			default:
				t.Errorf("the question for the home page has %s", name)
			}
		}
		if strings.Contains(fmt.Sprint(r.Header), "stranger") || r.Header.Get("X-Forwarded-For") != "127.0.0.1" || r.URL.RawQuery != "" {
			t.Errorf("a stranger's words are in the question for the home page: %s %v", r.URL, r.Header)
		}
	}
	if n := len(p.homes()); n != 1 {
		t.Errorf("%d questions for the home page", n)
	}
}

// homes are the questions for the home page.
func (p *platform) homes() (all []*http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.asks {
		if r.URL.Path == "/" {
			all = append(all, r)
		}
	}
	return all
}

// TestMisread_Answers: every kind of answer tells.
func TestMisread_Answers(t *testing.T) {
	p := rewriting(t, nil)
	g := startGateway(t, fmt.Sprintf(misreadSite, "")+p.proxied())
	n := 0
	for _, line := range []string{
		"GET /api/x", "HEAD /api/x", "POST /api/x", "DELETE /api/x", "OPTIONS /api/x", "PURGE /api/x",
		"GET /api/x?status=204", "GET /api/x?status=301", "GET /api/x?status=304", "GET /api/x?status=404", "GET /api/x?status=500",
	} {
		g.do(line, "")
		n++
		g.isMisread(n)
	}
	const preflight = "Access-Control-Request-Method: GET"
	g.do("OPTIONS /api/x", "", "Origin: https://else.example", preflight)
	g.isMisread(n)
	g.do("OPTIONS /api/x?_method=GET", "", "Origin: https://else.example", preflight) // it reads
	g.isMisread(n + 1)
}

// TestMisread_Refuse: reads without credentials get 502 with a request id, and nothing of the
// answer. All else passes, since the platform has run it or the caller may be allowed to.
func TestMisread_Refuse(t *testing.T) {
	p := rewriting(t, nil)
	g := startGateway(t, fmt.Sprintf(misreadSite, "misread refuse")+"\theader X-Before kept\n"+p.proxied())
	g.do("GET /", "")
	eventually(t, "the home page is known", func() bool { return len(p.homes()) == 1 })
	eventually(t, "a refusal", func() bool { return g.do("GET /api/x", "").status == http.StatusBadGateway })
	for line, refused := range map[string]bool{
		"GET /api/cms/v2/users":                           true,
		"HEAD /api/cms/v2/users":                          true,
		"GET /api/x?status=404":                           true,
		"POST /api/cms/v2/users?_method=GET":              true, // it reads
		"GET /api/x?consumer_key=ck&consumer_secret=cs":   false,
		"GET /api/cms/v2/users Authorization: Basic eA==": false,
		"GET /api/cms/v2/users?_method=DELETE":            false,
		"POST /api/cms/v2/users":                          false,
		"DELETE /api/cms/v2/users/1":                      false,
		"GET /product/shirt":                              false,
	} {
		words := strings.SplitN(line, " ", 3)
		got := g.do(words[0]+" "+words[1], "", words[2:]...)
		if (got.status == http.StatusBadGateway) != refused {
			t.Errorf("%s: %d", line, got.status)
		}
		if !refused {
			continue
		}
		if got.header.Get("X-Request-Id") == "" || !strings.Contains(g.logged(), got.header.Get("X-Request-Id")) {
			t.Errorf("%s: request id %q", line, got.header.Get("X-Request-Id"))
		}
		for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Headers", "Access-Control-Expose-Headers"} {
			if got.header.Get(name) != "" {
				t.Errorf("%s: %s", line, name)
			}
		}
		if words[0] != "HEAD" && !strings.Contains(got.body, `"code":"rest_misread"`) || strings.Contains(got.body, "access_token") {
			t.Errorf("%s: %s", line, got.body)
		}
	}
	metrics := g.do("GET /metrics", "").body
	if !strings.Contains(metrics, `caddy_restwarden_decisions_total{code="rest_misread",outcome="refused",policy="call"}`) {
		t.Error("refusals are not counted as decisions")
	}
	before := g.misread()
	g.load(fmt.Sprintf(misreadSite, "misread refuse\n\t\tmode observe") + p.proxied())
	for range 3 {
		g.do("GET /api/x", "").want(t, 200, "access_token")
	}
	eventually(t, "observe counts", func() bool { return g.misread() != before })
}

// TestMisread_PlainPages: a site whose pages have the headers is told so once. What its pages have
// does not count, nor what a handler in front of the gateway has set.
func TestMisread_PlainPages(t *testing.T) {
	for name, test := range map[string]struct {
		allow, expose bool   // the site's pages have this header
		before        string // a directive in front of the gateway
		told          string // the headers in the line of the log
		page, call    bool   // a page, and a call behind the rewrite rule, are refused
	}{
		"both":      {allow: true, expose: true, told: `["Access-Control-Allow-Headers","Access-Control-Expose-Headers"]`},
		"one":       {allow: true, told: `["Access-Control-Allow-Headers"]`, call: true},
		"a handler": {before: "\theader Access-Control-Expose-Headers \"" + cmsExpose + "\"\n", told: `["Access-Control-Expose-Headers"]`, call: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := rewriting(t, nil)
			inner := p.answering()
			p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
				if inner(w, r) {
					return true
				}
				if test.allow {
					w.Header().Set("Access-Control-Allow-Headers", cmsAllow)
				}
				if test.expose {
					w.Header().Set("Access-Control-Expose-Headers", cmsExpose)
				}
				return false
			})
			g := startGateway(t, fmt.Sprintf(misreadSite, "misread refuse")+test.before+p.proxied())
			for range 5 { // also the first one, of which nothing is known yet
				if got := g.do("GET /product/shirt", ""); got.status != 200 {
					t.Errorf("a page: %d %s", got.status, got.body)
				}
			}
			eventually(t, "the owner is told", func() bool { return strings.Contains(g.logged(), `"headers":`+test.told) })
			for range 3 {
				g.do("GET /product/shirt", "").want(t, 200, "")
			}
			if test.call {
				eventually(t, "a refusal", func() bool { return g.do("GET /api/x", "").status == http.StatusBadGateway })
			} else {
				g.do("GET /api/x", "").want(t, 200, "")
				g.isMisread(0)
			}
			if n := strings.Count(g.logged(), "pages have headers of REST answers"); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// TestMisread_Lines: however many pages are misread, the log has few lines, and the metric all.
func TestMisread_Lines(t *testing.T) {
	p := rewriting(t, nil)
	g := startGateway(t, fmt.Sprintf(misreadSite, "")+p.proxied())
	g.do("GET /api/x", "")
	g.isMisread(1)
	for range 99 {
		g.do("GET /api/"+strings.Repeat("x", 4000), "")
	}
	g.isMisread(100)
	lines := g.misreadLines()
	if len(lines) != linesAtOnce {
		t.Errorf("%d lines", len(lines))
	}
	if target, _ := lines[len(lines)-1]["target"].(string); len(target) > maxTarget+3 {
		t.Errorf("a target of %d bytes", len(target))
	}
	if n := len(p.homes()); n != 1 {
		t.Errorf("%d questions for the home page", n)
	}
}

// TestMisread_HomeFails: where the home page gives no answer that tells, a misreading is counted
// at once, and refused from the third such answer on.
func TestMisread_HomeFails(t *testing.T) {
	p := rewriting(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	g := startGateway(t, fmt.Sprintf(misreadSite, "misread refuse")+p.proxied())
	g.do("GET /api/x", "").want(t, 200, "")
	g.isMisread(1)
	g.do("GET /api/x", "").want(t, 200, "")
	g.isMisread(2)
}

// TestPlainPages_Ask: what tells is the home page, or the page of the site that it leads to.
func TestPlainPages_Ask(t *testing.T) {
	s := newTestSite(t)
	marked := http.Header{"Access-Control-Allow-Headers": {cmsAllow}}
	to := func(location string) *ask.Answer {
		return &ask.Answer{Status: http.StatusMovedPermanently, Header: http.Header{"Location": {location}}}
	}
	for name, test := range map[string]struct {
		answers map[string]*ask.Answer
		marked  bool
		known   bool
	}{
		"a page":                  {map[string]*ask.Answer{"/": {Status: 200}}, false, true},
		"a marked page":           {map[string]*ask.Answer{"/": {Status: 200, Header: marked}}, true, true},
		"a marked error":          {map[string]*ask.Answer{"/": {Status: 404, Header: marked}}, true, true},
		"a marked redirect":       {map[string]*ask.Answer{"/": {Status: 301, Header: marked}}, true, true},
		"an error":                {map[string]*ask.Answer{"/": {Status: 404}}, false, false},
		"the script":              {map[string]*ask.Answer{"/index.php": {Status: 200, Header: marked}}, true, true},
		"the script leads back":   {map[string]*ask.Answer{"/index.php": to("/blog/")}, false, false},
		"a redirect":              {map[string]*ask.Answer{"/": to("/blog/en/"), "/en/": {Status: 200, Header: marked}}, true, true},
		"a redirect, with a host": {map[string]*ask.Answer{"/": to("https://SHOP.example/blog/en/?a=b"), "/en/": {Status: 200}}, false, true},
		"elsewhere":               {map[string]*ask.Answer{"/": to("https://else.example/blog/en/"), "/en/": {Status: 200}}, false, false},
		"outside the base":        {map[string]*ask.Answer{"/": to("/en/"), "/en/": {Status: 200}}, false, false},
		"to https alone":          {map[string]*ask.Answer{"/": to("https://shop.example/blog/")}, false, false},
		"round and round":         {map[string]*ask.Answer{"/": to("/blog/a/"), "/a/": to("/blog/")}, false, false},
		"no answer":               {nil, false, false},
	} {
		asked := 0
		b := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			if asked++; test.answers == nil {
				return nil, ask.ErrUndecided
			}
			if a := test.answers[q.Page]; a != nil && q.Base == "/blog" && q.As == ask.AsNobody && q.Query == "" {
				return a, nil
			}
			return &ask.Answer{Status: 404}, nil
		}}
		marks, known := s.askPlain(t.Context(), b, "shop.example", "/blog")
		if (marks != 0) != test.marked || known != test.known || asked > 2*maxHops {
			t.Errorf("%s: %v, %v after %d questions", name, marks.Headers(), known, asked)
		}
	}
}

func TestLineBudget(t *testing.T) {
	var b lineBudget
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	passed := 0
	for range 100 {
		if ok, _ := b.take(now); ok {
			passed++
		}
	}
	if passed != linesAtOnce {
		t.Errorf("%d lines at once", passed)
	}
	if ok, saved := b.take(now.Add(lineEvery)); !ok || saved != 100-linesAtOnce {
		t.Errorf("after a minute: %v, %d saved", ok, saved)
	}
	if ok, _ := b.take(now.Add(lineEvery)); ok {
		t.Error("two lines after a minute")
	}
	if ok, saved := b.take(now.Add(time.Hour)); !ok || saved != 1 {
		t.Errorf("after an hour: %v, %d saved", ok, saved)
	}
}

// TestMisread_Status: the status says how many and since when.
func TestMisread_Status(t *testing.T) {
	s := newTestSite(t)
	s.plain = newPlainPages()
	t.Cleanup(s.plain.Stop)
	s.g.Misread = misreadRefuse
	s.misread(&misreading{at: time.Now()}, 3)
	s.plain.hosts.Put("shop.example", plainPage{marks: 1, asked: true})
	text, err := json.Marshal(s.misreadStatus())
	if want := `{"action":"refuse","count":3,"last":"`; err != nil || !strings.HasPrefix(string(text), want) ||
		!strings.HasSuffix(string(text), `,"unguarded":["Access-Control-Allow-Headers"]}`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestPlainPages_End: a misreading that waits for a question is counted when the site ends.
func TestPlainPages_End(t *testing.T) {
	g := provisioned(t, `{"platform":"cms"}`)
	s := g.sites[0]
	s.plain.Stop() // no question is asked
	x := &exchange{r: prepared(silent{http.Header{}}, "http://a.example/api/x")}
	if s.plain.compare(s, x, &misreading{marks: 3, at: time.Now()}) || s.state.misreads.total() != 0 {
		t.Fatal("it does not wait")
	}
	if err := g.Cleanup(); err != nil {
		t.Fatal(err)
	}
	if n := s.state.misreads.total(); n != 1 {
		t.Errorf("%d misread", n)
	}
}

// TestPlainPages_Hosts: what is kept of invented hosts is bounded, they do not open what is
// refused, and the home page of none of them speaks for a host of the site.
func TestPlainPages_Hosts(t *testing.T) {
	s := newTestSite(t)
	s.plain = newPlainPages()
	t.Cleanup(s.plain.Stop)
	p := s.plain
	p.Stop() // no question is asked
	judged := func(host string) bool {
		x := &exchange{r: prepared(silent{http.Header{}}, "http://"+host+"/api/x")}
		return p.compare(s, x, &misreading{marks: 3, at: time.Now()})
	}
	if judged("marked.example") {
		t.Error("nothing is known, and it is certain")
	}
	if p.learn(s, "marked.example", 3, true); judged("marked.example") || s.state.misreads.total() != 0 {
		t.Error("its pages have the headers, and it is guarded by them")
	}
	judged("new.example")
	p.learn(s, "shop.example", 0, true)
	if n := s.state.misreads.total(); n != 1 {
		t.Errorf("%d misread, want the one that waited", n)
	}
	if !judged("shop.example") || !judged("invented.example") || judged("marked.example") {
		t.Error("a host is judged by another one's pages")
	}
	for i := range 10_000 {
		p.learn(s, fmt.Sprintf("h%d.example", i), 3, true)
		judged("shop.example")
	}
	n := 0
	p.hosts.Each(func(string, plainPage) { n++ })
	if n > 3000 || !judged("shop.example") {
		t.Errorf("%d hosts are kept", n)
	}
	for range plainTries - 1 {
		if p.learn(s, "down.example", 0, false); judged("down.example") {
			t.Error("no answer, and it is certain")
		}
	}
	if p.learn(s, "down.example", 0, false); !judged("down.example") {
		t.Error("it is never certain")
	}
	if p.learn(s, "shop.example", 0, false); !judged("shop.example") {
		t.Error("one failure, and what was known is forgotten")
	}
}

// TestPage_Writer: what handlers may do with the answer to a page, they may do with one that is
// looked at.
func TestPage_Writer(t *testing.T) {
	g := provisioned(t, `{"platform":"cms"}`)
	w := &busyWriter{ResponseRecorder: httptest.NewRecorder()}
	handler := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusEarlyHints)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("file")})
		rc := http.NewResponseController(w)
		_, isPusher := w.(http.Pusher)
		_, _, hijacked := w.(http.Hijacker).Hijack()
		_, _, controlled := rc.Hijack()
		return errors.Join(err, hijacked, controlled, rc.Flush(), rc.SetWriteDeadline(time.Time{}), rc.EnableFullDuplex(),
			map[bool]error{false: errors.New("no pusher")}[isPusher])
	})
	if err := g.ServeHTTP(w, prepared(w, "/page"), handler); err != nil {
		t.Fatal(err)
	}
	if want := "103 200 flush ReadFrom Hijack Hijack flush deadline full duplex"; strings.Join(w.done, " ") != want { //nolint:dupword // twice
		t.Errorf("%s, want %s", w.done, want)
	}
}

// busyWriter is a ResponseWriter of a server, which notes what is done.
type busyWriter struct {
	*httptest.ResponseRecorder
	done []string
}

func (w *busyWriter) note(what string) { w.done = append(w.done, what) }

func (w *busyWriter) WriteHeader(status int) { w.note(strconv.Itoa(status)) }

func (w *busyWriter) FlushError() error {
	w.note("flush")
	return nil
}

func (w *busyWriter) ReadFrom(r io.Reader) (int64, error) {
	w.note("ReadFrom")
	return io.Copy(io.Discard, r)
}

func (w *busyWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.note("Hijack")
	return nil, nil, nil
}

func (w *busyWriter) SetWriteDeadline(time.Time) error {
	w.note("deadline")
	return nil
}

func (w *busyWriter) EnableFullDuplex() error {
	w.note("full duplex")
	return nil
}

// TestMisread_Option: the option takes two words, in JSON as well.
func TestMisread_Option(t *testing.T) {
	for word, valid := range map[string]bool{"": true, misreadCount: true, misreadRefuse: true, "refused": false, "on": false} {
		if err := validateMisread(word); (err == nil) != valid {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// TestMisread_Verdict: the refusal is named everywhere as the catalogue does.
func TestMisread_Verdict(t *testing.T) {
	s := &site{g: &Gateway{At: "Caddyfile:2"}, engine: &engine{chain: new(policy.Chain)}}
	d := (&misreadError{"GET"}).refusal(s, &exchange{r: prepared(silent{http.Header{}}, "/api/x")})
	if d.Verdict.Status != http.StatusBadGateway || d.Verdict.Pos != "Caddyfile:2" || d.Verdict.Code != policy.CodeMisread || !strings.Contains(d.Why(), "rewrite rule") {
		t.Errorf("%+v: %s", d, d.Why())
	}
}
