package policies

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/restwarden/restwarden/policies/call"
)

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
	if rel.fixed > 0 {
		return rel.Configured(major, minor)
	}
	known := rel.learned.Load()
	return known != nil && number(major, minor) <= number(11, 1) && r.HTTP.Host == known.host && known.answers(r.Whole.Call)
}

// answers tells whether c goes to the shop at this base and no other: in the
// query form that is sure of its own front page alone.
func (l *learned) answers(c *call.Call) bool {
	if c.Form == call.Pretty {
		return c.Base == l.base
	}
	return c.Base == l.base+"/" || c.Base == l.base+"/index.php"
}

// Learn records what the REST root of the shop that by reaches lists. The host
// counts as it was sent: another spelling may be another shop.
func (rel *Release) Learn(by Reach, listsPreview bool) {
	if !listsPreview {
		rel.learned.Store(nil)
		return
	}
	rel.learned.Store(&learned{by.Host, strings.TrimSuffix(by.Base, "/")})
}
