package dryrun

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
)

// schema answers what an ability is, or which abilities there are.
func (s *stub) schema(q *ask.Question, r *http.Request) (*ask.Answer, error) {
	id, listed := strings.CutPrefix(q.Route, "/"+s.platform.Abilities+"/abilities")
	id = strings.TrimPrefix(id, "/")
	about, said := s.ability[id]
	switch {
	case !listed:
		return nil, &missing{"the answer of the site to " + q.Route + " (--live asks the site)"}
	case id == "" && len(s.ability) == 0:
		return nil, &missing{"which abilities the site has (--ability ID=" + strings.Join(Abilities(), "|") + " for each, or --live asks the site)"}
	case id != "" && !said:
		return nil, &missing{"what the ability " + id + " is (--ability " + id + "=" + strings.Join(Abilities(), "|") + ", or --live asks the site)"}
	}
	if a := s.stranger(q, r); a != nil {
		return a, nil
	}
	switch {
	case !s.knows(q, r): // docs/platform II
		return answerError(http.StatusUnauthorized, "rest_forbidden"), nil
	case id != "":
		return answerJSON(http.StatusOK, describe(id, about)), nil
	}
	list := []any{}
	for _, id := range slices.Sorted(maps.Keys(s.ability)) {
		list = append(list, describe(id, s.ability[id]))
	}
	return answerJSON(http.StatusOK, list), nil
}

// describe is what the platform says of an ability, without a schema.
func describe(id string, about Ability) map[string]any {
	return map[string]any{"name": id, "meta": map[string]any{"annotations": map[string]any{
		"readonly": about == Readonly, "destructive": about == Destructive, "idempotent": about == Destructive,
	}}}
}
