package questions

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/answers"
	"github.com/restwarden/restwarden/policies/ask"
)

// Bounds of an answer to a question, in bytes. The index of a large site has thousands of routes;
// the cart of a reseller has hundreds of items with descriptions.
const (
	AnswerLimit = 1 << 20
	largeLimit  = 8 << 20
)

// Backend is the ask.Backend of one request.
type Backend struct {
	site         *Site
	next         caddyhttp.Handler
	header       http.Header
	server       *caddyhttp.Server
	vars         map[string]any // the variables that the site has set, such as root
	placeholders map[string]any // that the site has defined, with their values for the client's request
	answers      *answers.Held  // nil where the answers are of no exchange

	host, remoteAddr, proto string
	major, minor            int
	tls                     *tls.ConnectionState
}

// Backend returns what asks questions about r, which has the variables vars, through next, the
// rest of its route. They go to host, and their answers are on the account of held, which may be
// nil. Only the goroutine that serves r may call it.
func (s *Site) Backend(r *http.Request, vars map[string]any, next caddyhttp.Handler, host string, held *answers.Held) *Backend {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return &Backend{
		site: s, next: next, header: r.Header, server: server, vars: vars, placeholders: definedFor(r, s.Placeholders), answers: held,
		host: host, remoteAddr: r.RemoteAddr, proto: r.Proto, major: r.ProtoMajor, minor: r.ProtoMinor, tls: r.TLS,
	}
}

// Ask implements ask.Backend.
func (b *Backend) Ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	if b.site.Asking != nil {
		ctx = b.site.Asking(ctx, &q)
	}
	answer, err := b.ask(ctx, q)
	if b.site.Answered != nil {
		b.site.Answered(ctx, &q, answer, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &ask.LateError{Timeout: b.site.Timeout, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s question: %w", ask.ErrUndecided, q.Kind, err)
	}
	return answer, nil
}

// Timed ends each question after a time. It is for those that no client waits for.
type Timed struct {
	ask.Backend
	Timeout time.Duration
}

// Ask implements ask.Backend.
func (b Timed) Ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	return b.Backend.Ask(ctx, q)
}

// Detach implements ask.Backend. It copies the header and the variables of the request.
func (b *Backend) Detach() ask.Backend {
	detached := *b
	detached.answers = nil
	detached.header = http.Header{}
	b.copyConnection(detached.header)
	detached.vars = maps.Clone(b.vars)
	return &detached
}

// ask sends q through the rest of the route. The question must not share the context of
// the request, whose route groups it would use up, nor its ResponseWriter, whose header
// the client would get. It runs by itself, since some backends wait in a queue whatever
// the context says: then the error is an *ask.LeftError.
func (b *Backend) ask(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	way, err := addressesOf(&q, b.site.Prefix)
	if err != nil {
		return nil, err
	}
	req, err := b.request(ctx, &q, way.client)
	if err != nil {
		return nil, err
	}
	limit := AnswerLimit
	if q.Kind == ask.KindIndex || q.Kind == ask.KindCart {
		limit = largeLimit
	}
	kept := answers.Keep(limit, b.answers)
	req = caddyhttp.PrepareRequest(req, b.replacer(), kept, b.server)
	if err := way.rewrite(req); err != nil {
		return nil, err
	}
	b.copyVars(req.Context())
	result, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		result <- kept.Run(b.next, req)
	}()
	select {
	case err = <-result:
	case <-ctx.Done():
		b.site.Left(ended)
		go func() { <-ended; kept.Close() }()
		return nil, &ask.LeftError{Ended: ended, Err: context.Cause(ctx)}
	}
	answer, err := b.answer(ctx, &q, req, kept, err)
	if unexpected, ok := errors.AsType[*ask.UnexpectedError](err); ok && way.wantsSlash(&q, b.host, unexpected.Answer) {
		err = &ask.SlashError{UnexpectedError: *unexpected}
	}
	if err != nil {
		kept.Close()
	}
	return answer, err
}

