package gateway

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/answers"
	"github.com/restwarden/restwarden/caddymodule/questions"
	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// exchange is one request on its way through the gateway, in one piece of memory.
type exchange struct {
	space call.Space
	body  hurriedBody
	whole caller.Whole
	req   policy.Request
	s     *site
	r     *http.Request // the request that is forwarded
	host  string        // of the request as it came
	next  caddyhttp.Handler
	rest  caddyhttp.Handler // of the site's route, where questions go: next without what listens to the answer

	path      string // of a page, as the gateway got it
	uuid      string // see id
	answers   answers.Held
	answer    forwarding // of a call
	rewriters uint32     // the policies that change the answer, as bits by their place in engine.rewriters
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	vars := varsOf(r)
	if question, _ := vars[questions.Var].(bool); question {
		if dry := g.app.dry; dry != nil {
			dry.Passed(r.Context(), g.Said(), g.siteOf(r).Name)
		}
		return next.ServeHTTP(w, r) // another directive asks: to judge it would need the same question
	}
	return g.siteOf(r).serve(w, r, next, vars)
}

// serve reads r, judges it if it is a call, and answers or forwards it.
func (s *site) serve(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, vars map[string]any) error {
	if s.desk != nil {
		if token, ok := s.desk.Token(originalURL(r), r.URL); ok {
			s.desk.Serve(w, r, token, peerOf(r, vars).client)
			return nil
		}
	}
	if s.broken != nil {
		return caddyhttp.Error(http.StatusServiceUnavailable, s.broken)
	}
	if s.g.app.dry != nil {
		s.awaitReading(r, next)
	}
	r.Body = counted(r)
	x, bodiless := recycled.Get().(*exchange), r.ContentLength == 0
	x.req.InForce = s.Switches.InForce(s.Now)
	r.Body = s.hurried(w, r, x)
	var holder budget.Holder // nothing is held without a body
	if !bodiless {
		holder = s.holderOf(r, peerOf(r, vars))
	}
	c := s.reader.ReadInto(&x.space, holder, r, originalURL(r))
	defer c.Close()
	s.plain.early(s, r, next)
	if s.g.app.dry != nil {
		s.readDry(r, c)
	}
	if call.OffersHTTP2(r) && !s.observes(x.req.InForce) {
		call.DropHTTP2(r.Header)
	}
	if c.Kind == call.Page {
		vars[varKind], vars[varOutcome] = kindPage, outcomePass
		return s.servePage(w, r, next, c, x, bodiless, vars)
	}
	start := time.Now()
	s.discovery.request(s, r, next, c.Form == call.Pretty && c.Rewritten == nil, start)
	s.begin(x, r, next, c, vars)
	defer x.answers.End()
	if s.isPreflight(x) {
		return s.servePreflight(w, x)
	}
	if changed := s.change(x); changed != c {
		defer changed.Close()
	}
	d := s.chain.Judge(r.Context(), &x.req)
	s.metrics.Took(time.Since(start))
	if a := s.audit(x, d, start); a != nil {
		defer a.log() // also if the platform breaks off or the client goes away
	}
	if u := s.credentialUse(x, d, start); u != nil {
		defer u.end()
	}
	switch {
	case d.Outcome == policy.Refuse:
		s.answered(x, nil, true)
		return s.refuse(w, x, d.Verdict)
	case abilities.Confirmed(&x.req):
		return s.forwardConfirmed(w, x)
	}
	return s.forward(w, x)
}

// servePage forwards a page, unless a policy closes it, and looks at the header of the answer.
// Without a body nothing keeps the exchange, since no question is asked about a page.
func (s *site) servePage(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, c *call.Call, x *exchange, bodiless bool, vars map[string]any) error {
	if bodiless {
		defer x.recycle()
	}
	x.whole.Site, x.whole.Call, x.whole.HTTP = s.Site.Site, c, r
	x.req.Whole, x.req.Call, x.req.Site = &x.whole, c, &s.Site
	x.r, x.next, x.path = r, next, r.URL.Path
	if s.chain.JudgesPages() {
		s.begin(x, r, next, c, vars)
		if d := s.chain.JudgePage(&x.req); d.Outcome == policy.Refuse {
			return s.refuse(w, x, d.Verdict)
		}
	}
	return s.forward(w, x)
}

