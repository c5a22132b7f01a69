package abilities

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// The values of Abilities.Audit.
const (
	auditHashes    = "hashes"
	auditArguments = "arguments"
	auditOff       = "off"
)

// maxAudited bounds the arguments in the log, in bytes; auditCut ends those that are longer.
const (
	maxAudited = 8 << 10
	auditCut   = "…(cut)"
	// maxCanonical bounds the arguments that are made canonical, in bytes: it takes up to 60 times
	// their size, and anybody may send them.
	maxCanonical = 16 << 10
)

// AgentCalls implements [policy.AgentAuditor]. A message without certain reading on a server of tools
// is a call too: somebody tried what the server may have run.
func (p *Abilities) AgentCalls(r *policy.Request) []policy.AgentCall {
	if !p.guards() || p.Audit == auditOff {
		return nil
	}
	switch r.Call.Kind {
	case call.Single:
		if a, ok := p.agentCall(r); ok {
			return []policy.AgentCall{a}
		}
	case call.Batch:
		var all []policy.AgentCall
		for _, part := range r.Call.Parts {
			if a, ok := p.agentCall(r.Part(part)); ok {
				all = append(all, a)
			}
		}
		return all
	default:
	}
	return nil
}

func (p *Abilities) agentCall(r *policy.Request) (a policy.AgentCall, ok bool) {
	if id, runs, err := p.runs(r.Call); runs {
		return p.agentRun(r.Call, id, err), true
	}
	c := r.Call
	posted := c.Wire == http.MethodPost || c.Method == http.MethodPost || c.Method != c.Wire
	switch {
	case !posted || message.Read(r) == nil && !p.isDoor(r):
		return policy.AgentCall{}, false
	case r.IsPart: // no server of tools takes a part: its message has no reading
		return policy.AgentCall{Call: c}, true
	}
	return p.agentMessage(r)
}

// agentRun is a run over REST. A refused reading of the id leaves it open what runs.
func (p *Abilities) agentRun(c *call.Call, id string, err error) policy.AgentCall {
	a := policy.AgentCall{Call: c, Method: "other"} // the platform takes any word
	if slices.Contains(policy.KnownMethods, c.Method) {
		a.Method = c.Method
	}
	if err != nil {
		return a
	}
	if validAbility(id) {
		a.Ability = id
	}
	if raw, _, err := c.Undecoded("input"); err == nil && (raw.Kind() == '{' || raw.Kind() == '[') {
		p.audit(&a, raw) // not decoded: a tree takes many times the size of the text
		return a
	}
	input, set, err := abilityInput(c) // a text may spell another value
	if !set || err != nil {
		return a
	}
	if text, err := json.Marshal(input); err == nil {
		p.audit(&a, text)
	}
	return a
}

// agentMessage is a message to a server of tools; ok is false for one that runs nothing.
func (p *Abilities) agentMessage(r *policy.Request) (a policy.AgentCall, ok bool) {
	a.Call = r.Call
	m := message.In(r)
	if m.Err != nil || r.Call.Method != r.Call.Wire {
		return a, true
	}
	a.Method, a.ID = m.Method, m.ID
	switch describes := m.Ability != "" && !m.Runs(); {
	case m.Safe(), m.Lists(), describes:
		return a, false
	case !m.Executes(): // a method of the server's own
		return a, true
	case m.Method == mcp.PromptsGet:
		a.Prompt = m.Name
	default:
		a.Tool, a.Resource = m.Name, m.URI
	}
	a.Ability = m.Ability
	if found := known.Get(r).named(m.Name); len(found) == 1 {
		a.Ability = found[0].Name
	}
	p.audit(&a, m.Input)
	return a, true
}

// audit takes the arguments into a. Canonical ones have sorted members, no blanks, texts with
// as few escapes as possible, and numbers as they were sent: two calls with equal ones say the
// same. Longer ones are taken as they were sent.
func (p *Abilities) audit(a *policy.AgentCall, input []byte) {
	if len(input) == 0 {
		return
	}
	text := jsontext.Value(input)
	if len(text) <= maxCanonical {
		text = text.Clone()
		if text.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
			return
		}
	}
	sum := sha256.Sum256(text)
	a.Hash = hex.EncodeToString(sum[:])
	if p.Audit == auditArguments {
		a.Arguments = cutText(string(text))
	}
}

// cutText cuts a text between two letters, and says so.
func cutText(s string) string {
	if len(s) <= maxAudited {
		return s
	}
	end := maxAudited
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end]) + auditCut
}
