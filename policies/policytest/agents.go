package policytest

import (
	"crypto/md5" //nolint:gosec // see CutOf
	"fmt"
	"maps"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/mcp"
)

// Adapter is where the server of tools stands that the platform's adapter sets up.
const Adapter = "/wp-json/mcp/mcp-adapter-default-server"

// ToolCall is a message that calls a tool.
func ToolCall(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
}

// ExecutorOf is a message that runs an ability by the default server.
func ExecutorOf(id, parameters string) string {
	return ToolCall("mcp-adapter-execute-ability", `{"ability_name":"`+id+`","parameters":`+parameters+`}`)
}

// ShopOffers is Abilities with the list of all, and a caller.
func ShopOffers(me string) *asktest.Platform {
	list := `[{"name":"shop/query","meta":{"annotations":{"readonly":true}}},{"name":"shop/update","meta":{}},` +
		`{"name":"shop/delete","meta":{"annotations":{"destructive":true,"idempotent":true}}},{"name":"a/b-c"},{"name":"a-b/c"},` +
		`{"name":"shop/doc","meta":{"annotations":{"readonly":1,"destructive":"","idempotent":"yes"},"uri":"shop://doc"}},` +
		`{"name":"shop/burn","meta":{"annotations":{"destructive":"false"},"mcp":{"uri":"shop://burn"}}},{"name":"` + LongID + `","meta":[]}]`
	return Abilities(map[string]*ask.Answer{
		"GET /wp-abilities/v1/abilities":        asktest.JSON(200, list),
		"GET /wp-abilities/v1/abilities/lab/no": asktest.JSON(404, `{"code":"rest_ability_not_found"}`),
		"GET /wp/v2/users/me":                   asktest.JSON(200, me),
	})
}

// CutOf is what adapters call an ability with an id over 128 characters.
func CutOf(id string) string {
	return mcp.Dashed(id)[:115] + fmt.Sprintf("-%.6x", md5.Sum([]byte(id))) //nolint:gosec // the adapter's own choice
}

// ReadOf is a message that reads a resource.
func ReadOf(uri string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"` + uri + `"}}`
}

// Ids of abilities that are over 128 characters.
var (
	LongID  = "long/" + strings.Repeat("x", 130)
	CutName = CutOf(LongID)
	// The platform lists neither of these.
	HiddenID = "gone/" + strings.Repeat("y", 130) + "-end"
	DashedID = "gone/a" + strings.Repeat("-", 130) + "b"
)

// Abilities answers like the abilities routes: query is readonly, update
// writes, delete is destructive.
func Abilities(extra map[string]*ask.Answer) *asktest.Platform {
	one := func(name, annotations, schema string) *ask.Answer {
		return asktest.JSON(200, `{"name":"`+name+`","input_schema":`+schema+`,"meta":{"annotations":`+annotations+`}}`)
	}
	schema := `{"type":"object","properties":{"id":{"type":"integer","minimum":1,"required":true},"status":{"type":"string","enum":["a","b"]}},"additionalProperties":false}`
	answers := map[string]*ask.Answer{
		"GET /wp-abilities/v1/abilities/shop/query":  one("shop/query", `{"readonly":true}`, schema),
		"GET /wp-abilities/v1/abilities/shop/update": one("shop/update", `{"readonly":false,"destructive":null}`, schema),
		"GET /wp-abilities/v1/abilities/shop/delete": one("shop/delete", `{"destructive":true,"idempotent":true}`, `[]`),
		"GET /wp-abilities/v1/abilities/shop/odd":    one("shop/odd", `{}`, `{"type":"no such type"}`),
		"GET /wp-abilities/v1/abilities/shop/ref":    one("shop/ref", `{}`, `{"$ref":"file:///etc/passwd"}`),
		"GET /wp-abilities/v1/abilities/shop/other":  one("shop/query", `{}`, `{}`),
	}
	maps.Copy(answers, extra)
	return asktest.Routed(answers)
}
