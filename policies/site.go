package policies

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/store"
)

// Site is what all policies of one directive share.
type Site struct {
	Platform    call.Platform
	Base        string       // "" or "/blog"
	LoginOnly   bool         // set by access while it is provisioned
	Credentials Credentials  // what else counts as a credential
	Release     *Release     // of the shop
	Store       store.Store  // shared facts
	Identities  *Identities  // who is calling
	Signatures  []*Signature // set by signature, looked up by access
	Now         func() time.Time
	// Remembered, where set, is told of every question that was not asked since
	// its answer is known.
	Remembered func(LookupKind)

	// Prefix is the first segment of the pretty form on this site.
	Prefix string

	// Directive names the directive, the same on all gateways with one
	// configuration; Server names what listens for it. Clients choose neither.
	Directive, Server string
}

// place names in a Store's key who answers r: directive and server, since a
// client may write any Host, then the host as sent (another spelling may be
// another site, and costs no more than a question) and where below it.
func (s *Site) place(r *Request) string {
	h := sha256.New()
	for _, part := range []string{s.Directive, s.Server, r.HTTP.Host, r.memo().of.Call.Base} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Code is the code as this site gives it: the shop's carry the platform's prefix.
func (s *Site) Code(c Code) Code {
	switch c {
	case codeInvalidID, codeTotalMismatch, codeComputeTotals:
		return Code(s.Platform.ErrorPrefix) + c
	}
	return c
}

// Release is the release of the shop, configured or learnt from the REST root.
type Release struct {
	fixed   int                     // as number(major, minor); 0 where it is to be learnt
	learned atomic.Pointer[learned] // whose REST root lists refunds/preview: 11.1 or later
}

// learned is the one shop that was last read. A directive may serve several.
type learned struct{ host, base string }

// ParseRelease reads "auto" or "x.y".
func ParseRelease(s string) (*Release, error) {
	if s == "" || s == "auto" {
		return new(Release), nil
	}
	major, minor, dotted := strings.Cut(s, ".")
	x, err := strconv.ParseUint(major, 10, 16)
	y, err2 := strconv.ParseUint(minor, 10, 16)
	if !dotted || err != nil || err2 != nil || x < 1 || y > 99 {
		return nil, fmt.Errorf("release %q is neither auto nor of the form 10.7", s)
	}
	return &Release{fixed: number(int(x), int(y))}, nil
}

// number puts releases in order.
func number(major, minor int) int { return major*100 + minor }

// Configured tells whether the configuration says that the shop is release
// major.minor or later. Nothing that a shop shows to everybody proves as much: a
// plugin may register any route.
func (rel *Release) Configured(major, minor int) bool {
	return rel.fixed > 0 && rel.fixed >= number(major, minor)
}

// AtLeast tells whether the shop that answers r is release major.minor or later,
// as configured or as far as its REST root can be believed. What is not known is
// taken for older: guards stay on.
func (rel *Release) AtLeast(r *Request, major, minor int) bool {
	if !rel.Auto() {
		return rel.Configured(major, minor)
	}
	known := rel.learned.Load()
	return known != nil && number(major, minor) <= number(11, 1) && r.HTTP.Host == known.host && known.answers(r.memo().of.Call)
}

// answers tells whether c goes to the shop at this base and no other: in the
// query form that is sure of its own front page alone.
func (l *learned) answers(c *call.Call) bool {
	if c.Form == call.Pretty {
		return c.Base == l.base
	}
	return c.Base == l.base+"/" || c.Base == l.base+"/index.php"
}

// Auto tells whether the release is to be learnt.
func (rel *Release) Auto() bool { return rel.fixed == 0 }

// Learn records what the REST root of the shop that by reaches lists. The host
// counts as it was sent: another spelling may be another shop.
func (rel *Release) Learn(by Reach, listsPreview bool) {
	if !listsPreview {
		rel.learned.Store(nil)
		return
	}
	rel.learned.Store(&learned{by.Host, strings.TrimSuffix(by.Base, "/")})
}

// Credentials names what counts as a credential beside the platform's own.
type Credentials struct {
	Headers []string `json:"headers,omitempty"`
	Cookies []string `json:"cookies,omitempty"`
	// Jetpack accepts callers that sign with Jetpack's token as unverified ones.
	Jetpack bool `json:"jetpack,omitempty"`
}

// Canonical returns c with header names in their canonical form.
func (c Credentials) Canonical() Credentials {
	headers := make([]string, len(c.Headers))
	for i, h := range c.Headers {
		headers[i] = http.CanonicalHeaderKey(h)
	}
	c.Headers = headers
	return c
}

func (s *Site) remembered(kind LookupKind) {
	if s.Remembered != nil {
		s.Remembered(kind)
	}
}
