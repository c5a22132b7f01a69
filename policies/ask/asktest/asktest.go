// Package asktest is a platform for tests: it answers from a function and keeps the
// questions.
package asktest

import (
	"cmp"
	"context"
	"net/http"
	"sync"

	"github.com/restwarden/restwarden/policies/ask"
)

// Platform is an ask.Backend that answers from a function.
type Platform struct {
	Answer func(ask.Question) (*ask.Answer, error)

	mu    sync.Mutex
	asked []ask.Question
}

// Ask implements ask.Backend.
func (p *Platform) Ask(_ context.Context, q ask.Question) (*ask.Answer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	return p.Answer(q)
}

// Detach implements ask.Backend.
func (p *Platform) Detach() ask.Backend { return p }

// Questions returns what was asked, in order.
func (p *Platform) Questions() []ask.Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]ask.Question(nil), p.asked...)
}

// Answering gives every question the same answer.
func Answering(status int, body string) *Platform {
	return &Platform{Answer: func(ask.Question) (*ask.Answer, error) { return JSON(status, body), nil }}
}

// Routed answers by method and route of the question, "GET /wp/v2/users/me"; unknown
// ones are 404 rest_no_route.
func Routed(answers map[string]*ask.Answer) *Platform {
	return &Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if a, ok := answers[cmp.Or(q.Method, http.MethodGet)+" "+q.Route]; ok {
			return a, nil
		}
		return JSON(http.StatusNotFound, `{"code":"rest_no_route"}`), nil
	}}
}

// Failing gives no answer.
func Failing(err error) *Platform {
	return &Platform{Answer: func(ask.Question) (*ask.Answer, error) { return nil, err }}
}

// JSON is an answer with a JSON body.
func JSON(status int, body string) *ask.Answer {
	return &ask.Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
}
