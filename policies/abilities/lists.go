package abilities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// isList tells whether c asks for the platform's list of abilities, also where a server drops what
// overrides the method.
func (p *Abilities) isList(c *call.Call) bool {
	reads := func(method string) bool { return method == http.MethodGet || method == http.MethodHead }
	return c.Kind == call.Single && c.Key == p.namespace && (reads(c.Method) || reads(c.Wire))
}

// checkList prepares for the answer to a message that runs nothing. A list shows only what
// its reader may call, which depends on the platform's abilities and on who reads.
func (p *Abilities) checkList(ctx context.Context, r *policy.Request, m *message.Message) (policy.Verdict, error) {
	if !m.Lists() {
		return policy.Verdict{}, nil
	}
	claim, err := r.Claim()
	if err != nil || claim == caller.ClaimNothing || innerRoot(r.Call.Key) != "" { // the platform tells anonymous callers nothing
		return policy.Verdict{}, err
	}
	if _, answer, err := Listed(ctx, r, claim); err != nil || answer != nil {
		if err != nil {
			return policy.Verdict{}, err
		}
		return policy.InPlatformWords(answer), nil
	}
	return p.askWho(ctx, r)
}

// askWho finds out who is calling, if a rule depends on it.
func (p *Abilities) askWho(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	if !slices.ContainsFunc(p.Rules, func(rule Rule) bool { return rule.Allow != "" }) {
		return policy.Verdict{}, nil
	}
	switch _, answer, err := r.Who(ctx); {
	case err != nil:
		return policy.Verdict{}, err
	case answer != nil:
		return policy.InPlatformWords(answer), nil
	}
	_, err := r.Rights(ctx) // visible takes what is known
	return policy.Verdict{}, err
}

// Rewrites asks for the bodies of lists: of abilities, and of what servers of tools offer.
func (p *Abilities) Rewrites(r *policy.Request) policy.Rewrite {
	if p.isList(r.Call) || p.guards() && isList(message.Read(r)) {
		return policy.RewriteBody
	}
	return policy.RewriteNothing
}

func isList(m *message.Message) bool { return m != nil && m.Err == nil && m.Lists() }

// Rewrite removes from a list what its reader may not run. An answer to HEAD loses its
// totals.
func (p *Abilities) Rewrite(r *policy.Request, a *ask.Answer) error {
	var err error
	switch {
	case a.Status != http.StatusOK:
	case isList(message.Read(r)): // a limit also reads bodies that are no message
		err = p.rewriteOffer(r, a)
	case len(a.Body) == 0:
		p.recount(a.Header, -1)
	default:
		err = p.rewriteList(r, a)
	}
	if err != nil {
		return fmt.Errorf("abilities: %w", err)
	}
	return nil
}

// rewriteList changes the platform's list of abilities.
func (p *Abilities) rewriteList(r *policy.Request, a *ask.Answer) error {
	picked, err := picks(r.Call)
	if err != nil {
		return err
	}
	body, left, all, err := filtered(a.Body, func(about *ability) bool {
		if picked && !about.annotated { // it may be a destructive one
			destructive := true
			about.Meta.Annotations.Destructive = &destructive
		}
		return about.Name != "" && p.visible(r, &Subject{ID: about.Name, about: about})
	})
	if err != nil {
		return fmt.Errorf("the list does not parse: %w", err)
	}
	a.Body = body
	a.Header.Del("ETag")
	if left < all {
		p.recount(a.Header, left)
	}
	return nil
}

// picks tells whether the call asks for items with fewer members than usual.
func picks(c *call.Call) (bool, error) {
	if _, set, err := c.Scalar("_fields"); set || err != nil {
		return set, err
	}
	shape, set, err := c.Scalar("context")
	return set && shape != "view", err
}

// visible tells whether the caller may run s.
func (p *Abilities) visible(r *policy.Request, s *Subject) bool {
	claim, err := r.Claim()
	nobody := claim == caller.ClaimNothing && innerRoot(r.Call.Key) == ""
	rule, allowed := p.allows(s, nobody, nil)
	if err != nil || !allowed {
		return false
	}
	if rule.forAnyone() {
		return true
	}
	who, known := r.Known()
	return known && rule.by.Admits(who)
}

// recount corrects the totals in h to left, so that they do not count removed abilities.
// It deletes them if left is negative (unknown) or if the list has several pages.
func (p *Abilities) recount(h http.Header, left int) {
	prefix := strings.TrimSuffix(p.site.Platform.NonceHeader, "Nonce")
	total, pages := prefix+"Total", prefix+"Totalpages"
	if left >= 0 && h.Get(pages) == "1" {
		h.Set(total, strconv.Itoa(left))
		return
	}
	h.Del(total)
	h.Del(pages)
}

