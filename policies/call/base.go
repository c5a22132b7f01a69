package call

import (
	"fmt"
	"regexp"

	"github.com/restwarden/restwarden/policies/call/between"
)

var validBase = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// CheckBase tells whether base is "" or a sub-folder such as "/blog": plain
// segments, no trailing slash.
func CheckBase(base string) error {
	if base != "" && (!validBase.MatchString(base) || between.Dots(base)) {
		return fmt.Errorf("%q is not a sub-folder such as /blog", base)
	}
	return nil
}
