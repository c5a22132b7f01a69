// Package questions sends the gateway's own questions to the platform: as requests through the rest of
// the route, so that they use the upstreams, TLS and rewrites of the site. Of the client's request they
// take only what an allow-list names. What is read of sites in the background waits here for its turn.
package questions

import (
	"context"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
)

// Var is the variable of a request that is true for a question.
const Var = "restwarden.lookup"

// Site is what questions have to know of the site that they go to.
type Site struct {
	Prefix  string        // of the pretty form, without slashes
	Timeout time.Duration // of a question, for the error of one that is late
	// Placeholders are the names of those that handlers of the site define.
	Placeholders []string
	// Left is called for a question that nobody waits for any more. The channel is closed once
	// the question has ended.
	Left func(ended <-chan struct{})
	// Asking and Answered hear of each question of a dry run, before and after. Both are nil for
	// any other site. A question has the context that Asking returns.
	Asking   func(ctx context.Context, q *ask.Question) context.Context
	Answered func(ctx context.Context, q *ask.Question, a *ask.Answer, err error)
}
