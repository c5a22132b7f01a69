package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Content identifies what g says: everything but where the directive itself stands and was imported, and its tags.
// Where its rules stand is part of it, since the log names their lines. The order of members is not:
// Caddy changes it.
func (g *Gateway) Content() string {
	only := *g
	only.own(new(Gateway))
	text, err := json.Marshal(&only)
	if err != nil {
		panic(err) // PoliciesRaw has been read from JSON, or written to it
	}
	sorted := jsontext.Value(slices.Clone(text))
	if sorted.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) == nil {
		text = sorted // else a name stands twice, which Caddy accepts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// saidBefore returns g, or a directive that refers to one before it in the Caddyfile that says the
// same.
func saidBefore(h httpcaddyfile.Helper, g *Gateway) *Gateway {
	const key = "restwarden"
	said, _ := h.State[key].(map[string]bool)
	if said == nil {
		said = map[string]bool{}
		h.State[key] = said
	}
	content := g.Content()
	if said[content] && len(g.PoliciesRaw) > 0 { // else g is shorter than a reference
		same := &Gateway{SameAs: content}
		same.own(g)
		return same
	}
	said[content] = true
	return g
}

// readAll reads all directives of a configuration from JSON, with what they say in place of
// references. What is wrong in them Caddy will say. It also returns those that others refer to.
func readAll(all []json.RawMessage) (read []*Gateway, said map[string]*Gateway) {
	refers := false
	for _, raw := range all {
		g := new(Gateway)
		_ = jsonv1.Unmarshal(raw, g)
		read = append(read, g)
		refers = refers || g.SameAs != ""
	}
	if !refers {
		return read, nil
	}
	said = map[string]*Gateway{}
	for _, g := range read {
		if g.SameAs == "" {
			said[g.Content()] = g
		}
	}
	for _, g := range read {
		_ = g.resolve(said)
	}
	return read, said
}

// resolve lets g say what the directive says to which it refers.
func (g *Gateway) resolve(said map[string]*Gateway) error {
	if g.SameAs == "" {
		return nil
	}
	own, reference := *g, Gateway{SameAs: g.SameAs}
	if g.Content() != reference.Content() {
		return errors.New("same_as: says all that the directive does; remove it, or what else the directive says")
	}
	same, ok := said[g.SameAs]
	if !ok {
		return fmt.Errorf("same_as: there is no directive %s; the one that it meant has been changed or removed", g.SameAs)
	}
	*g = *same
	g.SameAs = own.SameAs
	g.own(&own)
	return nil
}

// OwnMembers are the members in JSON that own gives: those in which directives differ that say the same.
var OwnMembers = []string{"at", "imported", "lines", "tag"}

// own gives g what no reference takes from the directive that it refers to: where a directive stands, and its tags.
func (g *Gateway) own(of *Gateway) {
	g.At, g.Imported, g.Lines, g.Tag = of.At, of.Imported, of.Lines, of.Tag
}
