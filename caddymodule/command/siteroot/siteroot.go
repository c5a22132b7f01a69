// Package siteroot reads the REST root of a site, from its address or from a file in which
// somebody has saved it. The commands audit, plugins and check are made of it.
package siteroot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/index"
)

const (
	// maxRoot bounds a root, in bytes. Large shops have 5 MB.
	maxRoot = 64 << 20
	// patience is how long an answer may take: a large root takes seconds of PHP.
	patience = time.Minute
)

// Root is a root that was read.
type Root struct {
	*index.Root
	Text    []byte // as the site sent it
	Address string // that it was read from; "" for a file

	named string // the origin that Fetch was given
}

// Open reads a saved root.
func Open(file string) (*Root, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the user of the command names the file
	if err != nil {
		return nil, err
	}
	root, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: the file %w", file, err)
	}
	return root, nil
}

// Fetch reads the root of the site at an address: its home page, or the root itself. It sends
// one GET, with these header lines "Name: value", and a second one where the first finds no
// root, since a site with plain permalinks has it in the query form. prefix is the first
// segment of the pretty form, "wp-json". With header lines, a redirect to another scheme, host
// or port ends it: the lines may have a login. ErrUsage tells of a wrong address or line.
func Fetch(ctx context.Context, address, prefix string, header []string) (*Root, error) {
	return FetchThrough(ctx, transport, address, prefix, header)
}

// FetchThrough is Fetch with something else that sends the GET.
func FetchThrough(ctx context.Context, through http.RoundTripper, address, prefix string, header []string) (*Root, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pretty, query, err := addresses(address, prefix)
	if err != nil {
		return nil, err
	}
	root, err := get(ctx, through, pretty, header)
	if query == "" || !errors.Is(err, errNone) {
		return root, err
	}
	if second, again := get(ctx, through, query, header); again == nil {
		return second, nil
	}
	return nil, err
}

// addresses returns where the root may be. query is "" if the address names the root itself.
func addresses(address, prefix string) (pretty, query string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", "", usageError(err.Error())
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", "", usagef("%q is no address such as https://shop.example.com", address)
	case u.Query().Has("rest_route"), strings.Contains(u.Path+"/", "/"+prefix+"/"):
		return u.String(), "", nil
	case u.RawQuery != "" || u.Fragment != "":
		return "", "", usagef("%q is not the address of a site's home page", address)
	}
	home := strings.TrimSuffix(u.String(), "/")
	return home + "/" + prefix + "/", home + "/?rest_route=/", nil
}

// errNone tells that there is no root.
var errNone = errors.New("there is no REST root")

func get(ctx context.Context, through http.RoundTripper, address string, header []string) (*Root, error) {
	req, err := question(ctx, address, header)
	if err != nil {
		return nil, err
	}
	shown, named := req.URL.Redacted(), origin(req.URL)
	res, err := client(through, len(header) > 0).Do(req)
	if elsewhere, is := errors.AsType[*redirected](err); is {
		return nil, elsewhere
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxRoot+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", shown, err)
	case len(text) > maxRoot:
		return nil, fmt.Errorf("%s: the answer is larger than %d MiB", shown, maxRoot>>20)
	case len(header) > 0 && (res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden):
		return nil, fmt.Errorf("%s is closed to callers without a login, and takes nothing of -H for one (%s)", shown, answered(res))
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%s is closed to callers without a login (%s): add a header with -H, name the address of the site behind the gateway, or save the root and use --index", shown, answered(res))
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %w (%s)", shown, errNone, answered(res))
	}
	root, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (the answer %w)", shown, errNone, err)
	}
	root.Address, root.named = res.Request.URL.String(), named
	return root, nil
}

// answered is the status of an answer. The site's own words for the status are left out.
func answered(res *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode)))
}

func parse(text []byte) (*Root, error) {
	root, err := index.ParseRoot(text)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, errors.New("is no JSON")
	case err != nil:
		return nil, errors.New("is JSON, and no REST root") // the text of err names types of Go
	case len(root.Routes) == 0:
		return nil, errors.New("lists no routes")
	}
	return &Root{Root: root, Text: text}, nil
}
