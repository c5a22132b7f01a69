package discover

import (
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
)

// Roots is what the REST roots of a site have shown when they were last read, by the host as it was sent, since
// another host may be another shop. Its methods may be called on nil, which keeps nothing.
type Roots struct {
	indexes hosts.Table[*index.Index]
	tools   hosts.Table[*index.Index] // the routes that are servers of tools
	scripts hosts.Table[string]       // directories of the platform's scripts that are not the base
}

var roots = policy.NewSiteSlot[Roots]()

// Keep makes a site keep what its REST roots show. It is called before the first request.
func Keep(s *policy.Site, known *Roots) {
	roots.Keep(s, known)
	s.Routes = known.mayAnswer
}

// Of returns what the REST roots of a site have shown, or nil if the site keeps nothing.
func Of(s *policy.Site) *Roots { return roots.Of(s) }

// Index returns the routes of the shop that answers for a host, or nil.
func (r *Roots) Index(host string) *index.Index {
	if r == nil {
		return nil
	}
	x, _ := r.indexes.Get(host)
	return x
}

// mayAnswer returns the routes of the shop that answers for a host, or each one's where nothing is known of this host: it
// may be another spelling of one that is known.
func (r *Roots) mayAnswer(host string) (own *index.Index, others []*index.Index) {
	if own = r.Index(host); own != nil {
		return own, nil
	}
	return nil, r.Indexes()
}

// Indexes returns the routes of all shops that are known, each once.
func (r *Roots) Indexes() (all []*index.Index) {
	if r == nil {
		return nil
	}
	seen := map[*index.Index]bool{nil: true}
	r.indexes.Each(func(_ string, x *index.Index) {
		if !seen[x] {
			seen[x], all = true, append(all, x)
		}
	})
	return all
}

// PutIndex keeps the routes of the shop that answers for a host.
func (r *Roots) PutIndex(host string, x *index.Index) {
	if r != nil {
		r.indexes.Put(host, x)
	}
}

// HasTools tells whether a route of a host is a server of tools (docs/platform IV.1).
func (r *Roots) HasTools(host, route string) bool {
	if r == nil {
		return false
	}
	x, _ := r.tools.Get(host)
	_, ok := x.Pattern(route)
	return ok
}

// PutTools keeps which routes of a host are servers of tools; nil stands for none.
func (r *Roots) PutTools(host string, x *index.Index) {
	if r != nil {
		r.tools.Put(host, x)
	}
}

// LearnTools keeps which routes of a host are servers of tools: one endpoint with exactly the methods
// POST, GET and DELETE, without arguments (docs/platform IV.1).
func LearnTools(s *policy.Site, found *index.Root, host string) {
	var routes []string
	for i := range found.Routes {
		if found.Routes[i].ServesTools() {
			routes = append(routes, found.Routes[i].Pattern)
		}
	}
	var x *index.Index // kept for most sites, which have none: a host that is not in the table costs a lock
	if routes != nil {
		x = index.New(routes, found.Namespaces)
	}
	Of(s).PutTools(host, x)
}

// ScriptDir returns the directory of the platform's scripts on a host, below the base: "",
// or "/core" where the REST root says so.
func (r *Roots) ScriptDir(host string) string {
	if r == nil {
		return ""
	}
	dir, _ := r.scripts.Get(host)
	return dir
}

// learnScripts keeps where the platform's scripts are: an install may lie in a directory
// below the site's home.
func (r *Roots) learnScripts(found *index.Root, host string) {
	if r == nil {
		return
	}
	dir := ""
	home, errHome := url.Parse(found.Home)
	install, errInstall := url.Parse(found.URL)
	if errHome == nil && errInstall == nil {
		rest, below := strings.CutPrefix(strings.TrimSuffix(install.EscapedPath(), "/"), strings.TrimSuffix(home.EscapedPath(), "/"))
		if below && strings.HasPrefix(rest, "/") && len(rest) <= maxAddress {
			dir = strings.Clone(rest)
		}
	}
	if _, known := r.scripts.Get(host); known || dir != "" {
		r.scripts.Put(host, dir)
	}
}
