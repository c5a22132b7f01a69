package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/policy"
)

// secrets numbers the secrets of both configurations: a report says that one has changed, and never what it is.
type secrets map[string]string

// isPlaceholder tells a secret that stands elsewhere: the configuration has its place alone.
var isPlaceholder = regexp.MustCompile(`^\{[^{}]+\}$`).MatchString

// hide replaces the secrets of a directive.
func (s secrets) hide(directive map[string]any) error {
	configured := object(directive["policies"])
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		said := configured[name]
		i := slices.IndexFunc(policies.Catalog, func(e policy.Entry) bool { return e.Name == name })
		if i < 0 {
			return fmt.Errorf("policies: %q is unknown", name)
		}
		c := policy.NewConfigured(policies.Catalog[i])
		holder, holds := c.Policy.(policy.SecretHolder)
		if !holds {
			continue
		}
		if err := json.Unmarshal([]byte(textOf(said)), c); err != nil {
			return fmt.Errorf("policies: %s: %w", name, err)
		}
		for _, secret := range holder.Secrets() {
			*secret.Text = s.numbered(*secret.Text)
		}
		var hidden map[string]any
		if err := json.Unmarshal([]byte(textOf(c)), &hidden); err != nil {
			return fmt.Errorf("policies: %s: %w", name, err)
		}
		configured[name] = hidden
	}
	return nil
}

// numbered returns what stands for a secret: the same for the same one.
func (s secrets) numbered(text string) string {
	if isPlaceholder(text) {
		return text
	}
	if s[text] == "" {
		s[text] = fmt.Sprintf("secret %d", len(s)+1)
	}
	return s[text]
}
