package redact

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/rewrite"
)

// AbilityRedaction is one line `redact ability <pattern> <field>...`. It holds for what the
// ability returns, whoever runs it by whatever way.
type AbilityRedaction struct {
	// Pattern is an ability's id or the name of a tool, with * for any part of it.
	Pattern string   `json:"pattern"`
	Fields  []string `json:"fields"`
	// At is where the line stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	paths [][]string
}

func (p *Redact) configureAbility(o policy.Option) error {
	if len(o.Args) < 2 {
		return o.Errorf("redact: ability takes the id of an ability, and fields")
	}
	line := AbilityRedaction{Pattern: o.Args[1], Fields: o.Args[2:], At: o.Pos}
	if err := line.compile(); err != nil {
		return o.Errorf("redact: %w", err)
	}
	p.Abilities = append(p.Abilities, line)
	return nil
}

func (l *AbilityRedaction) compile() (err error) {
	if err := abilities.CheckPattern(l.Pattern); err != nil {
		return err
	}
	l.paths, err = fieldPaths(l.Fields)
	return err
}

// abilityPaths returns the paths of the lines that fit.
func (p *Redact) abilityPaths(fits func(pattern string) bool) (paths [][]string) {
	for i := range p.Abilities {
		if fits(p.Abilities[i].Pattern) {
			paths = append(paths, p.Abilities[i].paths...)
		}
	}
	return paths
}

// anyAbility fits where nobody can tell which ability has run.
func anyAbility(string) bool { return true }

// agentAnswer is what is hidden of the answer to a request, by lines about abilities. It is
// read before the request is forwarded; the zero value hides nothing.
type agentAnswer struct {
	paths   [][]string
	message bool // the answer is that of a server of tools
	stream  bool // a stream of such a server, which may bring answers to messages
	// unclear tells that nobody can tell which abilities the request runs. Of a route that is
	// not known as a server of tools only what has the form of such an answer is held back.
	unclear, other bool
}

var (
	errUnclear    = errors.New("nobody can tell which abilities the message has run")
	errToolStream = errors.New("a stream of a server of tools cannot be redacted")
)

// rewrites is how much of the answer is needed.
func (t *agentAnswer) rewrites() policy.Rewrite {
	switch {
	case t.unclear, len(t.paths) > 0:
		return policy.RewriteBody
	case t.stream:
		return policy.RewriteHeader
	}
	return policy.RewriteNothing
}

// check refuses what cannot be redacted: some servers send what messages have run to a stream
// that a GET has opened.
func (t *agentAnswer) check(a *ask.Answer) error {
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	if t.stream && strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
		return errToolStream
	}
	if t.unclear && a.Status < http.StatusBadRequest && len(a.Body) > 0 && (!t.other || bytes.Contains(a.Body, []byte(`"jsonrpc"`))) {
		return errUnclear
	}
	return nil
}

// agentAnswer returns what is hidden of the answer to r.
func (p *Redact) agentAnswer(r *policy.Request) *agentAnswer {
	switch {
	case len(p.Abilities) == 0:
		return &nothingHidden
	case hiddenSlot.Get(r) == nil:
		t := new(agentAnswer)
		hiddenSlot.Set(r, t)
		p.readAgent(r, t)
	}
	return hiddenSlot.Get(r)
}

var (
	// hiddenSlot keeps what is hidden of the answer, once that has been read.
	hiddenSlot    = policy.NewSlot[agentAnswer](policy.OfCall)
	nothingHidden agentAnswer
)

func (p *Redact) readAgent(r *policy.Request, t *agentAnswer) {
	var ran [][]string
	for _, c := range r.Call.Each() {
		switch id, runs, err := abilities.RunIn(c, "/"+r.Site.Platform.Abilities+"/abilities"); {
		case err != nil:
			ran = append(ran, p.abilityPaths(anyAbility)...)
		case runs:
			ran = append(ran, p.abilityPaths(func(pattern string) bool { return abilities.Glob(pattern, id) })...)
		}
	}
	if t.paths = rewrite.AbilityPaths(ran); t.paths != nil {
		return
	}
	tools := message.ToTools(r)
	if runs, err := message.MayRun(r); err != nil {
		t.unclear, t.other = true, !tools
		return
	} else if !runs {
		t.stream = tools && r.Call.Method == http.MethodGet && r.Call.Wire == http.MethodGet
		return
	}
	m := message.In(r)
	if m.Err != nil || r.Call.Method != r.Call.Wire || r.Call.Kind != call.Single {
		t.unclear = true
		return
	}
	fits := func(pattern string) bool {
		return abilities.Glob(pattern, m.Name) || abilities.FitsName(pattern, &abilities.Subject{Name: m.Name}) || m.Runs() && abilities.Glob(pattern, m.Ability)
	}
	if m.URI != "" {
		fits = p.fitsResource(r, m)
	}
	t.message, t.paths = true, p.abilityPaths(fits)
}

// fitsResource tells which patterns fit the ability that is a resource. All do if the platform
// lists none with this address, or does not say: the ability may be a hidden one.
func (p *Redact) fitsResource(r *policy.Request, m *message.Message) func(pattern string) bool {
	claim, err := r.Claim()
	if err != nil || claim == caller.ClaimNothing {
		return anyAbility
	}
	s := &abilities.Subject{URI: m.URI}
	list, answer, err := abilities.Listed(r.HTTP.Context(), r, claim)
	if err != nil || answer != nil || !s.Resolve(list) || s.ID == "" {
		return anyAbility
	}
	return func(pattern string) bool { return abilities.Glob(pattern, s.ID) }
}
