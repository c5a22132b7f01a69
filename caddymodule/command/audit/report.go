// Package audit says what reaches a site under its rules: which routes of its REST root for
// whom, what its plugins need, what of theirs is risky, and which lines open just enough.
//
// It reasons about the rules, as package review proves claims, and sends nothing.
package audit

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// Report is what an audit finds. It is the JSON of the command. An endpoint is a route with
// one of its methods.
type Report struct {
	Version int    `json:"v"` // 1
	Site    string `json:"site"`
	// Address is where the REST root was read; "" for a file.
	Address string `json:"address,omitempty"`
	// Gateway tells that a gateway guards the site, and LoginOnly that it has login_only.
	Gateway   bool `json:"gateway"`
	LoginOnly bool `json:"login_only"`
	// Configured tells that there is a configuration, with a directive or without.
	Configured bool `json:"configured"`
	// NotEnforced says what keeps the rules from refusing calls, "mode observe (Caddyfile:3)".
	NotEnforced string `json:"not_enforced,omitempty"`
	// Certain tells that no call passes the rules as Limits say. Else the reaches are the least
	// that gets through: None is not certain.
	Certain bool `json:"certain"`
	// Limits say what the report does not cover, in a sentence each.
	Limits []string `json:"limits"`

	Totals Totals `json:"totals"`
	// Writes are the endpoints that callers without a login may write to. The rows of Routes
	// are all endpoints.
	Writes            []Endpoint `json:"anonymous_writes"`
	Holes             []Hole     `json:"holes"`
	Plugins           []Plugin   `json:"plugins"`
	UnknownNamespaces []string   `json:"unknown_namespaces"`
	// Propose are the lines that, beside login_only, open what the plugins need and close
	// what is risky. Proposed is what then reaches the site.
	Propose  []string `json:"propose"`
	Proposed Totals   `json:"proposed"`
	Routes   []Route  `json:"routes"`
	// Failed is what --fail-on has found, and Undecided what it could not decide.
	Failed    []Failure `json:"failed,omitempty"`
	Undecided []Failure `json:"undecided,omitempty"`

	past []string // as in Input
}

// Reach says how much of an endpoint a caller reaches.
type Reach string

// The reaches. Some means that it depends on the rest of the address. Unknown means that the
// pattern of the route cannot be reasoned about.
const (
	All     Reach = "all"
	Some    Reach = "some"
	None    Reach = "none"
	Unknown Reach = "unknown"
)

// Totals counts routes and, for each caller, endpoints.
type Totals struct {
	Routes        int   `json:"routes"`
	Endpoints     int   `json:"endpoints"`
	Anonymous     Count `json:"anonymous"`
	Subscriber    Count `json:"subscriber"`
	Editor        Count `json:"editor"`
	Administrator Count `json:"administrator"`
	// Scopes are the endpoints that a credential of each scope of the site reaches, by the names of the scopes.
	Scopes map[string]Count `json:"scopes,omitempty"`
}

// Count counts endpoints by how much of them is reached.
type Count struct {
	All     int `json:"all"`
	Some    int `json:"some"`
	None    int `json:"none"`
	Unknown int `json:"unknown"`
}

// Route is a route of the REST root.
type Route struct {
	// Name is what the gateway's log calls the route, or the site's own pattern where it
	// cannot be reasoned about.
	Name      string   `json:"route"`
	Namespace string   `json:"namespace"`
	Methods   []Method `json:"methods"`
}

// Method says who reaches a route with a method.
type Method struct {
	Method        string `json:"method"`
	Anonymous     Reach  `json:"anonymous"`
	Subscriber    Reach  `json:"subscriber"`
	Editor        Reach  `json:"editor"`
	Administrator Reach  `json:"administrator"`
	// Scopes is what a credential of each scope reaches, by the names of the scopes. What a rule asks of the user of the
	// credential, such as a role, is not known: then it is Some.
	Scopes map[string]Reach `json:"scopes,omitempty"`
	// Proposed is what callers without a login reach with login_only and Report.Propose.
	Proposed Reach `json:"proposed"`
	// Rule decides about callers without a login: the one that refuses them, or else the one
	// that lets them pass; "" where none does. At is where the rule stands.
	Rule string `json:"rule,omitempty"`
	At   string `json:"at,omitempty"`
	// Passes and Refused are examples of a route that Some callers reach in part.
	Passes  string `json:"passes,omitempty"`
	Refused string `json:"refused,omitempty"`
	// Parts tells which part Some callers without a login reach: it is a digest, and equal in
	// two reports if the part and the rules that decide on it are.
	Parts string `json:"parts,omitempty"`
	// Patterns are the site's own patterns with the name of the route and this method, sorted.
	Patterns []string `json:"patterns"`
}

