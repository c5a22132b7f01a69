package routing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	maphandler "github.com/caddyserver/caddy/v2/modules/caddyhttp/map"
)

// values are the texts that a placeholder may stand for, as vars and map set them.
type values map[string][]string

// maxValues bounds the products of placeholders within one text.
const maxValues = 64

// with returns vs and what a handler sets. A matcher may have kept the handler from some
// requests, so that what was known before stays.
func (vs values) with(more values) values {
	if len(more) == 0 {
		return vs
	}
	all := values{}
	maps.Copy(all, vs)
	for name, texts := range more {
		all[name] = distinct(slices.Concat(vs[name], texts))
	}
	return all
}

// of returns all texts that a text with placeholders may stand for, sorted. What is not
// known stays as it is written.
func (vs values) of(text string) []string {
	found := []string{text}
	for _, name := range slices.Sorted(maps.Keys(vs)) {
		if !strings.Contains(text, name) || len(found)*len(vs[name]) > maxValues {
			continue
		}
		var next []string
		for _, f := range found {
			for _, value := range vs[name] {
				next = append(next, strings.ReplaceAll(f, name, value))
			}
		}
		found = next
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func setByVars(s step) values {
	set := values{}
	for name, value := range *decoded[caddyhttp.VarsMiddleware](s) {
		if name == "root" {
			continue // flow.root
		}
		set["{http.vars."+name+"}"] = []string{fmt.Sprint(value)}
	}
	return set
}

func setByMap(s step) values {
	m := decoded[maphandler.Handler](s)
	set := values{}
	for i, name := range m.Destinations {
		name = "{" + strings.Trim(name, "{}") + "}"
		for _, mapping := range m.Mappings {
			if i < len(mapping.Outputs) && mapping.Outputs[i] != nil {
				set[name] = append(set[name], fmt.Sprint(mapping.Outputs[i]))
			}
		}
		if i < len(m.Defaults) {
			set[name] = append(set[name], m.Defaults[i])
		}
	}
	return set
}