var (
	errNotAbility = errors.New("the answer is not the ability that was asked about")
	errNotOffer   = errors.New("the answer is no list of what the server offers")
)

// rewriteOffer changes the answer of a server of tools. An answer without a result lists
// nothing.
func (p *Abilities) rewriteOffer(r *policy.Request, a *ask.Answer) error {
	if len(a.Body) == 0 { // to a message without an id
		return nil
	}
	if kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return errNotOffer
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return fmt.Errorf("%w: %w", errNotOffer, err)
	}
	if _, set := answer["result"]; !set {
		if _, refused := answer["error"]; refused {
			return nil
		}
		return errNotOffer // in an envelope, say
	}
	var result map[string]json.RawMessage
	if err := json.Unmarshal(answer["result"], &result); err != nil {
		return fmt.Errorf("%w: %w", errNotOffer, err)
	}
	if err := p.filterResult(r, result); err != nil {
		return err
	}
	var err error
	if answer["result"], err = json.Marshal(result); err != nil {
		return err
	}
	a.Body, err = json.Marshal(answer)
	return err
}

// filterResult changes the lists of a result in place.
func (p *Abilities) filterResult(r *policy.Request, result map[string]json.RawMessage) (err error) {
	if message.Read(r).Method == mcp.ToolsCall {
		return p.filterDiscovery(r, result)
	}
	for _, name := range []string{"tools", "prompts", "resources", "resourceTemplates"} {
		list, set := result[name]
		if !set {
			continue
		}
		if result[name], err = filterItems(list, func(i *item) bool { return p.offers(r, name, i) }); err != nil {
			return err
		}
	}
	return nil
}

// item is one entry of a list.
type item struct {
	Name        string `json:"name"`
	URI         string `json:"uri"`
	URITemplate string `json:"uriTemplate"`
}

// offers tells whether a list of a result may show an item: the tools by which abilities are
// found and run, and what the caller may run. What names nothing is not shown.
func (p *Abilities) offers(r *policy.Request, list string, i *item) bool {
	switch {
	case list == "resourceTemplates":
		return i.URITemplate != "" && p.visible(r, &Subject{URI: i.URITemplate})
	case list == "resources": // as checkResource decides
		s := &Subject{URI: i.URI}
		_, allowed := p.decide(s, nil)
		return allowed && i.URI != "" && s.Resolve(known.Get(r)) && p.visible(r, s)
	case i.Name == "":
		return false
	case mcp.IsAdapters(i.Name):
		return !p.deniesTool(&Subject{by: mcp.Dashed(i.Name)})
	}
	s := &Subject{Name: i.Name}
	return s.Resolve(known.Get(r)) && p.visible(r, s)
}

// filterItems keeps the items of a list for which keep returns true.
func filterItems(list json.RawMessage, keep func(*item) bool) (json.RawMessage, error) {
	kept, _, _, err := filtered(list, keep)
	if err != nil {
		err = fmt.Errorf("%w: %w", errNotOffer, err)
	}
	return kept, err
}

// filterDiscovery changes the answer of the tool that lists abilities: the structured list,
// and its copy as text.
func (p *Abilities) filterDiscovery(r *policy.Request, result map[string]json.RawMessage) (err error) {
	var failed bool
	if raw, set := result["isError"]; set && json.Unmarshal(raw, &failed) == nil && failed {
		return nil
	}
	if structured, set := result["structuredContent"]; set {
		if result["structuredContent"], err = p.filterFound(r, structured); err != nil {
			return err
		}
	}
	var content []map[string]json.RawMessage
	if err := json.Unmarshal(result["content"], &content); err != nil {
		return fmt.Errorf("%w: %w", errNotOffer, err)
	}
	for _, part := range content {
		var text string
		if err := json.Unmarshal(part["text"], &text); err != nil {
			return fmt.Errorf("%w: %w", errNotOffer, err)
		}
		found, err := p.filterFound(r, json.RawMessage(text))
		if err != nil {
			return err
		}
		if part["text"], err = json.Marshal(string(found)); err != nil {
			return err
		}
	}
	result["content"], err = json.Marshal(content)
	return err
}

// filterFound changes {"abilities":[…]}.
func (p *Abilities) filterFound(r *policy.Request, object json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotOffer, err)
	}
	list, err := filterItems(members["abilities"], func(i *item) bool {
		s := &Subject{ID: i.Name, about: known.Get(r).ability(i.Name)}
		if s.about == nil { // see checkExecutor
			rule, _ := p.decide(s, nil)
			return rule.names(s) && p.visible(r, s)
		}
		return p.visible(r, s)
	})
	if err != nil {
		return nil, err
	}
	members["abilities"] = list
	return json.Marshal(members)
}
