package policies

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/nearest"
)

// Release is the release of the shop, configured or learned from the REST root.
type Release struct {
	fixed   int                     // as number(major, minor); 0 if it is to be learned
	learned atomic.Pointer[learned] // a shop whose REST root lists refunds/preview: 11.1 or later
}

// learned is the last shop whose root was read. One directive may serve several shops.
type learned struct{ host, base string }

// ParseRelease reads "auto", "", "x.y" or "x.y.z"; x.y.z counts as x.y. Any other text is
// an error, and so is "10.8.1-rc.2": a candidate may lack what its release has.
func ParseRelease(s string) (*Release, error) {
	if s == "" || s == "auto" {
		return new(Release), nil
	}
	parts := strings.Split(s, ".")
	var numbers [3]int
	valid := len(parts) == 2 || len(parts) == 3
	for i := 0; valid && i < len(parts); i++ {
		n, err := strconv.ParseUint(parts[i], 10, 16)
		valid, numbers[i] = err == nil, int(n)
	}
	if !valid || numbers[0] < 1 || numbers[1] > 99 {
		return nil, fmt.Errorf("release: %q is neither auto nor of the form 10.7%s", s, prefixed(": ", nearest.Hint(s, "auto")))
	}
	return &Release{fixed: number(numbers[0], numbers[1])}, nil
}

// number maps releases to ordered numbers.
func number(major, minor int) int { return major*100 + minor }

// Configured tells whether the configuration says that the shop is release major.minor or
// later. No public answer of a shop proves its release: a plugin may register any route.
func (rel *Release) Configured(major, minor int) bool {
	return rel.fixed > 0 && rel.fixed >= number(major, minor)
}

// AtLeast tells whether the shop that answers r is release major.minor or later, by the
// configuration or by its REST root, as far as that can be believed. An unknown release
// counts as older, so that guards stay on.
func (rel *Release) AtLeast(r *Request, major, minor int) bool {
	if rel.fixed > 0 {
		return rel.Configured(major, minor)
	}
	known := rel.learned.Load()
	return known != nil && number(major, minor) <= number(11, 1) && r.HTTP.Host == known.host && known.answers(r.Whole.Call)
}

// answers tells whether c certainly goes to the shop at this base. In the query form only
// the shop's own front page is certain.
func (l *learned) answers(c *call.Call) bool {
	if c.Form == call.Pretty {
		return c.Base == l.base
	}
	return c.Base == l.base+"/" || c.Base == l.base+"/index.php"
}

// Learn records whether the REST root of the shop reached by `by` lists refunds/preview.
// The host counts as sent: another spelling may be another shop.
func (rel *Release) Learn(by Reach, listsPreview bool) {
	if !listsPreview {
		rel.learned.Store(nil)
		return
	}
	rel.learned.Store(&learned{by.Host, strings.TrimSuffix(by.Base, "/")})
}

// Known returns the release as far as it is known, and how: "configuration", "rest root"
// or "" if it is unknown.
func (rel *Release) Known() (release, from string) {
	switch {
	case rel.fixed > 0:
		return fmt.Sprintf("%d.%d", rel.fixed/100, rel.fixed%100), "configuration"
	case rel.learned.Load() != nil:
		return "11.1 or later", "rest root"
	}
	return "unknown", ""
}
