package discover

import (
	"context"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/index"
)

// RootAnswer is what a question for the REST root has found.
type RootAnswer struct {
	Found  *index.Root // nil if there is none
	Closed bool        // the root is not public
	Answer *ask.Answer // with which it is closed
	why    error       // why there is none in the pretty form, an *ask.UnexpectedError
}

// readRoot asks for the REST root in its pretty form, and in its query form where the site
// has plain permalinks.
func readRoot(ctx context.Context, b ask.Backend, base string) (RootAnswer, error) {
	pretty, err := AskRoot(ctx, b.Ask, ask.Question{Base: base})
	if err != nil || pretty.Found != nil || pretty.Closed {
		return pretty, err
	}
	query, err := AskRoot(ctx, b.Ask, ask.Question{Base: base + "/index.php", Form: call.Query})
	if err == nil && query.Found == nil && !query.Closed {
		return pretty, nil
	}
	query.why = pretty.why
	return query, err
}

// AskRoot puts q to the root as nobody. The error is one of put, which puts a question as [ask.Backend] does.
func AskRoot(ctx context.Context, put func(context.Context, ask.Question) (*ask.Answer, error), q ask.Question) (RootAnswer, error) {
	q.Kind, q.Route, q.As = ask.KindIndex, "/", ask.AsNobody
	a, err := put(ctx, q)
	switch {
	case err != nil:
		return RootAnswer{}, err
	case a.Denied() && (a.Code() != "" || a.Status == http.StatusUnauthorized):
		return RootAnswer{Closed: true, Answer: a}, nil
	case a.Status == http.StatusNotFound, a.Status == http.StatusForbidden:
		return RootAnswer{why: &ask.UnexpectedError{Answer: a}}, nil
	case a.Status != http.StatusOK:
		return RootAnswer{}, ask.Unexpected(a)
	}
	found, err := index.ParseRoot(a.Body)
	if err != nil {
		return RootAnswer{why: &ask.UnexpectedError{Answer: a}}, nil //nolint:nilerr // a page: there is no REST here
	}
	return RootAnswer{Found: found}, nil
}