// begin makes x the exchange of a call.
func (s *site) begin(x *exchange, r *http.Request, next caddyhttp.Handler, c *call.Call, vars map[string]any) {
	x.s, x.r, x.host, x.next, x.rest = s, r, r.Host, next, next
	p := peerOf(r, vars)
	w := &x.whole
	w.Site, w.Call, w.HTTP, w.Client, w.Holder, w.Secure = s.Site.Site, c, r, p.client, s.holderOf(r, p), p.secure
	w.Backend, w.Trace = x, &s.trace.Questions
	x.req.Whole, x.req.Call, x.req.Site, x.req.Trace, x.req.ClientURL = w, c, &s.Site, &s.trace, originalURL(r)
	x.answers.Account = s.account(x)
	setCall(vars, c)
}

// Ask implements ask.Backend. Most requests ask nothing.
func (x *exchange) Ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	return x.backend().Ask(ctx, q)
}

// Detach implements ask.Backend.
func (x *exchange) Detach() ask.Backend { return x.backend().Detach() }

// backend asks the host of the request as it came: a handler behind the gateway may have set
// another one.
func (x *exchange) backend() *questions.Backend {
	return x.s.asks.Backend(x.r, varsOf(x.r), x.rest, x.host, &x.answers)
}

// change runs the policies that change requests, and reads the request again. The result
// must be the same call with fewer parameters; any other has no certain reading. change
// returns the reading that counts.
func (s *site) change(x *exchange) *call.Call {
	before := x.req.Call
	if before.Kind == call.Refused || before.Foreign {
		return before
	}
	by := ""
	for _, p := range s.changers {
		if !p.observes(x.req.InForce) && p.Change(&x.req, x.r) {
			by = p.name
		}
	}
	if by == "" {
		return before
	}
	before.Settle() // two readings of one body could wait for each other's memory
	after := s.reader.ReadFrom(x.whole.Holder, x.r, originalURL(x.r))
	if after.Kind != before.Kind || after.Key != before.Key || after.Method != before.Method {
		after.Close()
		after = &call.Call{Kind: call.Refused, Method: before.Method, Wire: before.Wire, Refusal: &call.Refusal{
			Status: http.StatusBadRequest, Code: policy.CodeAmbiguous, Reason: by,
		}}
	}
	x.req.Call, x.whole.Call = after, after
	setCall(varsOf(x.r), after)
	return after
}

// isPreflight tells whether the request is a browser's preflight: OPTIONS in every
// reading, from a script of another origin, without credentials (docs/policies/access.md).
func (s *site) isPreflight(x *exchange) bool {
	c, h := x.req.Call, x.r.Header
	return c.Kind == call.Single && !c.Foreign && c.Wire == http.MethodOptions && c.Method == http.MethodOptions &&
		h.Get("Origin") != "" && h.Get("Access-Control-Request-Method") != "" && !s.HasCredentials(x.r)
}

// servePreflight counts a preflight against the limits of its route and forwards it without a
// body, and without any variable but the route: the platform runs the route's permission
// callbacks for it. It returns only status and headers of the answer, since the body would list
// the route's parameters.
func (s *site) servePreflight(w http.ResponseWriter, x *exchange) error {
	x.req.Preflight = true
	if d := s.chain.Judge(x.r.Context(), &x.req); d.Outcome == policy.Refuse {
		return s.refuse(w, x, d.Verdict)
	}
	if s.observes(x.req.InForce) {
		return s.forward(w, x)
	}
	x.r.Body, x.r.ContentLength = http.NoBody, 0
	x.r.URL.RawQuery = policy.PreflightQuery(x.r.URL.RawQuery)
	if original, ok := x.r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		address := *original.URL // what PHP gets as REQUEST_URI
		address.RawQuery = policy.PreflightQuery(address.RawQuery)
		original.URL, original.RequestURI = &address, address.RequestURI()
		x.r = x.r.WithContext(context.WithValue(x.r.Context(), caddyhttp.OriginalRequestCtxKey, original))
	}
	return x.next.ServeHTTP(answers.HeadOnly(w), x.r)
}

// originalURL is the URL that the client asked for, before any rewrite of the site.
func originalURL(r *http.Request) *url.URL {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		return original.URL
	}
	return nil
}

// account is on whose account answers to x are held.
func (s *site) account(x *exchange) answers.Account {
	return answers.Account{Memory: s.memory, Spool: s.spool, Holder: x.whole.Holder}
}
