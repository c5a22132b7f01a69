package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/review"
)

// site reads what --live or --index say of a site; nil without them. The status is that for
// the error.
func (c *checker) site(ctx context.Context) (site *dryrun.Installed, status int, err error) {
	switch {
	case c.live != "" || c.root.index != "":
	case c.named != "":
		return nil, exitUsage, errors.New("--site says whose REST root it is: name the root with --live or --index")
	default:
		return nil, 0, nil
	}
	root, status, err := c.root.read(ctx, c.live)
	if err != nil {
		return nil, status, err
	}
	installed := review.NewInstalled(root.Root)
	if installed == nil {
		return nil, exitUnknown, errors.New("the REST root has too many namespaces to reason about")
	}
	if c.live != "" && len(c.root.header) > 0 {
		installed.Has = func(role string) (has, known bool) { return hasRole(ctx, root, c.root.header, role) }
	}
	addresses := []string{root.Home, root.URL, root.Address, c.live}
	if c.named != "" {
		addresses = []string{"//" + c.named}
	}
	return &dryrun.Installed{Installed: installed, Addresses: addresses, Named: c.named != ""}, 0, nil
}

// hasRole asks a site whether somebody has a role: the list of users takes roles, and its
// header has their number (docs/project/interface E2). A caller who may not list users is refused, and an
// answer of another form says nothing.
func hasRole(ctx context.Context, root *siteroot.Root, header []string, role string) (has, known bool) {
	for _, platform := range platforms.All() {
		if !slices.Contains(root.Namespaces, platform.Core) {
			continue
		}
		query := url.Values{"roles": {role}, "per_page": {"1"}}
		answer, err := root.Ask(ctx, "/"+platform.Core+"/users", query, header)
		if err != nil || answer.Status != http.StatusOK {
			return false, false
		}
		var users []json.RawMessage
		if json.Unmarshal(answer.Body, &users) != nil || users == nil {
			return false, false
		}
		return len(users) > 0, len(users) > 0 || answer.Header.Get(platform.TotalHeader()) == "0"
	}
	return false, false
}
