package gateway

import (
	"cmp"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// What the option misread does with an answer that shows that a page was a call.
const (
	misreadCount  = "count" // the default
	misreadRefuse = "refuse"
)

func validateMisread(word string) error {
	return typo.CheckOption("misread", word, misreadCount, misreadRefuse)
}

// misreadError says that an answer must not be sent, since it is one of the REST interface to
// what was read as a page.
type misreadError struct{ method string }

// Error implements error.
func (*misreadError) Error() string { return "a page was answered by the REST interface" }

// refusal returns the decision in place of the answer. It gives x what records need.
func (e *misreadError) refusal(s *site, x *exchange) policy.Decision {
	x.whole.Client = peerOf(x.r, varsOf(x.r)).client
	x.req.Call = &call.Call{Kind: call.Page, Method: e.method, Wire: x.r.Method}
	return s.chain.Refused("call", policy.Misread(s.g.At), nil)
}

// looks tells whether the answer to x is looked at for marks of the REST interface.
func (s *site) looks(x *exchange) bool {
	return x.req.Call.Kind == call.Page && s.g.app.dry == nil
}

// judge looks at the header of the answer to a page. It returns a *misreadError if the answer
// must not be sent.
func (s *site) judge(x *exchange, h http.Header, before *platforms.MarkHeaders) error {
	now := platforms.MarkHeadersOf(h)
	if now.None() {
		return nil // nearly all pages
	}
	if marks := s.Platform.Marks(*before, new(platforms.MarkHeaders)); marks != 0 {
		s.plain.tell(s, marks, &s.plain.handlers, "a handler in front of the gateway")
	}
	marks := s.Platform.Marks(now, before)
	if marks == 0 || s.isNoPage(x.r) {
		return nil
	}
	method := call.MethodBehind(x.r)
	found := misreading{
		marks: marks, at: time.Now(), id: x.id(), host: s.hostFor(x.r), method: methodOf(&call.Call{Method: x.r.Method}), effective: method, target: targetOf(x.r),
		client: addressOf(peerOf(x.r, varsOf(x.r)).client), credentials: s.HasCredentials(x.r),
	}
	read := method == http.MethodGet || method == http.MethodHead
	certain := s.plain.compare(s, x, &found)
	if !certain || !read || found.credentials || s.g.Misread != misreadRefuse || cmp.Or(x.req.InForce.Mode, s.g.Mode) == policy.Observe {
		return nil
	}
	return &misreadError{method}
}

// isNoPage tells whether r is a request that may well be answered with these headers: a
// preflight, or one for the scripts of the admin screens, whose form names no route.
func (s *site) isNoPage(r *http.Request) bool {
	if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != "" {
		return call.MethodBehind(r) == http.MethodOptions
	}
	original := originalURL(r)
	return original != nil && s.reader.IsScript(original)
}

// misreading is an answer that shows that a page was a call.
type misreading struct {
	marks                       platforms.Marks
	at                          time.Time
	id, host, method, effective string
	target, client              string
	credentials                 bool
}

// Bounds of a target in the log, in bytes and in names.
const (
	maxTarget = 1024
	maxNames  = 20
)

// targetOf returns the address that the client asked for, for the log: path, and the names of
// the query, since values may be credentials.
func targetOf(r *http.Request) string {
	u := originalURL(r)
	if u == nil {
		u = r.URL
	}
	path, between := u.EscapedPath(), "?"
	target := path[:min(len(path), maxTarget)]
	for _, pair := range strings.SplitN(u.RawQuery, "&", maxNames) {
		name, _, named := strings.Cut(pair, "=")
		if len(target)+len(name) > maxTarget {
			return routes.Masked(target) + "…"
		}
		if named {
			target += between + name + "=…"
			between = "&"
		}
	}
	return routes.Masked(target)
}

// misreads counts the misreadings of a site, and bounds their lines in the log.
type misreads struct {
	mu    sync.Mutex
	count uint64
	last  time.Time
	lines lineBudget
}

func (m *misreads) total() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}

// lineBudget lets a few lines pass at once, and one a minute after that.
type lineBudget struct {
	paid  time.Time // until when the lines so far have used up the budget
	saved uint64    // lines since the last one that passed
}

const (
	lineEvery   = time.Minute
	linesAtOnce = 10
)

// take tells whether a line may pass now, and how many have not passed since the last one.
func (b *lineBudget) take(now time.Time) (ok bool, saved uint64) {
	if b.paid.Before(now) {
		b.paid = now
	}
	if b.paid.Sub(now) > (linesAtOnce-1)*lineEvery {
		b.saved++
		return false, 0
	}
	b.paid = b.paid.Add(lineEvery)
	saved, b.saved = b.saved, 0
	return true, saved
}

// misread counts n misreadings and logs the first of them.
func (s *site) misread(first *misreading, n uint64) {
	m := &s.state.misreads
	m.mu.Lock()
	m.count += n
	m.last = first.at
	ok, saved := m.lines.take(time.Now())
	m.lines.saved += n - 1
	m.mu.Unlock()
	if !ok {
		return
	}
	s.logger.Error("a page was answered by the REST interface",
		zap.String("site", s.Name), zap.String("request_id", first.id), zap.String("host", first.host),
		zap.String("method", first.method), zap.String("effective_method", first.effective), zap.String("target", first.target),
		zap.String("client_ip", first.client), zap.Bool("credentials", first.credentials), zap.Uint64("not_logged", saved),
		zap.String("do", "no rule has judged this call: find the rewrite rule of the server, theme or plugin that leads the path to the REST interface, and close it or name it with alias (docs/guides/misread.md)"))
}

// misreadStatus is what the status says of the site's misreadings.
func (s *site) misreadStatus() adminapi.Misread {
	st := adminapi.Misread{Action: cmp.Or(s.g.Misread, misreadCount), Unguarded: s.plain.marks().Headers()}
	m := &s.state.misreads
	m.mu.Lock()
	defer m.mu.Unlock()
	if st.Count = m.count; m.count > 0 {
		last := m.last.UTC()
		st.Last = &last
	}
	return st
}
