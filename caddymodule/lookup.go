package caddymodule

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies"
)

// Bounds of an answer to a question; the index of a large site has thousands of
// routes, the cart of a reseller hundreds of items with their descriptions.
const (
	answerLimit = 1 << 20
	largeLimit  = 8 << 20
)

// lookup is the policies.Backend of one request: it asks through the rest of
// the route, so that upstreams, TLS and rewrites are the site's own. It keeps
// what it needs of the request, since a question may outlive its client.
type lookup struct {
	g      *Gateway
	next   caddyhttp.Handler
	header http.Header
	server *caddyhttp.Server
	vars   map[string]any  // the site's, such as root
	repl   *caddy.Replacer // the client request's, for the site's own placeholders

	host, remoteAddr, proto string
	major, minor            int
	tls                     *tls.ConnectionState
}

func newLookup(g *Gateway, r *http.Request, next caddyhttp.Handler) lookup {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	vars, _ := r.Context().Value(caddyhttp.VarsCtxKey).(map[string]any)
	repl, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	return lookup{
		g: g, next: next, header: r.Header, server: server, vars: vars, repl: repl,
		host: r.Host, remoteAddr: r.RemoteAddr, proto: r.Proto, major: r.ProtoMajor, minor: r.ProtoMinor, tls: r.TLS,
	}
}

// Ask implements policies.Backend.
func (l *lookup) Ask(ctx context.Context, q policies.Question) (*policies.Answer, error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, l.g.timeout)
	defer cancel()
	answer, err := l.ask(ctx, q)
	l.g.metrics.lookup(q.Kind, resultOf(err), time.Since(start))
	if err != nil {
		return nil, fmt.Errorf("%w: %s question: %w", policies.ErrUndecided, q.Kind, err)
	}
	return answer, nil
}

func resultOf(err error) string {
	switch {
	case err == nil:
		return resultOK
	case errors.Is(err, context.DeadlineExceeded):
		return resultTimeout
	case errors.Is(err, context.Canceled):
		return resultCanceled
	}
	return resultError
}

// ask sends q through the rest of the route. It must neither share the context
// of the request, whose route groups it would use up, nor its ResponseWriter,
// whose header the client would get.
func (l *lookup) ask(ctx context.Context, q policies.Question) (*policies.Answer, error) {
	req, err := l.request(ctx, q)
	if err != nil {
		return nil, err
	}
	limit := answerLimit
	if q.Kind == policies.LookupIndex || q.Kind == policies.LookupCart {
		limit = largeLimit
	}
	w := newCapture(limit, http.Header{})
	req = caddyhttp.PrepareRequest(req, l.replacer(), w, l.server)
	l.copyVars(req.Context())
	if err := capturing(w, l.next, req); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := ctx.Err(); err != nil { // reverse_proxy: status 499, no error
		return nil, err
	}
	return complete(w, req.Method, q.Page != "")
}

// replacer knows, beside what every request has, the placeholders that the site
// has made for the client's, as map does.
func (l *lookup) replacer() *caddy.Replacer {
	repl := caddy.NewReplacer()
	if l.repl != nil {
		repl.Map(func(key string) (any, bool) {
			if strings.HasPrefix(key, "http.") {
				return nil, false
			}
			return l.repl.Get(key)
		})
	}
	return repl
}

// copyVars gives a question the variables that handlers before the gateway have
// set, such as root, and the mark of a question.
func (l *lookup) copyVars(ctx context.Context) {
	for name, value := range l.vars {
		if !strings.HasPrefix(name, "restwarden.") {
			caddyhttp.SetVar(ctx, name, value)
		}
	}
	caddyhttp.SetVar(ctx, varLookup, true)
}

// complete returns the answer if the platform itself gave it, in full: to a question about
// a page that may be a redirect.
func complete(w *capture, method string, page bool) (*policies.Answer, error) {
	answer, err := w.answer(method)
	switch {
	case err != nil:
		return nil, err
	case answer.Status >= 500, answer.Status == 499:
		return nil, fmt.Errorf("server fault, status %d", answer.Status)
	case answer.Status >= 300 && answer.Status < 400 && !page:
		return nil, fmt.Errorf("redirect, status %d", answer.Status)
	}
	return answer, nil
}

