package caller

import (
	"context"
	"maps"
	"net/http"
	"regexp"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// readsNamespace tells whether w reads the index of a namespace as a script of the site's
// own pages does. The core's script wp-api sends the login cookie there, but no nonce
// (docs/identity.md). A script of another origin could read the answer where the request has
// Origin, or where the platform wraps the answer for JSONP: neither counts.
func (w *Whole) readsNamespace() bool {
	c, h := w.Call, w.HTTP.Header
	if c.Kind != call.Single || c.Wire != c.Method || c.Method != http.MethodGet && c.Method != http.MethodHead || len(h["Origin"]) > 0 {
		return false
	}
	for _, from := range h["Sec-Fetch-Site"] {
		if from != "same-origin" {
			return false
		}
	}
	if _, jsonp := c.QueryVariable("_jsonp"); jsonp {
		return false
	}
	name := strings.TrimPrefix(c.Route, "/")
	return name == w.Site.Platform.Core || w.Site.Lists != nil && w.Site.Lists(w.HTTP.Host, name)
}

// nonceQuestion asks for the nonce that the platform gives to the user of a login cookie.
func (w *Whole) nonceQuestion() (ask.Question, error) {
	p := &w.Site.Platform
	q, err := w.Question(ask.Question{Kind: ask.KindCaller, Method: http.MethodGet, Page: p.AjaxScript, Query: "action=rest-nonce"})
	if q.Form == call.Query {
		q.Base = strings.TrimSuffix(strings.TrimSuffix(q.Base, "index.php"), "/")
	}
	if w.Site.Scripts != nil {
		q.Base += w.Site.Scripts(w)
	}
	return q, err
}

// nonces are the texts that may be a nonce. The script answers "0" or "-1" to others.
var nonces = regexp.MustCompile(`^[0-9A-Za-z_]{4,64}$`)

// identify asks the platform who makes the claim. Errors wrap ask.ErrUndecided.
func (i *inquiry) identify(ctx context.Context) (identity, error) {
	if i.claim == ClaimKey && i.beside != nil {
		return i.identifyByList(ctx)
	}
	question := i.question
	if i.claim == ClaimNamespace {
		answer, err := ask.Send(ctx, i.backend, i.trace, i.nonce)
		if err != nil {
			return identity{}, err
		}
		nonce := strings.TrimSpace(string(answer.Body))
		if answer.Status != http.StatusOK || !nonces.MatchString(nonce) {
			return identity{}, nil // the platform takes the caller for anonymous
		}
		question.Header = maps.Clone(question.Header)
		question.Header[i.site.Platform.NonceHeader] = []string{nonce}
	}
	answer, err := i.put(ctx, question)
	if err != nil {
		return identity{}, err
	}
	return i.interpret(ctx, answer, &i.question)
}

// put sends a question, and keeps what it shows of the server.
func (i *inquiry) put(ctx context.Context, q ask.Question) (*ask.Answer, error) {
	answer, err := ask.Send(ctx, i.backend, i.trace, q)
	i.site.learn(i.host, &q, answer, err)
	return answer, err
}
