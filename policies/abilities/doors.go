package abilities

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// What the log names where no line of the configuration decides.
const (
	ruleNone  = "abilities: not allowed by any rule"
	ruleInner = "abilities: a server whose tools run REST calls inside"
)

// The slots of the policy.
var (
	// atDoor keeps that a message was judged, and whether its route is one of a server of tools.
	atDoor = policy.NewSlot[bool](policy.OfCall)
	// known keeps the platform's abilities, once somebody has asked.
	known = policy.NewSlot[Catalogue](policy.OfCall)
)

// isDoor tells whether a call goes to a server of tools: one that is known by its route, or
// that the REST index shows as such a server.
func (p *Abilities) isDoor(r *policy.Request) bool {
	return p.knowsDoor(r.Call.Key) || message.ToTools(r)
}

// knowsDoor tells whether a key is that of a server of tools: by its name, or since the
// configuration names it.
func (p *Abilities) knowsDoor(key string) bool {
	return message.NamesTools(key) || slices.ContainsFunc(p.doors, func(door routes.Pattern) bool { return door.Match(key) })
}

// checkDoor judges a call that may reach a server of tools.
func (p *Abilities) checkDoor(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	c := r.Call
	if c.Kind == call.Batch {
		return policy.Verdict{}, p.checkBatch(r)
	}
	if c.Kind != call.Single || c.Method == http.MethodOptions && c.Wire == http.MethodOptions && r.HTTP.ContentLength == 0 {
		return policy.Verdict{}, nil
	}
	door := p.isDoor(r)
	if r.IsPart {
		return policy.Verdict{}, checkPart(c, door)
	}
	if !door {
		if runs, err := message.MayRun(r); !runs || err != nil {
			return p.checkOther(ctx, r, err)
		}
	}
	if err := p.checkMarker(r); err != nil {
		return policy.Verdict{}, err
	}
	if !p.isOpen(r.Call.Key, r.Matched) {
		v := policy.Forbidden()
		v.Rule, v.Note = ruleInner, "The server's tools run REST calls that no rule sees; doors or an access rule that names its route opens it."
		return v, nil
	}
	if innerRoot(c.Key) != "" && r.IgnoresCookie() { // the core's view does not tell who calls there (docs/platform IV.4)
		return policy.Verdict{}, call.Ambiguous("message_cookie")
	}
	if door && c.Wire != http.MethodPost && c.Method == c.Wire {
		return policy.Verdict{}, message.Bodiless(r)
	}
	m := message.In(r)
	atDoor.Set(r, new(door)) // a copy, so that calls without a message cost no memory
	switch {
	case c.Method != c.Wire:
		return policy.Verdict{}, call.Ambiguous("method")
	case m.Err != nil:
		return policy.Verdict{}, m.Err
	case m.Safe():
		return p.checkList(ctx, r, m)
	case !m.Executes():
		v := policy.Forbidden()
		v.Rule = "abilities: a method that is none of the protocol's"
		return v, nil
	}
	return p.checkMessage(ctx, r, m)
}

// checkOther judges a call that reaches no server of tools. The list of abilities needs to
// know who is asking.
func (p *Abilities) checkOther(ctx context.Context, r *policy.Request, err error) (policy.Verdict, error) {
	if err != nil || !p.isList(r.Call) {
		return policy.Verdict{}, err
	}
	if err := p.checkMarker(r); err != nil {
		return policy.Verdict{}, err
	}
	return p.askWho(ctx, r)
}

// checkBatch refuses a message to a route that looks like that of a batch: it has no parts
// that could be judged.
func (p *Abilities) checkBatch(r *policy.Request) error {
	if p.isDoor(r) {
		return call.Ambiguous("batch")
	}
	runs, err := message.MayRun(r)
	if err == nil && runs {
		err = call.Ambiguous("batch")
	}
	return err
}

// checkPart refuses a part of a batch that may be a message: no server of tools takes one.
func checkPart(c *call.Call, door bool) error {
	if door {
		return call.Ambiguous("batch")
	}
	method, set, err := c.Scalar("method")
	if err != nil {
		return err
	}
	if text, _ := method.(string); set && slices.Contains(mcp.Executing, text) {
		return call.Ambiguous("batch")
	}
	return nil
}

// innerRoot returns the root of the server whose tools run REST calls inside and to which a
// route belongs, or "".
func innerRoot(key string) string {
	for _, root := range message.InnerREST {
		if key == root || strings.HasPrefix(key, root+"/") {
			return root
		}
	}
	return ""
}

// isOpen tells whether the configuration lets messages reach the server: it names each whose
// tools run REST calls inside. m is the rule of access that matches. One that only takes away opens
// nothing, whatever it names, and neither does a line that is switched on for a while.
func (p *Abilities) isOpen(key string, m policy.Match) bool {
	root := innerRoot(key)
	if root == "" || m.Rule != nil && !m.Rule.Deny && !m.Rule.OnlyTakesAway() && m.Rule.Origin() != policy.OriginSwitch && names(*m.Route, root) {
		return true
	}
	return slices.ContainsFunc(p.doors, func(door routes.Pattern) bool { return names(door, root) && door.Match(key) })
}

// names tells whether a pattern spells out a root.
func names(p routes.Pattern, root string) bool {
	segments, _ := p.Segments()
	want := strings.Split(root[1:], "/")
	return len(segments) >= len(want) && slices.Equal(segments[:len(want)], want)
}

// checkMarker refuses an address that holds the route of the shop's server of tools without
// being it: with that text anywhere, the platform has abilities that it has not otherwise
// (docs/platform IV.6).
func (p *Abilities) checkMarker(r *policy.Request) error {
	route := "/" + p.site.Platform.MCP
	if r.Call.Key != route && (strings.Contains(r.HTTP.RequestURI, route) || strings.Contains(r.HTTP.URL.RequestURI(), route)) {
		return call.Ambiguous("tools_marker")
	}
	return nil
}

// ToolMessage says how a message to a server of tools was read.
type ToolMessage struct {
	// Door tells that the route is one of a server of tools; false for a body of another
	// route that may be a message.
	Door bool
	// Method is that of the message, with the Tool (or prompt), the Ability or the Resource
	// that it names; "" for none.
	Method, Tool, Ability, Resource string
	// Ambiguous says why the message has no certain reading, as the log does; "" if it has one.
	Ambiguous string
}

// ToolMessageOf returns how policies read the message of r; ok is false if they read none.
func ToolMessageOf(r *policy.Request) (m ToolMessage, ok bool) {
	message := message.Read(r)
	if message == nil {
		return m, false
	}
	door := atDoor.Get(r)
	m.Door = door != nil && *door
	if unread, ok := errors.AsType[*call.Refusal](message.Err); ok {
		m.Ambiguous = unread.Reason
		return m, true
	}
	if read := message.Message; read != nil {
		m.Method, m.Tool, m.Ability, m.Resource = read.Method, read.Name, read.Ability, read.URI
	}
	return m, true
}
