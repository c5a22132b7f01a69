package dryrun

import (
	"maps"

	"github.com/restwarden/restwarden/caddymodule/option"
)

// expanded reads a configuration. Directives that refer to another one say what that says, and all
// rules have places of their own.
func expanded(config []byte) (map[string]any, error) {
	all, err := decoded(config)
	if err != nil {
		return nil, err
	}
	said := map[string]map[string]any{}
	each(all, "restwarden", func(directive map[string]any) {
		if g, err := gatewayOf(directive); err == nil && g.SameAs == "" {
			said[g.Content()] = maps.Clone(directive)
		}
	})
	each(all, "restwarden", func(directive map[string]any) {
		g, err := gatewayOf(directive)
		if err != nil {
			return // Caddy will say what is wrong
		}
		if same, ok := said[g.SameAs]; ok {
			delete(directive, "same_as")
			for name, value := range same {
				if name != "at" && name != "imported" && name != "lines" {
					directive[name] = value
				}
			}
		}
		if len(g.Lines) > 0 {
			delete(directive, "lines")
			for name, value := range directive {
				directive[name] = placed(value, g.Lines)
			}
		}
	})
	return all, nil
}

// placed returns a copy of v with places for the marks of lines.
func placed(v any, lines option.Lines) any {
	switch v := v.(type) {
	case string:
		return lines.In(v)
	case map[string]any:
		changed := map[string]any{}
		for name, value := range v {
			changed[name] = placed(value, lines)
		}
		return changed
	case []any:
		changed := make([]any, len(v))
		for i := range v {
			changed[i] = placed(v[i], lines)
		}
		return changed
	}
	return v
}
