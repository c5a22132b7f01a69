package policies

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/policies/call"
)

// Site is what all policies of one directive share.
type Site struct {
	Platform    call.Platform
	Base        string       // "" or "/blog"
	LoginOnly   bool         // set by access while it is provisioned
	Credentials Credentials  // what else counts as a credential
	Release     *Release     // of the shop
	Store       Store        // shared facts
	Identities  *Identities  // who is calling
	Signatures  []*Signature // set by signature, looked up by access
	Now         func() time.Time

	// Prefix is the first segment of the pretty form on this site.
	Prefix string
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
	fixed   float64
	learned atomic.Bool // the REST root lists refunds/preview: 11.1 or later
}

// ParseRelease reads "auto" or "x.y".
func ParseRelease(s string) (*Release, error) {
	if s == "" || s == "auto" {
		return new(Release), nil
	}
	major, minor, dotted := strings.Cut(s, ".")
	x, err := strconv.Atoi(major)
	y, err2 := strconv.Atoi(minor)
	if !dotted || err != nil || err2 != nil || x < 1 || y < 0 || y > 99 {
		return nil, fmt.Errorf("release %q is neither auto nor of the form 10.7", s)
	}
	return &Release{fixed: float64(x) + float64(y)/100}, nil
}

// AtLeast tells whether the shop is known to be release major.minor or later.
// What is not known is taken for older: guards stay on.
func (r *Release) AtLeast(major, minor int) bool {
	want := float64(major) + float64(minor)/100
	if r.fixed > 0 {
		return r.fixed >= want
	}
	return r.learned.Load() && want <= 11.01
}

// Auto tells whether the release is to be learnt.
func (r *Release) Auto() bool { return r.fixed == 0 }

// Learn records what the REST root of the site lists.
func (r *Release) Learn(listsPreview bool) { r.learned.Store(listsPreview) }

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
