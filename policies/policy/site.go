package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
)

// Site is what one directive guards: the hosts that the configuration names, and the
// base. Everything that is counted, limited or kept belongs to a site.
type Site struct {
	*caller.Site
	// Name is the first host and the base, "shop.example.com/blog"; "*:8080" names the
	// site of a directive for all hosts. It is the same on all gateways that guard the
	// site, wherever the directive stands. Clients do not choose it.
	Name string
	// Server identifies the server that listens for the site, by its addresses.
	Server string
	// Apart tells the ways to one site apart that a configuration has; "" where there is one
	// alone. Unlike Server it is the same on gateways that listen on other addresses.
	Apart   string
	Base    string   // "" or "/blog"
	Hosts   []string // as the configuration names them, "*.example.com"; none for all hosts
	Release *Release // of the shop
	// Switches are what the owner has switched on; nil if nothing can be switched.
	Switches *Switches

	// Indexes are the routes that the REST roots listed, by host, since another host may be
	// another shop. With nil, none are kept.
	Indexes *hosts.Table[*index.Index]
	// Tools are those routes that the REST roots show as servers of tools, by host. With nil,
	// none are kept.
	Tools *hosts.Table[*index.Index]
	// ScriptDirs are the directories of the platform's scripts, by host, where they are not
	// the base. With nil, none are kept.
	ScriptDirs *hosts.Table[string]
	// Confirmations are the calls that wait for a person. With nil, none are kept, and none
	// can pass.
	Confirmations *confirm.Ledger

	// Signatures are the names of the declared signatures, which rules may name.
	Signatures []string

	dots dots // of the chain
}

// Shop identifies in a Store's key the shop that answers r: site and server, since a
// client may send any Host, then the host as sent, the form, then the base, also that of the
// client's own path. Another spelling of the host may be another shop, and so may "/blog" of
// the query form beside "/blog/wp-json"; to tell them apart costs no more than a question.
// Behind a trusted proxy a platform of several shops may go by X-Forwarded-Host, and questions
// carry it.
func (s *Site) Shop(r *Request) string { return s.ShopApart(r, s.Server) }

// ShopApart is Shop for facts that hold on all gateways: apart stands for the server.
func (s *Site) ShopApart(r *Request, apart string) string {
	c := r.Whole.Call
	parts := [...]string{s.Name, apart, r.HTTP.Host, strings.Join(r.HTTP.Header["X-Forwarded-Host"], ","), c.FormName(), c.Base, "", ""}
	n := 6
	if c.Rewritten != nil {
		parts[6], parts[7] = c.Rewritten.Client, c.Rewritten.Script
		n = len(parts)
	}
	var room [256]byte
	text := room[:0]
	for _, part := range parts[:n] {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Code returns c as this site sends it. The shop's codes get the platform's prefix.
func (s *Site) Code(c Code) Code {
	switch c {
	case CodeInvalidID, CodeTotalMismatch, CodeComputeTotals,
		ask.CodeCannotBatch, ask.CodeCannotCreate, ask.CodeCannotDelete, ask.CodeCannotEdit:
		return Code(s.Platform.ErrorPrefix) + c
	default:
		return c
	}
}

// Index returns the routes of the shop that answers for a host, as its REST root was last
// read, or nil. The host counts as sent.
func (s *Site) Index(host string) *index.Index {
	if s.Indexes == nil {
		return nil
	}
	x, _ := s.Indexes.Get(host)
	return x
}

// HasTools tells whether the REST root of a host, as it was last read, shows a route as a
// server of tools (docs/platform IV.1).
func (s *Site) HasTools(host, route string) bool {
	if s.Tools == nil {
		return false
	}
	x, _ := s.Tools.Get(host)
	_, ok := x.Pattern(route)
	return ok
}

// ListsNamespace tells whether the REST root of a host, as it was last read, lists a
// namespace.
func (s *Site) ListsNamespace(host, namespace string) bool { return s.Index(host).Lists(namespace) }

// ScriptDir returns the directory of the platform's scripts on a host, below the base: "",
// or "/core" where the REST root says so.
func (s *Site) ScriptDir(host string) string {
	if s.ScriptDirs == nil {
		return ""
	}
	dir, _ := s.ScriptDirs.Get(host)
	return dir
}
