package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/typo"
)

// Release is the release of the shop, configured or learned from the REST root.
type Release struct {
	fixed   int                  // as number(major, minor); 0 if it is to be learned
	learned hosts.Table[learned] // one directive may serve several shops
}

// learned is what the root of one shop said.
type learned struct {
	base    string
	preview bool // it lists refunds/preview: 11.1 or later
	at      time.Time
}

// believedFor is how long a root that was read is believed. It is read every hour, unless
// it cannot be read or nobody comes.
const believedFor = 2 * time.Hour

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
		return nil, fmt.Errorf("release: %q is neither auto nor of the form 10.7 or 10.7.2 (of a candidate or beta, name the release before it)%s", s, Prefixed(": ", typo.Hint(s, "auto")))
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

// AtLeast tells whether the shop that answers w is release major.minor or later, by the
// configuration or by its REST root, as far as that can be believed. An unknown release
// counts as older. No guard stands down by it, see [Release.Configured].
func (rel *Release) AtLeast(w *caller.Whole, major, minor int) bool {
	if rel.fixed > 0 {
		return rel.Configured(major, minor)
	}
	known, ok := rel.learned.Get(w.HTTP.Host)
	return ok && known.preview && number(major, minor) <= number(11, 1) && known.answers(w.Call) && time.Since(known.at) < believedFor
}

// Before tells whether the configuration says that the shop is older than release
// major.minor.
func (rel *Release) Before(major, minor int) bool {
	return rel.fixed > 0 && rel.fixed < number(major, minor)
}

// Learns tells whether the release is to be learned from the REST root.
func (rel *Release) Learns() bool { return rel.fixed == 0 }

// answers tells whether c certainly goes to the shop at this base. In the query form only
// the shop's own front page is certain.
func (l *learned) answers(c *call.Call) bool {
	if c.Form != call.Query {
		return c.Base == l.base
	}
	return c.Base == l.base+"/" || c.Base == l.base+"/index.php"
}

// Learn records whether the REST root of the shop that answers for host below base lists
// refunds/preview. The host counts as sent: another spelling may be another shop.
func (rel *Release) Learn(host, base string, listsPreview bool) {
	rel.learned.Put(host, learned{strings.TrimSuffix(base, "/"), listsPreview, time.Now()})
}

// Known returns the release as far as it is known, and how: "configuration", "rest root",
// or "" if nothing is known. If hosts differ, the release is unknown.
func (rel *Release) Known() (release, from string) {
	if rel.fixed > 0 {
		return fmt.Sprintf("%d.%d", rel.fixed/100, rel.fixed%100), "configuration"
	}
	release, all := "unknown", true
	rel.learned.Each(func(_ string, l learned) {
		if time.Since(l.at) < believedFor {
			from, all = "rest root", all && l.preview
		}
	})
	if from != "" && all {
		release = "11.1 or later"
	}
	return release, from
}
