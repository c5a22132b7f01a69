package policies

import (
	"errors"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// SessionCookies gives the login cookies the path and domain that reach the
// REST interface, for installs in a sub-folder whose cookies are issued for the
// install path (docs/interface 5, rules 3 and 4).
type SessionCookies struct {
	Path   string `json:"path,omitempty"`
	Domain string `json:"domain,omitempty"`

	platform call.Platform
}

// Configure takes session_cookies { path <path>  domain <domain> }.
func (p *SessionCookies) Configure(o Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("session_cookies takes a block, no arguments")
	}
	return o.Each(func(o Option) (err error) {
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
func (p *SessionCookies) Provision(site *Site, _ Settings) error {
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
func (p *SessionCookies) Rewrites(r *Request) Rewrite {
	if r.Call.Kind == call.Refused {
		return RewriteNothing
	}
	return RewriteHeader
}

// Rewrite changes the attributes of login cookies only. The cookies of the admin screens,
// which REST does not need, stay as they are.
func (p *SessionCookies) Rewrite(_ *Request, a *ask.Answer) error {
	cookies := a.Header["Set-Cookie"]
	for i, line := range cookies {
		if strings.HasPrefix(line, p.platform.LoginCookie()) {
			cookies[i] = p.retarget(line)
		}
	}
	return nil
}

func (p *SessionCookies) retarget(line string) string {
	attributes := strings.Split(line, ";")
	kept := attributes[:1]
	for _, a := range attributes[1:] {
		name, _, _ := strings.Cut(strings.TrimSpace(a), "=")
		if p.Path != "" && strings.EqualFold(name, "path") || p.Domain != "" && strings.EqualFold(name, "domain") {
			continue
		}
		kept = append(kept, a)
	}
	if p.Path != "" {
		kept = append(kept, " Path="+p.Path)
	}
	if p.Domain != "" {
		kept = append(kept, " Domain="+p.Domain)
	}
	return strings.Join(kept, ";")
}
