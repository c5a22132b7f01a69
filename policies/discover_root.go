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

// readRoot asks for the REST root in its pretty form, and in its query form where the site
// has plain permalinks. It returns nil if there is none; closed means that the root is not
// public.
func readRoot(ctx context.Context, b ask.Backend, base string) (found *rootAnswer, closed bool, err error) {
	found, closed, err = askRoot(ctx, b, ask.Question{Base: base})
	if err == nil && found == nil && !closed {
		found, closed, err = askRoot(ctx, b, ask.Question{Base: base + "/index.php", Form: call.Query})
	}
	return found, closed, err
}

func askRoot(ctx context.Context, b ask.Backend, q ask.Question) (found *rootAnswer, closed bool, err error) {
	q.Kind, q.Route, q.As = ask.KindIndex, "/", ask.AsNobody
	a, err := b.Ask(ctx, q)
	switch {
	case err != nil:
		return nil, false, err
	case a.Denied():
		return nil, true, nil
	case a.Status == http.StatusNotFound:
		return nil, false, nil
	case a.Status != http.StatusOK:
		return nil, false, ask.Unexpected(a)
	}
	found = new(rootAnswer)
	if json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), found) != nil {
		return nil, false, nil //nolint:nilerr // a page: there is no REST here
	}
	return found, false, nil
}