// request builds the question as a request of its own: nothing of the client's
// gets in but what the allow-list names.
func (l *lookup) request(ctx context.Context, q policies.Question) (*http.Request, error) {
	target, err := l.target(q)
	if err != nil {
		return nil, err
	}
	method := orDefault(q.Method, http.MethodGet)
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(q.Body))
	if err != nil {
		return nil, err
	}
	if len(q.Body) == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.RequestURI = target
	req.Host, req.RemoteAddr, req.TLS = l.host, l.remoteAddr, l.tls
	req.Proto, req.ProtoMajor, req.ProtoMinor = l.proto, l.major, l.minor
	l.copyConnection(req.Header)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	switch q.As {
	case policies.AsNobody:
	case policies.AsCaller:
		l.addCredentials(req.Header, q.Kind)
	case policies.AsKey:
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(q.Key)))
	}
	return req, nil
}

// target is the question's URI, in the form that the client used. The base is
// the client's, so it is checked like any other text of a client.
func (l *lookup) target(q policies.Question) (string, error) {
	base, err := url.Parse(q.Base)
	if err != nil || base.Path == "" && q.Base != "" || base.EscapedPath() != q.Base || q.Base != "" && q.Base[0] != '/' {
		return "", fmt.Errorf("base %q is not a path", q.Base)
	}
	target, separator := q.Base+"/"+l.g.site.Prefix+q.Route, "?"
	switch {
	case q.Page != "":
		target = q.Base + q.Page
	case q.Form:
		path := orDefault(q.Base, "/")
		if strings.HasSuffix(path, "/") && q.Method != "" && q.Method != http.MethodGet {
			path += "index.php" // of a directory some servers know GET and POST only (docs/platform I.10, N15)
		}
		target, separator = path+"?rest_route="+url.QueryEscape(q.Route), "&"
	}
	if q.Query != "" {
		target, separator = target+separator+q.Query, "&"
	}
	if q.Form && q.As == policies.AsKey { // what makes the shop look at keys (docs/platform III.8)
		target += separator + "_marker=" + l.g.keyMarker()
	}
	return target, nil
}

// keyMarker is the text in an address by which the shop knows its own routes.
func (g *Gateway) keyMarker() string {
	p := g.site.Platform
	return g.site.Prefix + strings.TrimPrefix(p.KeyMarker, p.Prefix) + "/"
}

// forwardedHeaders say who the client is and which way it came.
var forwardedHeaders = []string{
	"User-Agent", "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
	"X-Forwarded-Server", "X-Forwarded-Ssl", "X-Real-Ip", "Cf-Connecting-Ip", "Cf-Visitor", "True-Client-Ip",
}

func (l *lookup) copyConnection(to http.Header) {
	for _, name := range forwardedHeaders {
		copyHeader(to, l.header, name)
	}
}

func copyHeader(to, from http.Header, name string) {
	if values := from[name]; len(values) > 0 {
		to[name] = slices.Clone(values)
	}
}

// addCredentials adds exactly what of the client's header may say who is
// calling; what came as parameters is part of the question. Other cookies stay
// out, except for the cart: it is found by the session's.
func (l *lookup) addCredentials(to http.Header, kind policies.LookupKind) {
	site := l.g.site
	for _, name := range []string{"Authorization", "X-Mcp-Api-Key", "Cart-Token", site.Platform.NonceHeader} {
		copyHeader(to, l.header, name)
	}
	for _, name := range site.Credentials.Headers {
		copyHeader(to, l.header, name)
	}
	if kind == policies.LookupCart {
		copyHeader(to, l.header, "Cookie")
		copyHeader(to, l.header, "Nonce")
		copyHeader(to, l.header, "Origin") // whether its scripts may read the answer
	} else if cookies := l.loginCookies(); cookies != "" {
		to.Set("Cookie", cookies)
	}
}

// loginCookies are the login cookies and the configured ones, as sent: PHP drops
// blanks before a name only.
func (l *lookup) loginCookies() string {
	var kept []string
	for _, line := range l.header["Cookie"] {
		for pair := range strings.SplitSeq(line, ";") {
			pair = strings.TrimLeft(pair, " \t\r\n\v\f")
			name, _, _ := strings.Cut(pair, "=")
			if l.g.site.Platform.LogsIn(pair) || slices.Contains(l.g.site.Credentials.Cookies, name) {
				kept = append(kept, pair)
			}
		}
	}
	return strings.Join(kept, "; ")
}

// Interface guard
var _ policies.Backend = (*lookup)(nil)
