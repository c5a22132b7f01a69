package dryrun

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/option"
)

// Expanded returns the configuration with what directives say in place of references to another one. All rules have places of
// their own.
func (c *Config) Expanded() (map[string]any, error) { return expanded(c.JSON) }

// Each calls do with every handler of a name within v.
func Each(v any, name string, do func(map[string]any)) { each(v, name, do) }

// Said returns what a directive of Expanded says, as [gateway.ServedSite] has it. Directives that differ in placeholders without a
// value say the same.
func (c *Config) Said(directive map[string]any) string { return c.said[contentOf(directive)] }

// Alone returns a configuration with some directives of this one and nothing else, in the order of their names, which are as
// [gateway.ServedSite] has them in Said. It loads in a moment, and its Chains are those of the directives.
func (c *Config) Alone(said ...string) ([]byte, error) {
	if c.directives == nil {
		config, err := expanded(c.JSON)
		if err != nil {
			return nil, err
		}
		c.directives = map[string]map[string]any{}
		each(config, "restwarden", func(d map[string]any) { c.directives[c.Said(d)] = d })
	}
	var routes []any
	for _, name := range said {
		directive := c.directives[name]
		if directive == nil {
			return nil, fmt.Errorf("%w: a handler makes a directive that the configuration does not have", ErrUnknowable)
		}
		routes = append(routes, map[string]any{"handle": []any{directive}})
	}
	server := map[string]any{"listen": []any{":80"}, "routes": routes}
	return json.Marshal(map[string]any{"apps": map[string]any{"http": map[string]any{"servers": map[string]any{"alone": server}}}})
}

// contentOf identifies what a directive says in a configuration.
func contentOf(directive map[string]any) string {
	g, err := gatewayOf(directive)
	if err != nil {
		return "" // it does not load
	}
	return g.Content()
}

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
		if g, err := gatewayOf(directive); err == nil { // else Caddy will say what is wrong
			expand(directive, said[g.SameAs], g.Lines)
		}
	})
	return all, nil
}

// expand lets a directive say what same does, which may be nil, and takes its lines out.
func expand(directive, same map[string]any, lines option.Lines) {
	if same != nil {
		own := maps.Clone(directive)
		clear(directive)
		maps.Copy(directive, same)
		for _, name := range gateway.OwnMembers {
			delete(directive, name)
			if value, ok := own[name]; ok {
				directive[name] = value
			}
		}
	}
	delete(directive, "lines")
	for name, value := range directive {
		directive[name] = placed(value, lines)
	}
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
