package routing

import (
	"cmp"
	"slices"

	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/signature"
)

// Directive is a directive that guards, as configured.
type Directive struct {
	// At is where it stands, and Imported where the snippet that holds it was imported.
	At, Imported string
	// Hosts are those of all ways to it, in the order of the configuration.
	Hosts []string
	// SpoolDir is the directory for spooled bodies, "" for the system's, and SpoolLimit how
	// much may lie there.
	SpoolDir   string
	SpoolLimit int64

	platform, base, prefix string
	observes, callOff      bool
	headers, cookies       []string
	signatures             []*signature.Signature
	decides                []string // see deciding

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

// Base is the folder that the site lies in, "/blog" or "".
func (d *Directive) Base() string { return d.base }

func readDirective(s step) *Directive {
	var said struct {
		At          string            `json:"at"`
		Imported    map[string]string `json:"imported"` // by line; "" stands for the directive's own
		Platform    string            `json:"platform"`
		Base        string            `json:"base"`
		Prefix      call.Prefixes     `json:"prefix"`
		Mode        string            `json:"mode"`
		SpoolDir    string            `json:"spool_dir"`
		SpoolLimit  int64             `json:"spool_limit"`
		UploadLimit int64             `json:"upload_limit"`
		Credentials struct {
			Headers []string `json:"headers"`
			Cookies []string `json:"cookies"`
		} `json:"credentials"`
		Policies struct {
			Call struct {
				Off bool `json:"off"`
			} `json:"call"`
			Signature signature.Signatures `json:"signature"`
		} `json:"policies"`
	}
	_ = jsonv1.Unmarshal(s.json(), &said) // Caddy will say what is wrong
	return &Directive{
		SpoolDir: said.SpoolDir, SpoolLimit: cmp.Or(said.SpoolLimit, budget.SpoolFor(cmp.Or(said.UploadLimit, call.DefaultUploadLimit))),
		At: said.At, Imported: said.Imported[""], platform: said.Platform, base: said.Base, prefix: said.Prefix.First(),
		observes: said.Mode == "observe", callOff: said.Policies.Call.Off,
		headers: said.Credentials.Headers, cookies: said.Credentials.Cookies, signatures: said.Policies.Signature.Signatures,
	}
}
