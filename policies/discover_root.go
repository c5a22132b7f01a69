package policies

import (
	"context"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/index"
)

// rootReading is what a question for the REST root has found.
type rootReading struct {
	found  *index.Root // nil if there is none
	closed bool        // the root is not public
	answer *ask.Answer // with which it is closed
	why    error       // why there is none in the pretty form, an *ask.UnexpectedError
}

// readRoot asks for the REST root in its pretty form, and in its query form where the site
// has plain permalinks.
func readRoot(ctx context.Context, b ask.Backend, base string) (rootReading, error) {
	pretty, err := askRoot(ctx, b, ask.Question{Base: base})
	if err != nil || pretty.found != nil || pretty.closed {
		return pretty, err
	}
	query, err := askRoot(ctx, b, ask.Question{Base: base + "/index.php", Form: call.Query})
	if err == nil && query.found == nil && !query.closed {
		return pretty, nil
	}
	query.why = pretty.why
	return query, err
}

func askRoot(ctx context.Context, b ask.Backend, q ask.Question) (rootReading, error) {
	q.Kind, q.Route, q.As = ask.KindIndex, "/", ask.AsNobody
	a, err := b.Ask(ctx, q)
	switch {
	case err != nil:
		return rootReading{}, err
	case a.Denied() && (a.Code() != "" || a.Status == http.StatusUnauthorized):
		return rootReading{closed: true, answer: a}, nil
	case a.Status == http.StatusNotFound, a.Status == http.StatusForbidden:
		return rootReading{why: &ask.UnexpectedError{Answer: a}}, nil
	case a.Status != http.StatusOK:
		return rootReading{}, ask.Unexpected(a)
	}
	found, err := index.ParseRoot(a.Body)
	if err != nil {
		return rootReading{why: &ask.UnexpectedError{Answer: a}}, nil //nolint:nilerr // a page: there is no REST here
	}
	return rootReading{found: found}, nil
}
