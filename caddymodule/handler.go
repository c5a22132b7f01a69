package caddymodule

import (
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
)

// exchange is one request on its way through the gateway.
type exchange struct {
	whole   caller.Whole
	req     policies.Request
	backend backend
	r       *http.Request // the request that is forwarded
	next    caddyhttp.Handler

	rewriters []rewriter // the policies that change the answer
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if question, _ := caddyhttp.GetVar(r.Context(), varLookup).(bool); question {
		return next.ServeHTTP(w, r) // another directive asks: to judge it would need the same question
	}
	return g.siteOf(r).serve(w, r, next)
}

// serve reads r, judges it if it is a call, and answers or forwards it.
func (s *site) serve(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if s.confirmer != nil && s.Confirmations != nil { // a dry run has none
		if token, ok := s.confirmToken(r); ok {
			return s.serveConfirm(w, r, token)
		}
	}
	if s.broken != nil {
		return caddyhttp.Error(http.StatusServiceUnavailable, s.broken)
	}
	if s.g.app.dry != nil {
		s.settle(r, next)
	}
	r.Body = counted(r)
	inForce := s.Switches.InForce(s.Now)
	r.Body = s.hurried(w, r, inForce)
	var holder call.Holder // nothing is held without a body
	if r.ContentLength != 0 {
		holder = s.holderOf(r)
	}
	c := s.reader.ReadFrom(holder, r, originalURL(r))
	defer c.Close()
	if s.g.app.dry != nil {
		s.readDry(r, c)
	}
	if c.Kind == call.Page {
		return s.servePage(w, r, next, c, inForce)
	}
	s.discovery.request(s, r, next, c.Form == call.Pretty && c.Rewritten == nil)
	x := s.newExchange(r, next, c)
	x.req.InForce = inForce
	if s.isPreflight(x) {
		return s.servePreflight(w, x)
	}
	start := time.Now()
	if changed := s.change(x); changed != c {
		defer changed.Close()
	}
	d := s.chain.Judge(r.Context(), &x.req)
	s.metrics.decisionDuration.Observe(time.Since(start).Seconds())
	if a := s.audit(x, d, start); a != nil {
		defer a.log() // also if the platform breaks off or the client goes away
	}
	if d.Outcome == policies.Refuse {
		return s.refuse(w, x, d.Verdict)
	}
	return s.forward(w, x)
}

// servePage forwards a page. It asks no policy to judge, and allocates nothing.
func (s *site) servePage(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, c *call.Call, f policies.InForce) error {
	caddyhttp.SetVar(r.Context(), varKind, kindPage)
	caddyhttp.SetVar(r.Context(), varOutcome, outcomePass)
	if r.Method == http.MethodPost && s.reader.IsScript(r.URL) {
		s.discovery.script(s, r, next)
	}
	x := pages.Get().(*exchange)
	defer x.recycle()
	x.whole = caller.Whole{Site: s.Site.Site, Call: c, HTTP: r}
	x.req = policies.Request{Whole: &x.whole, Call: c, Site: &s.Site, InForce: f}
	x.r, x.next = r, next
	return s.forward(w, x)
}

func (s *site) newExchange(r *http.Request, next caddyhttp.Handler, c *call.Call) *exchange {
	x := &exchange{r: r, next: next}
	x.backend = newBackend(s, r, next)
	x.whole = caller.Whole{
		Site: s.Site.Site, Call: c, HTTP: r, Client: clientAddr(r), Holder: s.holderOf(r), Secure: isSecure(r),
		Backend: &x.backend, Trace: &s.trace.Questions,
	}
	x.req = policies.Request{Whole: &x.whole, Call: c, Site: &s.Site, Trace: &s.trace}
	caddyhttp.SetVar(r.Context(), varCall, c)
	return x
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
			Status: http.StatusBadRequest, Code: policies.CodeAmbiguous, Reason: by,
		}}
	}
	x.req.Call, x.whole.Call = after, after
	caddyhttp.SetVar(x.r.Context(), varCall, after)
	return after
}

// isPreflight tells whether the request is a browser's preflight: OPTIONS in every
// reading, from a script of another origin, without credentials (docs/design 6).
func (s *site) isPreflight(x *exchange) bool {
	c, h := x.req.Call, x.r.Header
	return c.Kind == call.Single && !c.Foreign && c.Wire == http.MethodOptions && c.Method == http.MethodOptions &&
		h.Get("Origin") != "" && h.Get("Access-Control-Request-Method") != "" && !s.HasCredentials(x.r)
}

// servePreflight forwards a preflight without a body. It returns only status and headers
// of the answer, since the body would list the route's parameters.
func (s *site) servePreflight(w http.ResponseWriter, x *exchange) error {
	s.trace.Decided(&x.req, policies.Decision{Outcome: policies.Pass})
	if s.observes(x.req.InForce) {
		return s.forward(w, x)
	}
	x.r.Body, x.r.ContentLength = http.NoBody, 0
	return x.next.ServeHTTP(newHeadOnly(w), x.r)
}

// originalURL is the URL that the client asked for, before any rewrite of the site.
func originalURL(r *http.Request) *url.URL {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		return original.URL
	}
	return nil
}

// clientAddr is the client's address as the server determined it, by trusted proxies if
// there are any. It is the zero Addr if unknown, as in early data.
func clientAddr(r *http.Request) netip.Addr {
	if call.Early(r) {
		return netip.Addr{}
	}
	text, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	addr, _ := netip.ParseAddr(text)
	return addr
}

// holderOf says on whose account a request holds memory, disk and questions.
func (s *site) holderOf(r *http.Request) call.Holder {
	return call.Holder{Site: s.Name, Client: shareAddr(r)}
}

// shareAddr is the address whose share of memory, disk and questions a request uses. It is
// the zero Addr for the address of a proxy: one that the server trusts or one of a private
// network.
func shareAddr(r *http.Request) netip.Addr {
	addr := clientAddr(r)
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	if addr.IsPrivate() || addr.IsLoopback() || trusted && remote.Addr() == addr {
		return netip.Addr{}
	}
	return addr
}

// isSecure tells whether the client came by https. It believes the header only from
// trusted proxies.
func isSecure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted && r.Header.Get("X-Forwarded-Proto") == "https"
}
