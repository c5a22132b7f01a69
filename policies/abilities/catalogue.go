package abilities

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policy"
)

// Catalogue is the platform's list of abilities; nil lists none.
type Catalogue struct{ abilities []*ability }

// those returns the abilities for which is holds.
func (c *Catalogue) those(is func(*ability) bool) (found []*ability) {
	if c == nil {
		return nil
	}
	for _, a := range c.abilities {
		if is(a) {
			found = append(found, a)
		}
	}
	return found
}

// named returns the abilities that servers offer under a dashed name.
func (c *Catalogue) named(name string) []*ability {
	return c.those(func(a *ability) bool { return mcp.Offers(a.Name, name) })
}

// Resolve fills in the one ability in list that has the name or the address of s, if there is
// one. It returns false where there are two: nobody can tell which one runs.
func (s *Subject) Resolve(list *Catalogue) bool {
	found := list.named(s.Name)
	if s.URI != "" {
		found = list.at(s.URI)
	}
	if len(found) == 1 {
		s.ID, s.about = found[0].Name, found[0]
	}
	return len(found) < 2
}

// at returns the abilities that are resources with an address.
func (c *Catalogue) at(uri string) []*ability {
	return c.those(func(a *ability) bool {
		return strings.TrimSpace(a.Meta.URI) == uri || strings.TrimSpace(a.Meta.MCP.URI) == uri // servers trim them
	})
}

// ability returns the ability with an id, or nil.
func (c *Catalogue) ability(id string) *ability {
	if found := c.those(func(a *ability) bool { return a.Name == id }); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Listed returns the platform's list of abilities, as the caller sees it. It is empty on a
// platform without abilities, and for a key of the shop's server of tools: the abilities of
// that server are in no list (docs/platform IV.6). If the platform refuses the list, the
// answer is that refusal.
func Listed(ctx context.Context, r *policy.Request, claim caller.Claim) (*Catalogue, *ask.Answer, error) {
	if found := known.Get(r); found != nil || claim == caller.ClaimTool {
		return found, nil, nil
	}
	list := new(Catalogue)
	for page := 1; ; page++ {
		query := url.Values{"per_page": {strconv.Itoa(listPerPage)}, "page": {strconv.Itoa(page)}}
		a, err := r.Ask(ctx, ask.Question{Kind: ask.KindSchema, Route: "/" + r.Site.Platform.Abilities + "/abilities", Query: query.Encode()})
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("which abilities are there: %w", err)
		case a.Status == http.StatusNotFound && a.Code() != "":
			known.Set(r, list)
			return list, nil, nil
		case a.Status < 500 && a.Code() != "":
			return nil, a, nil
		case a.Status != http.StatusOK:
			return nil, nil, fmt.Errorf("which abilities are there: %w", ask.Unexpected(a))
		}
		more, err := list.add(a.Body)
		if err != nil || more && page == listPages {
			return nil, nil, fmt.Errorf("%w: the list of abilities does not parse or does not end: %w", ask.ErrUndecided, err)
		}
		if !more {
			known.Set(r, list)
			return list, nil, nil
		}
	}
}

// add takes one page. more is true if another one may follow.
func (c *Catalogue) add(body []byte) (more bool, err error) {
	var page []*ability
	if err := json.Unmarshal(body, &page); err != nil {
		return false, err
	}
	if slices.Contains(page, nil) || slices.ContainsFunc(page, func(a *ability) bool { return a.Name == "" }) {
		return false, errNotAbility
	}
	c.abilities = append(c.abilities, page...)
	return len(page) >= listPerPage, nil
}

// listPages bounds the questions for one list; each page has as many abilities as the
// platform gives at once.
const (
	listPages   = 20
	listPerPage = 100
)
