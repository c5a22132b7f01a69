package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// rootAnswer holds the fields that are needed of the REST root.
type rootAnswer struct {
	Home       string   `json:"home"`
	URL        string   `json:"url"`
	Namespaces []string `json:"namespaces"`
	Routes     ordered  `json:"routes"`
}

// ordered is an object of JSON whose names have an order, as the platform's routes have.
type ordered struct {
	names  []string
	values map[string]json.RawMessage
}

// UnmarshalJSON reads an object. The platform writes an empty one as an array; anything
// that is no object is empty.
func (o *ordered) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	o.values = map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		key, _ := name.(string)
		if _, twice := o.values[key]; !twice {
			o.names = append(o.names, key)
		}
		o.values[key] = value
	}
	return nil
}

// rootReading is what a question for the REST root has found.
type rootReading struct {
	found  *rootAnswer // nil if there is none
	closed bool        // the root is not public
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
		return rootReading{closed: true}, nil
	case a.Status == http.StatusNotFound, a.Status == http.StatusForbidden:
		return rootReading{why: &ask.UnexpectedError{Answer: a}}, nil
	case a.Status != http.StatusOK:
		return rootReading{}, ask.Unexpected(a)
	}
	found := new(rootAnswer)
	if json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), found) != nil {
		return rootReading{why: &ask.UnexpectedError{Answer: a}}, nil //nolint:nilerr // a page: there is no REST here
	}
	return rootReading{found: found}, nil
}
