package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// root holds the fields that are needed of the REST root.
type root struct {
	Home       string                     `json:"home"`
	URL        string                     `json:"url"`
	Namespaces []string                   `json:"namespaces"`
	Routes     map[string]json.RawMessage `json:"routes"`
}

// Reach says how a client's request reached the site.
type Reach struct {
	Host   string
	Secure bool   // by https
	Base   string // the site's base, unless a rewrite has removed it
}

// Discover reads the REST root once and learns the shop's release from it. It returns, in
// words for the log, what of the configuration does not fit the site. An error means that
// the root could not be read; the caller may try again later.
func (s *Site) Discover(ctx context.Context, b ask.Backend, by Reach) (problems []string, err error) {
	found, closed, err := readRoot(ctx, b, by.Base, call.Pretty)
	if err == nil && found == nil && !closed { // plain permalinks have no pretty form
		found, closed, err = readRoot(ctx, b, by.Base, call.Query)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the REST root: %w", err)
	case closed:
		return nil, nil // the site shows its root to no anonymous caller; nothing is learned
	case found == nil:
		return []string{fmt.Sprintf("there is no REST root at %s/%s/: check prefix and base", s.Base, s.Prefix)}, nil
	}
	_, listed := found.Routes[fmt.Sprintf(`/%s/orders/(?P<order_id>[\d]+)/refunds/preview`, s.Platform.Shop[2])]
	s.Release.Learn(by, listed)
	if !slices.ContainsFunc(found.Namespaces, func(ns string) bool { return strings.EqualFold(ns, s.Platform.Core) }) {
		problems = append(problems, fmt.Sprintf("the site has no namespace %s: check the platform named behind restwarden", s.Platform.Core))
	}
	problems = append(problems, s.prefixProblems(found)...)
	return append(problems, s.addressProblems(found, by)...), nil
}

// HasScripts tells whether the site really has the scripts whose forms are forwarded
// unread. Without an action admin-ajax.php says "0", and async-upload.php sends an
// anonymous caller to the login page; a front controller in their place does neither.
// HasScripts returns false for any other answer.
func (s *Site) HasScripts(ctx context.Context, b ask.Backend, by Reach) bool {
	ask := func(page string) *ask.Answer {
		a, err := b.Ask(ctx, ask.Question{Kind: ask.KindIndex, Page: page, As: ask.AsNobody, Base: by.Base})
		if err != nil {
			return new(ask.Answer)
		}
		return a
	}
	a := ask(s.Platform.AjaxScript)
	if a.Status != http.StatusOK && a.Status != http.StatusBadRequest || string(bytes.TrimSpace(a.Body)) != "0" {
		return false
	}
	a = ask(s.Platform.UploadScript)
	login, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	return a.Status == http.StatusFound && strings.HasSuffix(login, "-login.php")
}

// readRoot asks for the REST root in one of its forms. It returns nil if there is none;
// closed means that the root is not public.
func readRoot(ctx context.Context, b ask.Backend, base string, form call.Form) (found *root, closed bool, err error) {
	q := ask.Question{Kind: ask.KindIndex, Route: "/", As: ask.AsNobody, Base: base}
	if form == call.Query {
		q.Form, q.Base = form, base+"/index.php"
	}
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
	found = new(root)
	if json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), found) != nil {
		return nil, false, nil //nolint:nilerr // a page: there is no REST here
	}
	return found, false, nil
}

// prefixProblems compares the addresses that the site gives for its own routes with the
// configured prefix and base.
func (s *Site) prefixProblems(found *root) []string {
	var self struct {
		Links struct {
			Self json.RawMessage `json:"self"`
		} `json:"_links"`
	}
	if json.Unmarshal(found.Routes["/"], &self) != nil {
		return nil
	}
	var href string
	var hrefs []struct{ Href string }
	if json.Unmarshal(self.Links.Self, &hrefs) == nil && len(hrefs) > 0 {
		href = hrefs[0].Href
	} else if json.Unmarshal(self.Links.Self, &href) != nil {
		return nil
	}
	u, err := url.Parse(href)
	if err != nil || u.Query().Has("rest_route") {
		return nil
	}
	if want, has := s.Base+"/"+s.Prefix, strings.TrimSuffix(u.Path, "/"); s.Base != "" && has != want || !strings.HasSuffix(has, "/"+s.Prefix) {
		return []string{fmt.Sprintf("the site's REST root is %s, the gateway looks for %s: check prefix and base", has, want)}
	}
	return nil
}

// addressProblems compares the site's own addresses with the address that clients use
// (docs/interface 5, rules 3 to 5).
func (s *Site) addressProblems(found *root, by Reach) (problems []string) {
	home, err := url.Parse(found.Home)
	if err != nil || found.Home == "" {
		return nil
	}
	if u, err := url.Parse(found.URL); err == nil && found.URL != "" && u.Scheme != home.Scheme {
		problems = append(problems, fmt.Sprintf("the home address is %s, the platform's is %s: mixed schemes drop authentication", home.Scheme, u.Scheme))
	}
	if path := strings.TrimSuffix(home.Path, "/"); s.Base != "" && !strings.EqualFold(path, s.Base) {
		problems = append(problems, fmt.Sprintf("the home address has the path %q, base is %q", path, s.Base))
	}
	if want := map[bool]string{true: "https", false: "http"}[by.Secure]; home.Scheme != want {
		problems = append(problems, fmt.Sprintf("the home address is %s, clients come by %s: check trusted_proxies or the site address", home.Scheme, want))
	}
	if !strings.EqualFold(home.Host, by.Host) && !isAddress(by.Host) { // scanners use IP addresses
		problems = append(problems, fmt.Sprintf("the home address is %s, clients ask for %s", home.Host, by.Host))
	}
	return problems
}

// isAddress tells whether a Host header holds an IP address instead of a name.
func isAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}
