//go:build !race

package scopetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/scopes"
)

// redacted stands in place of a field.
const redacted = "[redacted]"

// expected returns the answer that a client gets where the platform gave answer.
func expected(r *scopes.Request, v *scopes.Verdict, answer any) any {
	own := r.Calls[0]
	if envelope, _ := answer.(map[string]any); envelope["headers"] != nil && strings.Contains(r.Target, "_envelope") {
		envelope["body"] = expected1(v, own, envelope["body"])
		return envelope
	}
	if len(r.Calls) == 1 {
		return expected1(v, own, answer)
	}
	lists, _ := answer.(map[string]any)
	parts := r.Calls[1:]
	for _, name := range []string{"responses", "create", "update", "delete"} {
		list, _ := lists[name].([]any)
		for i := range list {
			if name == "responses" {
				one, _ := list[i].(map[string]any)
				one["body"] = expected1(v, parts[0], one["body"])
			} else {
				list[i] = expected1(v, parts[0], list[i])
			}
			parts = parts[1:]
		}
	}
	return answer
}

// expected1 is expected for the answer to one call.
func expected1(v *scopes.Verdict, c *scopes.Call, answer any) any {
	for _, field := range v.Hidden(c) {
		redact(answer, strings.Split(field, "."))
	}
	embedded(v, c, answer)
	return answer
}

func redact(v any, path []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			redact(item, path)
		}
	case map[string]any:
		if _, has := v[path[0]]; !has {
			return
		}
		if len(path) == 1 {
			v[path[0]] = redacted
			return
		}
		redact(v[path[0]], path[1:])
	}
}

// closed stands in place of an embedded object that the scope does not allow.
const closed = "an error in its place"

// embedded replaces embedded authors.
func embedded(v *scopes.Verdict, c *scopes.Call, answer any) {
	switch answer := answer.(type) {
	case []any:
		for _, item := range answer {
			embedded(v, c, item)
		}
	case map[string]any:
		objects, _ := answer["_embedded"].(map[string]any)
		authors, _ := objects["author"].([]any)
		for i := range authors {
			author := scopes.Call{Method: "GET", Route: fmt.Sprintf("/wp/v2/users/%v", answer["author"]), Client: c.Client}
			for _, s := range v.Bound {
				if !s.Allows(&author) {
					authors[i] = closed
				}
			}
		}
	}
}

// differs tells how the answer that a client got differs from what it has to be, "" where it
// does not.
func differs(r *scopes.Request, v *scopes.Verdict, platform, client string) string {
	if platform == client && !hides(r, v) {
		return ""
	}
	var want, got any
	if json.Unmarshal([]byte(platform), &want) != nil || json.Unmarshal([]byte(client), &got) != nil {
		return fmt.Sprintf("the answer is %.400q, not %.400q", client, platform)
	}
	want = expected(r, v, want)
	if differ(want, got) {
		text, _ := json.Marshal(want)
		return fmt.Sprintf("the answer is %.900s, not %.900s", client, text)
	}
	return ""
}

// hides tells whether the scopes may change the answer.
func hides(r *scopes.Request, v *scopes.Verdict) bool {
	for _, c := range r.Calls {
		if len(v.Hidden(c)) > 0 {
			return true
		}
	}
	return strings.Contains(r.Target, "_embed") && len(v.Bound) > 0
}

func differ(want, got any) bool {
	switch want := want.(type) {
	case string:
		if want != closed {
			return want != got
		}
		object, _ := got.(map[string]any)
		return object["code"] != "rest_forbidden"
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return true
		}
		for i := range want {
			if differ(want[i], list[i]) {
				return true
			}
		}
		return false
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || len(object) != len(want) {
			return true
		}
		for name := range want {
			if differ(want[name], object[name]) {
				return true
			}
		}
		return false
	}
	return !reflect.DeepEqual(want, got)
}
