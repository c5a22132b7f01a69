package siteroot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds an answer to Ask, in bytes.
const maxAnswer = 1 << 20

// Answer is what a site answers to Ask.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask sends one GET for a route of the site, "/wp/v2/users", with a query and these header
// lines. It returns what the site answers, also if that is a redirect. Headers go only to the
// scheme, host and port that Fetch was given.
func (r *Root) Ask(ctx context.Context, route string, query url.Values, header []string) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u, err := url.Parse(r.Address)
	if err != nil || r.Address == "" {
		return nil, errors.Join(errors.New("the root was read from a file"), err) // no site can be asked
	}
	if q := u.Query(); q.Has("rest_route") {
		query.Set("rest_route", route)
	} else {
		u.Path = strings.TrimSuffix(u.Path, "/") + route
	}
	u.RawQuery = query.Encode()
	if len(header) > 0 && r.named != origin(u) {
		return nil, errors.New("the root was read from another address than the named one")
	}
	req, err := question(ctx, u.String(), header)
	if err != nil {
		return nil, err
	}
	asker := client(transport, true)
	asker.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := asker.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
	}
	return &Answer{res.StatusCode, res.Header, body}, err
}
