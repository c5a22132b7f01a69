package mcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Message is one request or notification of a client. Input and Arguments are slices of the
// body that it was read from.
type Message struct {
	ID     string // as written, a JSON text or integer; "" for a notification
	Method string // "tools/call"; "" for the answer to a request of the server
	Name   string // of the tool or prompt; "" for other methods
	URI    string // of the resource; "" for other methods
	// Ability is the id that a tool of the adapter's default server names, see [Executor].
	Ability string
	// Input is what the tool gets: the member arguments, or parameters if Ability is set.
	// It is an object, or nil if the message has none or an empty list.
	Input jsontext.Value
	// Arguments are all that the tool gets; they differ from Input if Ability is set.
	Arguments jsontext.Value
}

// The methods that run something (docs/platform IV.2).
const (
	ToolsCall     = "tools/call"
	ResourcesRead = "resources/read"
	PromptsGet    = "prompts/get"
)

// Executing are the methods that run something on any server.
var Executing = []string{ToolsCall, ResourcesRead, PromptsGet}

// The methods whose answers list what a server offers.
const (
	ToolsList         = "tools/list"
	ToolsListAll      = "tools/list/all" // the adapter's other name for it
	PromptsList       = "prompts/list"
	ResourcesList     = "resources/list"
	ResourceTemplates = "resources/templates/list"
)

// safe are the methods that run nothing on any server.
var safe = []string{
	"initialize", "ping", "server/discover", "logging/setLevel", "completion/complete", "roots/list",
	ToolsList, ToolsListAll, PromptsList, ResourcesList, ResourceTemplates,
}

// Methods are the methods that some server answers.
var Methods = slices.Concat(Executing, safe)

// Is tells whether the message has one of methods. Both names of the list of tools are one
// method.
func (m *Message) Is(methods ...string) bool {
	return slices.ContainsFunc(methods, func(method string) bool { return oneName(method) == oneName(m.Method) })
}

func oneName(method string) string {
	if method == ToolsListAll {
		return ToolsList
	}
	return method
}

// Executes tells whether the message runs something.
func (m *Message) Executes() bool {
	return m.Method == ToolsCall || m.Method == ResourcesRead || m.Method == PromptsGet
}

// Safe tells whether the message runs nothing: the methods of the protocol that only list
// and greet, and notifications. Any other method may be a server's own.
func (m *Message) Safe() bool {
	return m.Method == "" || slices.Contains(safe, m.Method) || m.ID == "" && strings.HasPrefix(m.Method, "notifications/")
}

// The tools by which the adapter's default server runs and describes abilities
// (docs/platform IV.3). Other servers may offer them under a prefix of their own, and other
// abilities may have such a name.
const (
	Executor  = "execute-ability"
	Describer = "get-ability-info"
	Discovery = "discover-abilities"
)

// IsAdapters tells whether a name is that of one of the default server's three tools.
func IsAdapters(name string) bool {
	tool, ok := strings.CutPrefix(Dashed(name), "mcp-adapter-")
	return ok && (tool == Executor || tool == Describer || tool == Discovery)
}

// Runs tells whether the message runs the ability that it names.
func (m *Message) Runs() bool { return m.Ability != "" && strings.HasSuffix(m.Name, Executor) }

// Lists tells whether the answer lists what the server offers. Some servers answer a message
// without an id, too.
func (m *Message) Lists() bool {
	switch m.Method {
	case ToolsList, ToolsListAll, PromptsList, ResourcesList, ResourceTemplates:
		return true
	}
	return m.Method == ToolsCall && IsAdapters(m.Name) && strings.HasSuffix(m.Name, Discovery)
}

// The headers that repeat the method and the name of the body, from revision 2026-07-28 of
// the protocol on.
const (
	methodHeader = "Mcp-Method"
	nameHeader   = "Mcp-Name"
)

// Headers returns the canonical names of these headers.
func Headers() []string { return []string{methodHeader, nameHeader} }

// repeats tells whether the headers say of the message what its body says.
func (m *Message) repeats(h http.Header) bool {
	for _, v := range h[methodHeader] {
		if v != m.Method {
			return false
		}
	}
	for _, v := range h[nameHeader] {
		if v != m.Name+m.URI { // one of them is ""
			return false
		}
	}
	return true
}
