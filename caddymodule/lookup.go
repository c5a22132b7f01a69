package caddymodule

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
)

// Bounds of an answer to a question; the index of a large site has thousands of routes.
const (
	answerLimit = 1 << 20
	indexLimit  = 8 << 20
)

// lookup is the policies.Backend of one request: it asks through the rest of
// the route, so that upstreams, TLS and rewrites are the site's own. It keeps
// what it needs of the request, since a question may outlive its client.
type lookup struct {
	g      *Gateway
	next   caddyhttp.Handler
	call   *call.Call
	header http.Header
	server *caddyhttp.Server

	host, remoteAddr, proto string
	major, minor            int
	tls                     *tls.ConnectionState

	once  sync.Once // questions are asked side by side
	creds credentials
}

func newLookup(g *Gateway, r *http.Request, next caddyhttp.Handler, c *call.Call) lookup {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return lookup{
		g: g, next: next, call: c, header: r.Header, server: server,
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
func (l *lookup) ask(ctx context.Context, q policies.Question) (answer *policies.Answer, err error) {
	req, err := l.request(ctx, q)
	if err != nil {
		return nil, err
	}
	limit := answerLimit
	if q.Kind == policies.LookupIndex {
		limit = indexLimit
	}
	w := newCapture(limit, http.Header{})
	req = caddyhttp.PrepareRequest(req, caddy.NewReplacer(), w, l.server)
	caddyhttp.SetVar(req.Context(), varLookup, true)
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
				panic(p)
			}
			// reverse_proxy ends truncated answers so, and those that w has had enough of.
			answer, err = nil, errTruncated
			if w.overflow {
				err = errTooLarge
			}
			if cause := ctx.Err(); cause != nil {
				err = cause
			}
		}
	}()
	if err := l.next.ServeHTTP(w, req); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := ctx.Err(); err != nil { // reverse_proxy: status 499, no error
		return nil, err
	}
	return complete(w, req.Method)
}

// complete returns the answer if the platform itself gave it, in full.
func complete(w *capture, method string) (*policies.Answer, error) {
	answer, err := w.answer(method)
	switch {
	case err != nil:
		return nil, err
	case answer.Status >= 500, answer.Status == 499:
		return nil, fmt.Errorf("server fault, status %d", answer.Status)
	case answer.Status >= 300 && answer.Status < 400:
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
	query := q.Query
	if q.As == policies.AsCaller {
		l.once.Do(l.readCredentials)
		if l.creds.err != nil {
			return "", l.creds.err
		}
		query = join(query, l.creds.query)
	}
	if q.Form && !q.Pretty {
		return q.Base + "/index.php?" + join("rest_route="+url.QueryEscape(q.Route), query), nil
	}
	target := q.Base + "/" + l.g.site.Prefix + q.Route
	if query != "" {
		target += "?" + query
	}
	return target, nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
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

// credentials are exactly what of a request may say who is calling.
type credentials struct {
	header http.Header
	query  string // a shop key that came as parameters
	err    error
}

func (l *lookup) readCredentials() {
	site, header := l.g.site, http.Header{}
	for _, name := range append([]string{"Authorization", "X-Mcp-Api-Key", "Cart-Token", site.Platform.NonceHeader}, site.Credentials.Headers...) {
		copyHeader(header, l.header, name)
	}
	if cookies := l.loginCookies(); cookies != "" {
		header.Set("Cookie", cookies)
	}
	l.creds.header = header
	if l.call == nil {
		return
	}
	nonce, set, err := l.call.Variable(site.Platform.NonceParam)
	if set {
		header.Set(site.Platform.NonceHeader, nonce)
	}
	l.creds.err = err
	for _, name := range []string{"consumer_key", "consumer_secret"} {
		value, set, err := l.call.Variable(name)
		if set {
			l.creds.query = join(l.creds.query, name+"="+url.QueryEscape(value))
		}
		l.creds.err = errors.Join(l.creds.err, err)
	}
}

// addCredentials adds the client's credentials. Other cookies stay out, except
// for the cart: it is found by the session's.
func (l *lookup) addCredentials(to http.Header, kind policies.LookupKind) {
	maps.Copy(to, l.creds.header)
	if kind == policies.LookupCart {
		copyHeader(to, l.header, "Cookie")
		copyHeader(to, l.header, "Nonce")
	}
}

// loginCookies are the login cookies and the configured ones, as sent.
func (l *lookup) loginCookies() string {
	var kept []string
	for _, line := range l.header["Cookie"] {
		for pair := range strings.SplitSeq(line, ";") {
			pair = strings.TrimSpace(pair)
			name, _, _ := strings.Cut(pair, "=")
			if strings.HasPrefix(name, l.g.site.Platform.LoginCookie) || slices.Contains(l.g.site.Credentials.Cookies, name) {
				kept = append(kept, pair)
			}
		}
	}
	return strings.Join(kept, "; ")
}

// Interface guard
var _ policies.Backend = (*lookup)(nil)
