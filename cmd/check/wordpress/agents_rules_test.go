//go:build wordpress

package wordpress

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// agentRules are a block abilities and what it means, said once more in other words.
type agentRules struct {
	name  string
	lines []string
	// may tells whether a caller with a role may run something, named as in agentMessage.runs.
	may func(run, role string) bool
	// hidden is in no list that a caller with a role gets.
	hidden []string
}

// denying allows all but some. A destructive ability and a resource, of which nobody can tell
// the ability, need a rule with their name, and servers whose tools run REST inside stay closed.
var denying = agentRules{
	name: "denying",
	lines: []string{
		"abilities {",
		"	deny lab/write-item lab/secret lab-a/b",
		"}",
	},
	may: func(run, _ string) bool {
		switch run {
		case "lab/write-item", "lab/secret", "lab-a/b", "lab/delete-item", "lab/doc":
			return false
		}
		return strings.HasPrefix(run, "lab/") || run == "(tool plain_tool)"
	},
	hidden: []string{"write-item", "lab-a/b", "secret"},
}

// allowing denies all but some, for some callers.
var allowing = agentRules{
	name: "allowing",
	lines: []string{
		"abilities {",
		"	allow readonly lab/*",
		"	allow role administrator lab/delete-item lab/admin-only",
		"	allow users lab/strict lab/a-b",
		"	allow lab/ask",
		"	allow tool plain_tool lab_tool wp_create_post",
		"	allow resource lab://doc",
		"	doors /wp/v2/wpmcp/** /mcp/v1/** /royal-mcp/v1/**",
		"}",
	},
	may: func(run, role string) bool {
		switch run {
		case "lab/delete-item", "lab/admin-only":
			return role == "administrator"
		case "lab/strict", "lab/a-b":
			return role != ""
		}
		return slices.Contains([]string{"lab/read-item", "lab/no-input", "lab/ask", "lab/doc", "(tool plain_tool)", "(tool lab_tool)", "(a post was written)"}, run)
	},
	hidden: []string{"write-item", "lab-a/b", "secret", "hidden"},
}

// check returns why what ran behind the gateway should not have: it is more than one thing,
// the rules do not allow it, or the request plainly read does not name it.
func (a *agentRules) check(m *message, seen *trace) error {
	for i, d := range seen.dispatches {
		if i > 0 && d.ran && !strings.EqualFold(string(d.Route), strings.TrimPrefix(defaultServer, "/wp-json")) {
			return fmt.Errorf("a tool ran %s %s inside", d.Method, d.Route)
		}
	}
	switch len(seen.agents) {
	case 0:
		return nil
	case 1:
	default:
		return fmt.Errorf("%d things ran", len(seen.agents))
	}
	ran := seen.agents[0].Ran
	if !a.may(ran, m.as) {
		return fmt.Errorf("%s ran, which the rules do not allow", ran)
	}
	route := string(seen.dispatches[0].Route)
	if id, ok := strings.CutPrefix(route, "/wp-abilities/v1/abilities/"); ok {
		if ran+"/run" != id {
			return fmt.Errorf("%s ran at %s", ran, route)
		}
		return nil
	}
	if named := namedIn(m.body); !fitsName(ran, named) {
		return fmt.Errorf("%s ran where the message names %q", ran, named)
	}
	return nil
}

const defaultServer = "/wp-json/mcp/mcp-adapter-default-server"

// namedIn is what a message names, plainly read: keys are as they are written, the last of
// one counts.
func namedIn(body string) string {
	params := memberIn(json.RawMessage(body), "params")
	name := textIn(params, "name")
	if name == "mcp-adapter-execute-ability" {
		return textIn(memberIn(params, "arguments"), "ability_name")
	}
	return name + textIn(params, "uri")
}

// memberIn returns a member of an object, nil where there is none. Names differ by case,
// other than in structs.
func memberIn(object json.RawMessage, key string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members[key]
}

func textIn(object json.RawMessage, key string) (text string) {
	if json.Unmarshal(memberIn(object, key), &text) != nil {
		return ""
	}
	return text
}

func fitsName(ran, named string) bool {
	switch ran {
	case "lab/doc":
		return named == "lab://doc"
	case "(a post was written)":
		return named == "wp_create_post"
	}
	return named == ran || named == dashed(ran) || "(tool "+named+")" == ran
}
