package siteroot

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds an answer to Ask, in bytes.
const maxAnswer = 1 << 20

// errFile tells that a root is of a file: no site can be asked.
var errFile = errors.New("the root was read from a file")

// Answer is what a site answers to Ask.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask sends one GET for a route of the site, "/wp/v2/users", with a query and these header
// lines. It returns what the site answers.
func (r *Root) Ask(ctx context.Context, route string, query url.Values, header []string) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u, err := url.Parse(r.Address)
	if err != nil || r.Address == "" {
		return nil, errors.Join(errFile, err)
	}
	if q := u.Query(); q.Has("rest_route") {
		query.Set("rest_route", route)
	} else {
		u.Path = strings.TrimSuffix(u.Path, "/") + route
	}
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		req.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	client := http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return &Answer{res.StatusCode, res.Header, body}, err
}
