package testfile

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies"
)

// rulesOf returns the access rules of all directives of a configuration, once for each
// place, in the order of the configuration's own JSON.
func rulesOf(config []byte) []dryrun.Rule {
	var v any
	if json.Unmarshal(config, &v) != nil {
		return nil
	}
	var found []dryrun.Rule
	collect(v, &found)
	return found
}

// collect finds the directives below a value.
func collect(v any, found *[]dryrun.Rule) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(item, found)
		}
	case map[string]any:
		if v["handler"] == "restwarden" {
			directive(v, found)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			collect(v[key], found)
		}
	}
}

// directive adds the rules of one directive.
func directive(v map[string]any, found *[]dryrun.Rule) {
	var said struct {
		Imported map[string]string `json:"imported"`
		Policies struct {
			Access struct {
				Off       bool            `json:"off"`
				At        string          `json:"at"`
				LoginOnly bool            `json:"login_only"`
				Rules     []policies.Rule `json:"rules"`
			} `json:"access"`
		} `json:"policies"`
	}
	text, err := json.Marshal(v)
	if err != nil || json.Unmarshal(text, &said) != nil || said.Policies.Access.Off {
		return
	}
	add := func(rule, at string) {
		r := dryrun.Rule{Rule: rule, At: at, Imported: said.Imported[at]}
		if r.Imported == "" {
			r.Imported = said.Imported[""]
		}
		if !slices.Contains(*found, r) {
			*found = append(*found, r)
		}
	}
	access := said.Policies.Access
	if access.LoginOnly {
		add("login_only", access.At)
	}
	for i := range access.Rules {
		add(access.Rules[i].String(), access.Rules[i].At)
	}
}
