package message

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policy"
)

// InnerREST are the roots of servers whose tools run REST calls inside the platform, where no
// rule sees the inner route (docs/platform IV.5).
var InnerREST = []string{"/wp/v2/wpmcp", "/mcp/v1", "/royal-mcp/v1", "/royal-mcp-server/v1"}

// restTool runs any REST call inside the platform (docs/platform IV.5).
const restTool = "run-api-function"

// Inside is the REST call that a tool runs inside the platform.
type Inside struct {
	Method string // in capitals
	// Key is that of the route, in lower case. The tool takes the route as it is: the platform compares it without decoding or
	// cleaning it, so that only a plain one is certain.
	Key string
}

// NamesRESTTool tells whether a text has the name of a tool that runs any REST call inside the platform.
func NamesRESTTool(text string) bool { return strings.Contains(Dashed(text), restTool) }

// InsideOf returns the REST call that a message runs; ok is false for one that runs no such tool. The error is a
// *call.Refusal: the arguments have no certain reading.
func InsideOf(m *mcp.Message) (in Inside, ok bool, err error) {
	if !m.Executes() || !strings.HasSuffix(Dashed(Runs(m)), restTool) {
		return in, false, nil
	}
	var saidRoute, saidMethod any
	err = EachArgument(m, func(name []byte, value jsontext.Value) {
		switch string(name) {
		case "route":
			saidRoute = jsonscan.Plain(value)
		case "method":
			saidMethod = jsonscan.Plain(value)
		}
	})
	if err != nil {
		return in, true, err
	}
	route, isRoute := saidRoute.(string)
	method, isMethod := saidMethod.(string)
	if !isRoute || !isMethod {
		return in, true, errInner
	}
	return Inside{strings.ToUpper(method), "/" + strings.ToLower(strings.Trim(route, "/"))}, true, nil
}

// Certain refuses a call whose route a reader may decode, cut off or clean, and one that runs further calls: a batch, or a
// message to a server of tools.
func (in Inside) Certain() error {
	plain := !strings.Contains(in.Key, "//") && strings.Trim(in.Key, "abcdefghijklmnopqrstuvwxyz0123456789/_-") == ""
	if !plain || in.Key == "/batch/v1" || strings.HasSuffix(in.Key, "/orders/batch") || NamesTools(in.Key) {
		return errInner
	}
	return nil
}

var errInner = call.Ambiguous("inner_route")

// Runs returns the name of the tool that a message calls, or the ability that this tool runs (docs/platform IV.3).
func Runs(m *mcp.Message) string {
	if m.Runs() {
		return m.Ability
	}
	return m.Name
}

// EachArgument goes through what a message hands to its tool. It decodes nothing: arguments may
// be large. The error is a *call.Refusal.
func EachArgument(m *mcp.Message, f func(name []byte, value jsontext.Value)) error {
	if m.Input != nil && !jsonscan.Each(m.Input, f) {
		return call.Ambiguous("message_arguments")
	}
	return nil
}

// Dashed returns a name as servers would offer it as a tool.
func Dashed(name string) string { return dashes.Replace(strings.ToLower(name)) }

var dashes = strings.NewReplacer("/", "-", "_", "-")

// Mentioning returns the message to a server of tools whose body has a text that fits, and nil where none does. Most tools
// are no matter of who asks, and some servers take messages that others do not (docs/platform IV.2): only such a message
// needs a certain reading. The error is that of reading it.
func Mentioning(r *policy.Request, fits func(text string) bool) (m *mcp.Message, body []byte, err error) {
	body, err = ToolBody(r)
	if err != nil || !mcp.Mentions(body, fits) {
		return nil, nil, err
	}
	m, err = Call(r)
	return m, body, err
}
