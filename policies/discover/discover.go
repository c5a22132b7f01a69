// Package discover asks a site for its REST root, says what of a configuration does not fit the site, and
// keeps what the roots of its hosts have shown.
package discover

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
)

// Root is what a site's REST root says.
type Root struct {
	Listed    []index.Listed // the routes in the order of registration, with what the root says of them
	Index     *index.Index   // of these routes; nil if the root is not public, is not there or lists none
	Home      string         // the site's home address as the root gives it; "" if it gives none
	QueryOnly bool           // there is no root in the pretty form
	Problems  []Problem      // what of the configuration does not fit the site
}

// Bounds of what is kept of a root, beside its index. No longer address is usable.
const (
	maxAddress = 2048
	maxProblem = 1024
)

// Reach says how a client's request reached the site.
type Reach struct {
	Host   string
	Secure bool   // by https
	Base   string // the site's base, unless a rewrite has removed it
	Pretty bool   // in the pretty form, with no rewrite before the gateway: as the root is asked for
}

// Discover reads the REST root of s once. It learns from it the shop's release and the site's
// routes, and what of the configuration does not fit the site. An error means that the
// root could not be read; the caller may try again later.
func Discover(ctx context.Context, s *policy.Site, b ask.Backend, by Reach) (*Root, error) {
	read, err := readRoot(ctx, b, by.Base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the REST root: %w", err)
	case read.Closed:
		return new(Root), nil // the site shows its root to no anonymous caller; nothing is learned
	case read.Found == nil:
		return (&Root{Problems: []Problem{rootProblem(ctx, s, b, by, read.why)}}).bounded(), nil
	}
	found := read.Found
	preview := found.Route(fmt.Sprintf(`/%s/orders/(?P<order_id>[\d]+)/refunds/preview`, s.Platform.Shop[2]))
	s.Release.Learn(by.Host, by.Base, preview != nil)
	root := &Root{Listed: found.Routes, Home: strings.Clone(found.Home[:min(len(found.Home), maxAddress)])}
	if len(found.Routes) > 0 { // some plugins take all routes out of the root
		root.Index = index.New(found.Patterns(), found.Namespaces)
	}
	Of(s).PutIndex(by.Host, root.Index)
	LearnTools(s, found, by.Host)
	Of(s).learnScripts(found, by.Host)
	if !slices.ContainsFunc(found.Namespaces, func(ns string) bool { return strings.EqualFold(ns, s.Platform.Core) }) {
		root.Problems = append(root.Problems, Problem{problemPlatform, fmt.Sprintf("the site has no namespace %s: check the platform named behind restwarden", s.Platform.Core)})
	}
	root.QueryOnly = read.why != nil
	if !by.Pretty {
		read.why = nil // a rewrite may make the pretty form work for clients
	}
	root.Problems = append(root.Problems, prefixProblems(s, found, read.why)...)
	root.Problems = append(root.Problems, addressProblems(s, found, by)...)
	return root.bounded(), nil
}

// bounded cuts the texts of the problems: the site may write anything into what they show.
func (r *Root) bounded() *Root {
	for i := range r.Problems {
		p := &r.Problems[i]
		p.Text = strings.ToValidUTF8(strings.Clone(p.Text[:min(len(p.Text), maxProblem)]), "")
	}
	return r
}

// rootProblem says why there may be no REST root. Where a base is set, the root may be
// outside of it.
func rootProblem(ctx context.Context, s *policy.Site, b ask.Backend, by Reach, why error) Problem {
	if by.Base != "" {
		if outside, err := readRoot(ctx, b, ""); err == nil && outside.Found != nil {
			return Problem{problemBase, fmt.Sprintf("there is no REST root at %s/%s/, but one at /%s/: check base", s.Base, s.Prefix, s.Prefix)}
		}
	}
	return Problem{problemRoot, fmt.Sprintf("there is no REST root at %s/%s/: %s. If it is elsewhere, check prefix and base", s.Base, s.Prefix, why)}
}

// prefixProblems compares the addresses that the site gives for its own routes with the
// configured prefix and base. why says why the pretty form has no REST root; it is nil if it
// has one. A site without pretty permalinks gives addresses in the query form.
func prefixProblems(s *policy.Site, found *index.Root, why error) []Problem {
	root := found.Route("/")
	if root == nil {
		return nil
	}
	href := root.Self()
	if href == "" {
		return nil
	}
	u, err := url.Parse(href)
	if err != nil || u.Query().Has("rest_route") {
		return nil
	}
	has, want := strings.TrimSuffix(u.Path, "/"), s.Base+"/"+s.Prefix
	text := fmt.Sprintf("the site's REST root is %s, the gateway looks for %s: check prefix and base", has, want)
	switch {
	case !strings.HasSuffix(has, "/"+s.Prefix):
		return []Problem{{problemPrefix, text}}
	case s.Base != "" && has != want:
		return []Problem{{problemBase, text}}
	case why != nil:
		return []Problem{{problemRoot, fmt.Sprintf("the REST root answers in the query form only, and not at %s/, where the site says that it is: save the permalink settings once more (%s)", has, why)}}
	}
	return nil
}

// addressProblems compares the site's own addresses with the address that clients use
// (docs/project/interface 5, rules 3 to 5).
func addressProblems(s *policy.Site, found *index.Root, by Reach) (problems []Problem) {
	home, err := url.Parse(found.Home)
	if err != nil || found.Home == "" {
		return nil
	}
	add := func(code, format string, args ...any) {
		problems = append(problems, Problem{code, fmt.Sprintf(format, args...)})
	}
	if u, err := url.Parse(found.URL); err == nil && found.URL != "" && u.Scheme != home.Scheme {
		add(problemScheme, "the home address is %s, the platform's is %s: mixed schemes drop authentication", home.Scheme, u.Scheme)
	}
	if path := strings.TrimSuffix(home.Path, "/"); s.Base != "" && !strings.EqualFold(path, s.Base) {
		add(problemBase, "the home address has the path %q, base is %q", path, s.Base)
	}
	if want := map[bool]string{true: "https", false: "http"}[by.Secure]; home.Scheme != want {
		add(problemScheme, "the home address is %s, clients come by %s: check trusted_proxies or the site address", home.Scheme, want)
	}
	if !isAlias(s, home.Host, by.Host) && !isAddress(by.Host) { // scanners use IP addresses
		add(problemHome, "the home address is %s, clients ask for %s", home.Host, by.Host)
	}
	return problems
}

// isAlias tells whether a client that asks for host means the site whose home is there:
// both are the same but for "www.", or the configuration names the home for this site.
func isAlias(s *policy.Site, home, host string) bool {
	if strings.EqualFold(strings.TrimPrefix(strings.ToLower(home), "www."), strings.TrimPrefix(strings.ToLower(host), "www.")) {
		return true
	}
	return slices.ContainsFunc(s.Hosts, func(pattern string) bool { return hosts.Fits(pattern, hosts.Name(home)) })
}

// isAddress tells whether a Host header holds an IP address instead of a name.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(hosts.Name(host), "[]"))
	return err == nil
}
