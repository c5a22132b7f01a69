package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Discover reads the REST root once and learns the shop's release from it. It
// returns what of the configuration does not fit the site, in words for the
// log; secure and host say how clients reach the site. An error means that the
// root could not be read: it may be tried again later.
func (s *Site) Discover(ctx context.Context, b Backend, secure bool, host string) (problems []string, err error) {
	a, err := b.Ask(ctx, Question{Kind: LookupIndex, Route: "/", As: AsNobody, Base: s.Base})
	if err != nil {
		return nil, fmt.Errorf("read the REST root: %w", err)
	}
	switch {
	case a.Status == http.StatusNotFound && errorCode(a) != string(CodeNoRoute):
		return []string{fmt.Sprintf("there is no REST root at %s/%s/: check prefix and base", s.Base, s.Prefix)}, nil
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden:
		return nil, nil // the site closes it; nothing is learnt
	case a.Status != http.StatusOK:
		return nil, fmt.Errorf("read the REST root: %w", unexpected(a))
	}
	var root struct {
		Home       string                     `json:"home"`
		URL        string                     `json:"url"`
		Namespaces []string                   `json:"namespaces"`
		Routes     map[string]json.RawMessage `json:"routes"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(a.Body, []byte("\ufeff")), &root); err != nil {
		return nil, fmt.Errorf("read the REST root: %w: %w", ErrUndecided, err)
	}
	preview := fmt.Sprintf(`/%s/orders/(?P<order_id>[\d]+)/refunds/preview`, s.Platform.Shop[2])
	_, listed := root.Routes[preview]
	s.Release.Learn(listed)
	if !listsNamespace(root.Namespaces, s.Platform.Core) {
		problems = append(problems, fmt.Sprintf("the site has no namespace %s: check the platform named behind restwarden", s.Platform.Core))
	}
	return append(problems, s.addressProblems(root.Home, root.URL, secure, host)...), nil
}

func listsNamespace(namespaces []string, ns string) bool {
	for _, n := range namespaces {
		if strings.EqualFold(n, ns) {
			return true
		}
	}
	return false
}

// addressProblems compares the site's own addresses with how it is reached
// (interface document section 5, rules 3 to 5).
func (s *Site) addressProblems(home, site string, secure bool, host string) (problems []string) {
	h, err := url.Parse(home)
	if err != nil || home == "" {
		return nil
	}
	if u, err := url.Parse(site); err == nil && site != "" && u.Scheme != h.Scheme {
		problems = append(problems, fmt.Sprintf("the home address is %s, the platform's is %s: mixed schemes drop authentication", h.Scheme, u.Scheme))
	}
	if path := strings.TrimSuffix(h.Path, "/"); !strings.EqualFold(path, s.Base) && s.Base != "" {
		problems = append(problems, fmt.Sprintf("the home address has the path %q, base is %q", path, s.Base))
	}
	if want := map[bool]string{true: "https", false: "http"}[secure]; h.Scheme != want {
		problems = append(problems, fmt.Sprintf("the home address is %s, clients come by %s: check trusted_proxies or the site address", h.Scheme, want))
	}
	if !strings.EqualFold(h.Host, host) {
		problems = append(problems, fmt.Sprintf("the home address is %s, clients ask for %s", h.Host, host))
	}
	return problems
}
