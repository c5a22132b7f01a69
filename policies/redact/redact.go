// Package redact is the policy redact: which fields of answers only some callers see.
package redact

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/rewrite"
	"github.com/restwarden/restwarden/policies/typo"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:    "redact",
	Words:   []string{"redact"},
	Default: true,
	New:     func() policy.Policy { return new(Redact) },
}

// Redact replaces fields of JSON answers by "[redacted]". It always redacts the stored
// secrets of the troubleshooting route (docs/project/interface E13).
type Redact struct {
	Fields []Redaction `json:"fields,omitempty"`
	// Abilities are the fields of what abilities return, by every way to them.
	Abilities []AbilityRedaction `json:"abilities,omitempty"`
	// Authors hides user slugs and links in embedded authors from anonymous callers.
	Authors bool `json:"authors,omitempty"`

	redactions []Redaction
}

// Configure takes `redact <route> <field>...`, `redact ability <pattern> <field>...`, `redact
// authors`, or the policy's own block.
func (p *Redact) Configure(o policy.Option) error {
	switch {
	case len(o.Args) == 0:
		return o.Bare()
	case len(o.Block) > 0:
		return o.Errorf("redact takes no block behind a route")
	case len(o.Args) == 1 && o.Args[0] == "authors":
		err := o.Once(p.Authors)
		p.Authors = true
		return err
	case o.Args[0] == "ability":
		return p.configureAbility(o)
	}
	if hint := typo.Hint(o.Args[0], "authors", "ability"); hint != "" && !strings.HasPrefix(o.Args[0], "/") {
		return o.Errorf("redact: %q is neither a route nor ability nor authors: %s", o.Args[0], hint)
	}
	r := Redaction{Route: o.Args[0], Fields: o.Args[1:], At: o.Pos}
	if err := r.Compile(); err != nil {
		return o.Errorf("redact: %w", err)
	}
	p.Fields = append(p.Fields, r)
	return nil
}

// Provision checks the lines and adds the built-in ones.
func (p *Redact) Provision(_ *policy.Site, settings policy.Settings) error {
	if settings.OnError == policy.PassOnError {
		return errors.New("on_error pass: an answer that cannot be redacted is never sent")
	}
	p.redactions = nil
	for _, r := range p.Fields {
		if err := r.Compile(); err != nil {
			return policy.Option{Pos: r.At}.Errorf("%w", err)
		}
		p.redactions = append(p.redactions, r)
	}
	for i := range p.Abilities {
		if err := p.Abilities[i].compile(); err != nil {
			return policy.Option{Pos: p.Abilities[i].At}.Errorf("%w", err)
		}
	}
	for _, route := range []string{"/*/troubleshooting", "/*/*/troubleshooting"} {
		r := Redaction{Route: route, Fields: []string{"access_token", "source.access_token"}}
		if err := r.Compile(); err != nil {
			return err
		}
		p.redactions = append(p.redactions, r)
	}
	return nil
}

// Rewrites asks for the body of an answer that may hold a redacted field.
func (p *Redact) Rewrites(r *policy.Request) policy.Rewrite {
	if r.Call.Kind != call.Single && r.Call.Kind != call.Batch {
		return policy.RewriteNothing
	}
	if len(p.paths(r)) > 0 || p.redactsEmbedded(r) {
		return policy.RewriteBody
	}
	return p.agentAnswer(r).rewrites()
}

// redactsEmbedded tells whether the answer may embed objects of routes whose fields the
// Caddyfile names.
func (p *Redact) redactsEmbedded(r *policy.Request) bool {
	return len(p.Fields) > 0 && r.Call.Kind == call.Single && r.Call.Embeds()
}

// paths returns the field paths to redact in the answer to r.
func (p *Redact) paths(r *policy.Request) [][]string {
	paths := Paths(p.redactions, r.Call)
	if agents := p.agentAnswer(r); !agents.message {
		paths = append(paths, agents.paths...)
	}
	if p.Authors && (r.Call.Embeds() || answers(r.Call, oEmbed)) && r.IsAnonymous(r.HTTP.Context()) {
		paths = append(paths, authorPaths...)
	}
	return paths
}

var authorPaths = [][]string{
	{"_embedded", "author", "slug"}, {"_embedded", "author", "link"}, // of any call with _embed
	{"author_name"}, {"author_url"}, // of oEmbed
}

var oEmbed = routes.MustPattern("/oembed/1.0/embed")

// redactAnswer redacts the body of an answer to r.
func (p *Redact) redactAnswer(r *policy.Request, body []byte) (_ []byte, err error) {
	if agents := p.agentAnswer(r); agents.message && len(agents.paths) > 0 {
		if body, err = rewrite.ToolAnswer(body, agents.paths); err != nil {
			return nil, err
		}
	}
	paths := p.paths(r)
	if len(paths) == 0 { // of an answer that nobody has to read
		return body, nil
	}
	return rewrite.Redact(body, paths)
}

// Rewrite redacts the body. An empty body, or an error that does not parse, stays as it
// is. Any other body that does not parse is an error.
func (p *Redact) Rewrite(r *policy.Request, a *ask.Answer) error {
	if err := p.agentAnswer(r).check(a); err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	if len(a.Body) == 0 {
		return nil
	}
	body, err := p.redactAnswer(r, a.Body)
	if err == nil && p.redactsEmbedded(r) {
		body, err = rewrite.Embedded(body, r.Call, func(embedded *call.Call, value jsontext.Value) (jsontext.Value, error) {
			return Embedded(p.redactions, r.Certain(embedded), value)
		})
	}
	if err != nil {
		if a.Status >= http.StatusBadRequest {
			return nil
		}
		return fmt.Errorf("redact: %w", err)
	}
	rewrite.Replaced(a, body)
	return nil
}

// EachRoute implements [policy.Router].
func (p *Redact) EachRoute(do func(policy.RouteLine)) {
	for i, r := range p.redactions {
		own := i < len(p.Fields) // the built-in ones are behind them
		do(policy.RouteLine{At: r.At, Text: "redact", Routes: []routes.Pattern{r.pattern}, Own: own})
	}
}

// Why implements [policy.Explainer].
func (p *Redact) Why(v policy.Verdict) string {
	if v.Code == policy.CodeUnavailable {
		return "The answer could not be checked for what must not leave the site."
	}
	return ""
}