// answer returns the answer that was kept where the handlers have returned err.
func (b *Backend) answer(ctx context.Context, q *ask.Question, req *http.Request, kept *answers.Kept, err error) (*ask.Answer, error) {
	if answer := errorAnswer(kept, err); answer != nil && ctx.Err() == nil {
		return answer, nil
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	if err := context.Cause(ctx); err != nil { // reverse_proxy: status 499, no error
		return nil, err
	}
	answer, err := kept.Answer(ctx, req.Method, q.Kind == ask.KindCart)
	if err != nil {
		return nil, err
	}
	return complete(answer, q.Page != "")
}

// definedFor returns what placeholders of these names stand for in r. A handler such as map
// finds that out from the request when it is asked, so that only the goroutine that serves r
// may ask.
func definedFor(r *http.Request, names []string) map[string]any {
	repl, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if repl == nil || len(names) == 0 {
		return nil
	}
	defined := map[string]any{}
	for _, name := range names {
		if value, ok := repl.Get(name); ok {
			defined[name] = value
		}
	}
	return defined
}

// replacer returns a replacer for the question. Beside the standard placeholders it knows
// those that the site has defined for the client's request, as map does.
func (b *Backend) replacer() *caddy.Replacer {
	repl := caddy.NewReplacer()
	for name, value := range b.placeholders {
		repl.Set(name, value)
	}
	return repl
}

// copyVars gives a question the variables that handlers before the gateway have set, such
// as root, and the variable that marks a question.
func (b *Backend) copyVars(ctx context.Context) {
	for name, value := range b.vars {
		if !strings.HasPrefix(name, "restwarden.") {
			caddyhttp.SetVar(ctx, name, value)
		}
	}
	caddyhttp.SetVar(ctx, Var, true)
}

// failure returns the error of a question without an answer, and not where in Caddy it arose.
func failure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return errors.Join(cause, err)
	}
	if said, ok := errors.AsType[caddyhttp.HandlerError](err); ok && said.StatusCode >= 500 && said.Err != nil {
		return &ask.DownError{Err: said.Err}
	}
	return err
}

// errorAnswer returns the answer that a handler of the site, such as file_server, gives as an
// error: there is no such file, or it may not be read. It is nil for any other error.
func errorAnswer(kept *answers.Kept, err error) *ask.Answer {
	said, ok := errors.AsType[caddyhttp.HandlerError](err)
	if !ok || said.StatusCode < 400 || said.StatusCode >= 499 || kept.Status() != 0 {
		return nil
	}
	return &ask.Answer{Status: said.StatusCode, Header: http.Header{}}
}

// complete returns the answer if the platform itself gave it, in full. Only the answer to
// a question about a page may be a redirect.
func complete(answer *ask.Answer, page bool) (*ask.Answer, error) {
	if answer.Status >= 500 || answer.Status == 499 || answer.Status >= 300 && answer.Status < 400 && !page {
		return nil, &ask.UnexpectedError{Answer: answer}
	}
	return answer, nil
}

// request builds a new request for the question at target. It takes from the client's
// request only what the allow-list names.
func (b *Backend) request(ctx context.Context, q *ask.Question, target string) (*http.Request, error) {
	method := cmp.Or(q.Method, http.MethodGet)
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
	req.Host, req.RemoteAddr, req.TLS = b.host, b.remoteAddr, b.tls
	req.Proto, req.ProtoMajor, req.ProtoMinor = b.proto, b.major, b.minor
	b.copyConnection(req.Header)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	maps.Copy(req.Header, q.Header)
	return req, nil
}

func (b *Backend) copyConnection(to http.Header) {
	for _, name := range ask.ForwardedHeaders {
		if values := b.header[name]; len(values) > 0 {
			to[name] = slices.Clone(values)
		}
	}
}

// Interface guard
var _ ask.Backend = (*Backend)(nil)
