package routing

import (
	"encoding/json"
	"slices"

	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/signature"
)

// Directives says how directives that guard are found, and read before Caddy loads them.
type Directives struct {
	// Handler is the name of their module, "restwarden".
	Handler string
	// Read reads the configurations of all. What is wrong in them Caddy will say.
	Read func(all []json.RawMessage) []Said
}

// Said is what a directive says of itself.
type Said struct {
	// At is where it stands, and Imported where the snippet that holds it was imported.
	At, Imported string
	// Base is the folder that the site lies in, "/blog" or "".
	Base             string
	Platform, Prefix string // Prefix is the first one
	Observes         bool
	ReadingOff       bool // calls without a certain reading pass
	Headers, Cookies []string
	Signatures       []*signature.Signature
	// SpoolDir is the directory for spooled bodies, "" for the system's, and SpoolLimit how
	// much may lie there.
	SpoolDir   string
	SpoolLimit int64
}

// Directive is a directive that guards, as configured.
type Directive struct {
	Said

	// Hosts are those of all ways to it, in the order of the configuration.
	Hosts []string

	decides []string // see deciding

	visits  []*visit
	guards  bool     // a platform that this package knows
	flagged bool     // W03, or W02 for a part
	changed bool     // W12
	missed  []string // hosts whose requests do not come to it: W02

	platforms map[upstream]bool // what its plainest calls come to; see survey.platformOf
}

// Covers tells whether the directive guards a host, as far as its hosts say.
func (d *Directive) Covers(host string) bool {
	return d.Hosts == nil || slices.ContainsFunc(d.Hosts, func(pattern string) bool { return hosts.Fits(pattern, host) })
}
