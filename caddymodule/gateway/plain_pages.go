package gateway

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/hosts"
)

const (
	// plainEvery is how long it counts that plain pages have marks. That they have none is
	// asked again sooner: the owner may just have changed it, and honest pages are refused.
	plainEvery = time.Hour
	plainAgain = time.Minute
	// plainRetry is the pause after a question without a usable answer. It doubles up to
	// plainEvery.
	plainRetry = 10 * time.Second
	// plainTries is how many such questions it takes until a site counts as one whose pages
	// have no marks.
	plainTries = 3
	maxHops    = 3 // redirects of the home page
)

// plainPages knows for each host of a site which marks of the REST interface its plain pages
// have: such a mark does not tell that a page was a call. It asks for the home page, in the
// background, once an answer to a page has a mark.
type plainPages struct {
	questions.Reader
	pauses

	hosts    hosts.Table[plainPage]
	unmarked atomic.Bool   // the pages of some host have no marks
	handlers atomic.Uint32 // marks that handlers in front of the gateway have set
	told     atomic.Uint32 // marks that the pages of hosts have, as far as the log says so

	waitMu  sync.Mutex
	waiting uint64     // misreadings, if the pages turn out to have no marks
	first   misreading // of these
}

// plainPage is what is known of the pages of one host.
type plainPage struct {
	marks    platforms.Marks
	asked    bool      // a question had a usable answer
	failures int       // questions without one since
	due      time.Time // when to ask again
}

func newPlainPages() *plainPages {
	p := new(plainPages)
	p.Open()
	return p
}

// compare judges marks of an answer to a page by those of plain pages, and counts a misreading.
// It returns false where it is none, or where that is not certain yet.
func (p *plainPages) compare(s *site, x *exchange, found *misreading) (certain bool) {
	page, known := p.hosts.Get(x.r.Host)
	if !known || found.at.After(page.due) {
		p.ask(s, x.r, x.next, x.path)
	}
	switch {
	case known && found.marks&^page.marks == 0:
		return false
	case known:
		s.misread(found, 1)
		return page.asked || page.failures >= plainTries
	case p.unmarked.Load(): // or each host that a client invents would open what is refused
		s.misread(found, 1)
		return true
	}
	p.waitMu.Lock()
	defer p.waitMu.Unlock()
	if page, known = p.hosts.Get(x.r.Host); known { // since a moment ago: nobody would take it out of the queue
		if found.marks&^page.marks != 0 {
			s.misread(found, 1)
		}
		return false
	}
	if p.waiting++; p.waiting == 1 {
		p.first = *found
	}
	return false
}

// early asks for the home page before there is a mark, so that misread refuse knows it when
// there is one.
func (p *plainPages) early(s *site, r *http.Request, next caddyhttp.Handler) {
	if s.g.Misread != misreadRefuse || s.g.app.dry != nil || p.Busy() {
		return
	}
	if _, known := p.hosts.Get(r.Host); !known {
		p.ask(s, r, next, r.URL.Path)
	}
}

// ask asks for the home page of r's host, unless another question of the site waits or runs.
// path is the one that the gateway got.
func (p *plainPages) ask(s *site, r *http.Request, next caddyhttp.Handler, path string) {
	if p.Busy() {
		return
	}
	_, known := p.hosts.Get(r.Host)
	if !p.mayLearn(s, r, known, time.Now().UnixNano()) {
		return
	}
	host := strings.Clone(r.Host)
	base, _ := baseAt(s, r, path)
	b := s.background(s.asks.Own(r, varsOf(r), next))
	p.Start(r.Context(), func(ctx context.Context) {
		marks, ok := s.askPlain(ctx, b, host, base)
		p.learn(s, host, marks, ok)
	})
}

// askPlain asks for the home page, and follows redirects on the site. ok is false if no answer
// says what pages have: servers leave such headers off errors, and off redirects.
func (s *site) askPlain(ctx context.Context, b ask.Backend, host, base string) (marks platforms.Marks, ok bool) {
	for _, page := range []string{"/", "/index.php"} { // behind a rewrite in front of the gateway only the script is there
		for hops := 0; page != "" && hops < maxHops; hops++ {
			a, err := b.Ask(ctx, plainQuestion(base, page))
			if err != nil {
				return 0, false
			}
			marks = s.Platform.Marks(platforms.MarkHeadersOf(a.Header), new(platforms.MarkHeaders))
			if marks != 0 || a.Status < http.StatusMultipleChoices {
				return marks, true
			}
			page = redirected(a, host, base, page)
		}
	}
	return 0, false
}

// plainQuestion asks for a page as a browser without cookies does.
func plainQuestion(base, page string) ask.Question {
	return ask.Question{
		Kind: ask.KindIndex, Page: page, Base: base, As: ask.AsNobody,
		Header: http.Header{"Accept": {"text/html,*/*;q=0.8"}},
	}
}

// redirected returns the other page below the base that an answer leads to, or "".
func redirected(a *ask.Answer, host, base, page string) string {
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || a.Status >= http.StatusBadRequest || to.Host != "" && !strings.EqualFold(to.Host, host) {
		return ""
	}
	path := to.EscapedPath()
	if next, below := strings.CutPrefix(path, base); below && strings.HasPrefix(next, "/") && next != page && questions.PlainBase(path) {
		return next
	}
	return ""
}

// learn keeps what a question for the home page of a host has found, and counts what waited for it.
func (p *plainPages) learn(s *site, host string, marks platforms.Marks, ok bool) {
	page, _ := p.hosts.Get(host)
	switch {
	case !ok:
		page.due = time.Now().Add(min(plainRetry<<min(page.failures, 10), plainEvery))
		page.failures++
	case marks == 0:
		page = plainPage{asked: true, due: time.Now().Add(plainAgain)}
		p.unmarked.Store(true)
	default:
		page = plainPage{marks: marks, asked: true, due: time.Now().Add(jittered(plainEvery, rand.Float64()))} //nolint:gosec // no secret
		p.tell(s, marks, &p.told, "the home page")
	}
	p.hosts.Put(host, page)
	p.count(s, page.marks)
}

// count counts what waits, unless pages have these marks.
func (p *plainPages) count(s *site, marks platforms.Marks) {
	p.waitMu.Lock()
	waiting, first := p.waiting, p.first
	p.waiting, p.first = 0, misreading{}
	p.waitMu.Unlock()
	if first.marks&^marks != 0 {
		s.misread(&first, waiting)
	}
}

// end ends the questions. What waits for one is counted: a misreading must not be lost at a reload.
func (p *plainPages) end(s *site) {
	p.Stop()
	p.count(s, 0)
}

// tell says once which headers do not tell that a page was a call, and who sends them.
func (p *plainPages) tell(s *site, marks platforms.Marks, told *atomic.Uint32, by string) {
	before := platforms.Marks(told.Or(uint32(marks)))
	if marks &^= before; marks == 0 {
		return
	}
	s.logger.Warn("pages have headers of REST answers: they do not tell when a page was a call",
		zap.String("site", s.Name), zap.Strings("headers", marks.Headers()), zap.String("sent_by", by))
}

// marks returns those that pages have as far as is known, of any host.
func (p *plainPages) marks() platforms.Marks {
	all := platforms.Marks(p.handlers.Load())
	p.hosts.Each(func(_ string, page plainPage) { all |= page.marks })
	return all
}