// Endpoint is a route with a method, and how much of it callers without a login reach.
type Endpoint struct {
	Method    string `json:"method"`
	Route     string `json:"route"`
	Anonymous Reach  `json:"anonymous"`
	// Pattern is the one pattern of the route that a Diff is about; "" for all of them.
	Pattern string `json:"pattern,omitempty"`
}

// String returns "POST /cf/v1/send", or "POST /a/:id, pattern /a/(?P<id>[a-z]+)".
func (e Endpoint) String() string {
	if e.Pattern != "" {
		return e.Method + " " + e.Route + ", pattern " + e.Pattern
	}
	return e.Method + " " + e.Route
}

// Gateway is a directive, as an audit asks it.
type Gateway struct {
	Chain *policy.Chain
	// Beside are the chains of other directives that may judge calls of the site, too. What
	// not all chains agree on is not known.
	Beside []*policy.Chain
}

// limits says which calls of the site of a root the gateway cannot decide, and which its rules miss.
func (g *Gateway) limits(root *index.Root) (limits []string) {
	if g == nil {
		return nil
	}
	site := review.NewInstalled(root)
	var undecided, missed []string // all directives of a site say the same of what is undecided
	for _, chain := range append([]*policy.Chain{g.Chain}, g.Beside...) {
		for _, odd := range review.OddOn(chain, site) {
			switch odd.Code {
			case "W24":
				undecided = []string{"W24: " + strings.ToLower(odd.Text[:1]) + odd.Text[1:] + "."}
			case "W25":
				missed = append(missed, "W25: "+odd.Text+": "+odd.Do+".")
			}
		}
	}
	return append(undecided, missed...)
}

// Input is what a report is made of.
type Input struct {
	Site, Address string
	Root          *index.Root
	// Now is the gateway of the site; nil if there is none.
	Now       *Gateway
	LoginOnly bool
	// Configured and NotEnforced are as in a Report.
	Configured  bool
	NotEnforced string
	// Past are the limits by which calls may pass the rules, Limits all others.
	Past, Limits []string
	// With returns the gateway as it would be with login_only and more lines.
	With func(lines []string) (*Gateway, error)
}

// New makes a report. The error is keyset.ErrTooMany, or that of With.
func New(in Input) (*Report, error) {
	now := in.Now
	if now == nil {
		now = open()
	}
	s := newListing(in.Root)
	r := &Report{
		Version: 1, Site: in.Site, Address: in.Address, Gateway: in.Now != nil, LoginOnly: in.LoginOnly,
		Configured: in.Configured, NotEnforced: in.NotEnforced, Certain: len(in.Past) == 0, past: in.Past,
		Limits: append([]string{}, slices.Concat(in.Limits, in.Past, s.limits(), in.Now.limits(in.Root))...),
	}
	var err error
	if r.Routes, err = s.table(now); err != nil {
		return nil, err
	}
	r.Totals = totals(r.Routes)
	reached := slices.DeleteFunc(r.endpoints(), func(e Endpoint) bool { return e.Anonymous == None })
	r.Writes = append([]Endpoint{}, writing(reached)...)
	return r, s.advise(r, now, in.With)
}

// open is a site without a gateway.
func open() *Gateway {
	off := map[string]*policy.Configured{}
	for _, e := range policies.Catalog {
		off[e.Name] = policy.NewConfigured(e)
		off[e.Name].Settings.Off = true
	}
	chain, err := policies.NewChain(&policy.Site{Site: new(caller.Site)}, "", off)
	if err != nil { // nothing is provisioned
		panic(err)
	}
	return &Gateway{Chain: chain}
}
