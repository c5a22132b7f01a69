package siteroot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// ErrUsage tells that an address or a header line cannot be meant: nothing was sent.
var ErrUsage = errors.New("usage")

// usageError is an ErrUsage with a text of its own.
type usageError string

func (e usageError) Error() string        { return string(e) }
func (e usageError) Is(target error) bool { return target == ErrUsage }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// maxRedirects is how many redirects are followed.
const maxRedirects = 10

// transport bounds each step of an exchange; patience bounds all of them.
var transport = &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
	TLSHandshakeTimeout:   10 * time.Second,
	ResponseHeaderTimeout: patience,
	ForceAttemptHTTP2:     true,
	DisableKeepAlives:     true, // a command sends a few requests
}

// redirected ends a question whose headers a redirect would take elsewhere.
type redirected struct{ from, to *url.URL }

func (e *redirected) Error() string {
	return fmt.Sprintf("%s redirects to %s, and the headers of -H go nowhere but to the address that you name: name %s", e.from.Redacted(), e.to.Redacted(), origin(e.to))
}

// client follows redirects. With headers it follows those to the same scheme, host and port:
// the headers may have a login, and a site may not send it on.
func client(through http.RoundTripper, headers bool) *http.Client {
	return &http.Client{Transport: through, Timeout: patience, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		first := via[0]
		switch {
		case len(via) >= maxRedirects:
			return fmt.Errorf("%d redirects", maxRedirects)
		case headers && origin(req.URL) != origin(first.URL):
			return &redirected{first.URL, req.URL}
		case headers:
			req.Host = first.Host // net/http forgets it if the redirect has a host
		}
		return nil
	}}
}

// origin is scheme, host and port of an address.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	port := u.Port()
	if port == "" || port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port)
}

// question makes a GET with header lines "Name: value". Host names the site, where a server
// has several. Errors are ErrUsage.
func question(ctx context.Context, address string, lines []string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, usageError(err.Error())
	}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok, !httpguts.ValidHeaderFieldName(name), !httpguts.ValidHeaderFieldValue(value):
			return nil, usagef("%q is no header: write Name: value", line)
		case !strings.EqualFold(name, "Host"):
			req.Header.Add(name, value)
		case value == "" || !httpguts.ValidHostHeader(value):
			return nil, usagef("%q is no host: write Host: shop.example.com", line)
		default:
			req.Host = value
		}
	}
	return req, nil
}
