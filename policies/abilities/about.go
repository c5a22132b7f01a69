package abilities

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
)

// ability is the platform's description of one ability (docs/project/interface 2).
type ability struct {
	Name        string
	InputSchema json.RawMessage
	Meta        struct {
		Annotations struct {
			Readonly    bool
			Destructive *bool // nil if the platform does not say
			Idempotent  bool
		}
		URI string // of the resource that the ability is, "" for others
		MCP struct{ URI string }
	}

	annotated bool // the description says whether the ability is destructive, or that nobody knows
}

// UnmarshalJSON reads a description as the platform's own code does: plugins write what they
// like for an annotation, and PHP takes it for true or false. PHP writes an empty list for an
// object without members.
func (a *ability) UnmarshalJSON(text []byte) error {
	var said struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
		Meta        json.RawMessage `json:"meta"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	*a = ability{Name: said.Name, InputSchema: said.InputSchema}
	meta := membersOf(said.Meta)
	notes := membersOf(meta["annotations"])
	_, a.annotated = notes["destructive"]
	about := &a.Meta.Annotations
	about.Readonly, about.Idempotent = isTrue(notes["readonly"]), isTrue(notes["idempotent"])
	if raw := notes["destructive"]; raw != nil && string(raw) != "null" {
		destructive := isTrue(raw)
		about.Destructive = &destructive
	}
	_ = json.Unmarshal(meta["uri"], &a.Meta.URI) // what is no text is no address
	_ = json.Unmarshal(membersOf(meta["mcp"])["uri"], &a.Meta.MCP.URI)
	return nil
}

// membersOf returns the members of an object; of anything else there are none.
func membersOf(text json.RawMessage) (members map[string]json.RawMessage) {
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	return members
}

// isTrue tells whether PHP takes a value for true.
func isTrue(raw json.RawMessage) bool {
	switch text := strings.TrimSpace(string(raw)); text {
	case "", "null", "false", `""`, `"0"`, "[]":
		return false
	default:
		return strings.Trim(text, "-0.") != "" // 0, -0 and 0.0
	}
}

func (a *ability) destructive() bool {
	return a != nil && a.Meta.Annotations.Destructive != nil && *a.Meta.Annotations.Destructive
}

// harmless tells whether the platform says that the ability destroys nothing.
func (a *ability) harmless() bool {
	if a == nil || a.destructive() {
		return false
	}
	return a.Meta.Annotations.Readonly || a.Meta.Annotations.Destructive != nil
}

// describe asks the platform, as the caller, what the ability is. If the platform refuses
// to say, describe returns that answer.
func (p *Abilities) describe(ctx context.Context, r *policy.Request, id string) (*ability, *ask.Answer, error) {
	if !validAbility(id) {
		return nil, nil, call.Ambiguous("ability_id")
	}
	a, err := r.Ask(ctx, ask.Question{Kind: ask.KindSchema, Route: p.namespace + "/" + id})
	if err != nil {
		return nil, nil, fmt.Errorf("what is the ability %s: %w", id, err)
	}
	switch {
	case a.Status == http.StatusOK:
		about, err := parseAbility(a.Body, id)
		return about, nil, err
	case a.Status < 500 && a.Code() != "":
		return nil, a, nil
	}
	return nil, nil, fmt.Errorf("what is the ability %s: %w", id, ask.Unexpected(a))
}

func parseAbility(body []byte, id string) (*ability, error) {
	var about ability
	if err := json.Unmarshal(body, &about); err != nil {
		return nil, fmt.Errorf("%w: the ability does not parse: %w", ask.ErrUndecided, err)
	}
	if about.Name != id {
		return nil, fmt.Errorf("%w: %w", ask.ErrUndecided, errNotAbility)
	}
	return &about, nil
}
