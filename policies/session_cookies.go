package policies

import (
	"errors"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/policy"
)

// sessionCookiesEntry is the policy in the catalog.
var sessionCookiesEntry = policy.Entry{
	Name:  "session_cookies",
	Words: []string{"session_cookies"},
	New:   func() policy.Policy { return new(SessionCookies) },
}

// SessionCookies gives the login cookies, those of the admin screens included, the path and
// domain that reach the REST interface, for installs in a sub-folder whose cookies are
// issued for the install path (docs/project/interface 5, rules 3 and 4).
type SessionCookies struct {
	Path   string `json:"path,omitempty"`
	Domain string `json:"domain,omitempty"`

	platform platforms.Platform
}

// Configure takes session_cookies { path <path>  domain <domain> }.
func (p *SessionCookies) Configure(o policy.Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("session_cookies takes a block, no arguments")
	}
	return o.Each(func(o policy.Option) (err error) {
		switch o.Name {
		case "path":
			p.Path, err = o.One()
		case "domain":
			p.Domain, err = o.One()
		default:
			err = o.UnknownIn("path", "domain")
		}
		return err
	})
}

// Provision checks path and domain.
func (p *SessionCookies) Provision(site *policy.Site, _ policy.Settings) error {
	switch {
	case p.Path == "" && p.Domain == "":
		return errors.New("neither path nor domain is set")
	case p.Path != "" && !strings.HasPrefix(p.Path, "/"):
		return errors.New("path does not begin with /")
	case strings.ContainsAny(p.Path+p.Domain, "; ,\r\n"):
		return errors.New("path or domain cannot stand in a cookie")
	}
	p.platform = site.Platform
	return nil
}

// Rewrites asks for the header of every answer, since the login form is a page.
func (p *SessionCookies) Rewrites(r *policy.Request) policy.Rewrite {
	if r.Call.Kind == call.Refused {
		return policy.RewriteNothing
	}
	return policy.RewriteHeader
}

// Rewrite moves login cookies to the path and domain of p. A cookie that the platform sets
// for two paths becomes one. A browser may hold the cookie of an older login at the old path
// and would send that first, so the same answer ends it there. All other cookies stay as
// they are.
func (p *SessionCookies) Rewrite(_ *policy.Request, a *ask.Answer) error {
	if !slices.ContainsFunc(a.Header["Set-Cookie"], p.platform.LogsIn) {
		return nil
	}
	var lines []string
	for _, line := range a.Header["Set-Cookie"] {
		if p.platform.LogsIn(line) && !p.fits(line) {
			lines = last(lines, p.ending(line))
			line = p.moved(line)
		}
		if p.platform.LogsIn(line) {
			lines = last(lines, line)
		} else {
			lines = append(lines, line)
		}
	}
	a.Header["Set-Cookie"] = lines
	return nil
}

// last appends line and drops an earlier one of the same text: the order decides which
// cookie a browser keeps.
func last(lines []string, line string) []string {
	return append(slices.DeleteFunc(lines, func(l string) bool { return l == line }), line)
}

// fits tells whether the cookie has path and domain of p already. The last attribute of a
// name counts.
func (p *SessionCookies) fits(line string) bool {
	path, domain := "", ""
	for _, a := range strings.Split(line, ";")[1:] {
		switch name, value := attribute(a); name {
		case "path":
			path = value
		case "domain":
			domain = strings.TrimPrefix(value, ".")
		}
	}
	return (p.Path == "" || path == p.Path) && (p.Domain == "" || strings.EqualFold(domain, strings.TrimPrefix(p.Domain, ".")))
}

// moved returns the cookie with path and domain of p.
func (p *SessionCookies) moved(line string) string {
	more := ""
	if p.Path != "" {
		more += "; Path=" + p.Path
	}
	if p.Domain != "" {
		more += "; Domain=" + p.Domain
	}
	return without(line, func(name string) bool { return p.Path != "" && name == "path" || p.Domain != "" && name == "domain" }) + more
}

// ending returns the line that ends a cookie of this name, path and domain.
func (p *SessionCookies) ending(line string) string {
	cookie, attributes, some := strings.Cut(line, ";")
	name, _, _ := strings.Cut(cookie, "=")
	if some {
		attributes = ";" + attributes
	}
	return without(name+"="+attributes, func(name string) bool { return name == "expires" || name == "max-age" }) +
		"; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0"
}

// without returns the cookie without the attributes whose lower-case names drop is true for.
func without(line string, drop func(name string) bool) string {
	parts := strings.Split(line, ";")
	kept := parts[:1]
	for _, part := range parts[1:] {
		if name, _ := attribute(part); !drop(name) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ";")
}

// attribute reads " Path=/x" as "path" and "/x".
func attribute(part string) (name, value string) {
	name, value, _ = strings.Cut(part, "=")
	return strings.ToLower(strings.Trim(name, " \t")), strings.Trim(value, " \t")
}
