package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// UnexpectedError is the error of a question whose answer decides nothing.
type UnexpectedError struct {
	Answer *Answer
}

// Unexpected returns the error for an answer that decides nothing. It wraps ErrUndecided and
// an *UnexpectedError.
func Unexpected(a *Answer) error { return fmt.Errorf("%w: %w", ErrUndecided, &UnexpectedError{a}) }

// SlashError is the error of a question that a server redirects to its own address with a slash
// behind the path, on the same host.
type SlashError struct{ UnexpectedError }

// Unwrap returns what the server has answered.
func (e *SlashError) Unwrap() error { return &e.UnexpectedError }

// Error implements error. The text is one line. Of the answer it has the status, the code of
// an error object if that is plain, and the host of a redirect.
func (e *UnexpectedError) Error() string {
	a := e.Answer
	if code := a.PlainCode(); code != "" {
		return fmt.Sprintf("unexpected answer, status %d, code %q: %s", a.Status, code, a.cause().operator)
	}
	return fmt.Sprintf("unexpected answer, status %d: %s", a.Status, a.cause().operator)
}

// Note says in one sentence, for the operator, what such an answer comes from.
func (e *UnexpectedError) Note() string {
	return fmt.Sprintf("The site answered the gateway's question with status %d: %s.", e.Answer.Status, e.Answer.cause().operator)
}

// PublicCause says to clients why a question decided nothing, "it redirects its REST
// interface" of the site. It is "" where there is nothing to say: an answer in the
// platform's own words could tell of a record.
func PublicCause(err error) string {
	if unexpected, ok := errors.AsType[*UnexpectedError](err); ok {
		return unexpected.Answer.cause().public
	}
	switch _, down := errors.AsType[*DownError](err); {
	case down:
		return "it cannot be reached"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	}
	return ""
}

// cause is what an answer that decides nothing comes from (docs/project/interface 7).
type cause struct {
	operator string // for the log
	public   string // for clients, of the site; see PublicCause
}

// cause says where a, which decides nothing, may come from.
func (a *Answer) cause() cause {
	switch code := a.Code(); {
	case a.Status >= 300 && a.Status < 400:
		return cause{"a redirect to " + redirectTo(a.Header), "it redirects its REST interface"}
	case code == "rest_no_route":
		return cause{operator: "the platform does not have the route of the question, which a plugin may have taken away"}
	case code != "":
		return cause{operator: "the platform or one of its plugins refuses the question"}
	}
	if c, known := causes[a.Status]; known {
		return c
	}
	switch {
	case a.Status >= 500:
		return cause{"the server failed", "it failed"}
	case isPage(a):
		return cause{"a page in place of JSON, such as a maintenance, cache or login page, or a challenge", "it answers with a page in place of data"}
	case len(a.Body) == 0:
		return cause{"an empty answer", "it gives an empty answer"}
	}
	return cause{operator: "the answer does not have the platform's form, which a plugin may have changed"}
}

// causes are those of answers without an error object, by status.
var causes = map[int]cause{
	http.StatusUnauthorized:        {"the server in front of the platform wants a login of its own", "its server wants a login of its own"},
	http.StatusForbidden:           {"a firewall or an access rule of the server blocks the REST interface", "a firewall or an access rule blocks its REST interface"},
	http.StatusNotFound:            {"rewrite rules that are stale, a REST root that is blocked, the wrong sub-folder, or a server that shows its own page in place of each error and drops the query", "its REST interface is not where it should be"},
	http.StatusTooManyRequests:     {"the server or a firewall limits requests", "it limits requests"},
	http.StatusInternalServerError: {"a fatal error of PHP, such as a plugin's", "it failed"},
	http.StatusBadGateway:          {"PHP or the server behind is down", "it is down"},
	http.StatusServiceUnavailable:  {"maintenance, or too much load", "it is in maintenance or has too much load"},
	http.StatusGatewayTimeout:      {"PHP or the server behind does not answer in time", "it did not answer in time"},
}

// isPage tells whether an answer is HTML.
func isPage(a *Answer) bool {
	return strings.HasPrefix(strings.ToLower(a.Header.Get("Content-Type")), "text/html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

var plainHost = regexp.MustCompile(`^[A-Za-z0-9.:_\[\]-]{1,255}$`)

// redirectTo names the host of a redirect and nothing else: an address may hold a secret.
func redirectTo(h http.Header) string {
	u, err := url.Parse(h.Get("Location"))
	switch {
	case err != nil:
		return "an odd address"
	case u.Host == "":
		return "another path"
	case !plainHost.MatchString(u.Host):
		return "an odd host"
	}
	return u.Host
}

var plainCode = regexp.MustCompile(`^[a-z0-9_-]{1,80}$`)

// PlainCode returns the code of the platform's error object if it is plain, such as every
// code of the platform's own. It is "" for any other answer.
func (a *Answer) PlainCode() string {
	if code := a.Code(); plainCode.MatchString(code) {
		return code
	}
	return ""
}

// handOnLimit bounds, in bytes, an answer that a caller may have in place of its own.
const handOnLimit = 256 << 10

// forCaller tells whether the caller may have a, the answer to q: the server refuses the whole
// REST interface with it, and the call itself would get the same. That is so for a 403 or 404
// without an error object, to a read with nothing but the caller's own credentials, or with
// none, which anybody may see. A 404 to a question about a record tells nothing of the call: the
// shop itself answers so for an order, and its body may be lost on the way.
func (q *Question) forCaller(a *Answer) bool {
	if q.Kind == KindRecord && a.Status == http.StatusNotFound {
		return false
	}
	return (q.As == AsCaller && (q.Method == "" || q.Method == http.MethodGet) || q.As == AsNobody) &&
		(a.Status == http.StatusForbidden || a.Status == http.StatusNotFound) &&
		a.Code() == "" && len(a.Body) <= handOnLimit
}
