package mcp

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
)

// Why a body is no certain message.
var (
	errSyntax    = call.Ambiguous("message")           // no JSON object in UTF-8, a key twice, too deep
	errList      = call.Ambiguous("message_list")      // a list, or an object that PHP takes for one
	errEnvelope  = call.Ambiguous("message_envelope")  // jsonrpc, id, method or params of another form
	errName      = call.Ambiguous("message_name")      // a name, uri or ability that some servers trim or refuse
	errArguments = call.Ambiguous("message_arguments") // neither an object nor an empty list
	errHeaders   = call.Ambiguous("message_headers")   // Mcp-Method or Mcp-Name that differ from the body
)

// maxMembers bounds the members of one object, as for other inspected JSON.
const maxMembers = 4096

// Bounds of what names something. Servers cut longer names (docs/platform IV.3).
const (
	maxName = 128
	maxURI  = 2048
	maxID   = 256
)

// Read reads one message and the headers that repeat it. The error is a *call.Refusal with
// status 400: some server would read the body in another way, or not at all.
func Read(body []byte, h http.Header) (*Message, error) { return certain(body, h, false) }

// ReadCall is Read for those who only need to know what a message runs if it runs. It also
// takes a message without jsonrpc or id, and one whose members stand beside method in place
// of params: a server either runs nothing of it, or what it says (docs/platform IV.2).
func ReadCall(body []byte, h http.Header) (*Message, error) { return certain(body, h, true) }

func certain(body []byte, h http.Header, old bool) (*Message, error) {
	m, refusal := read(body, old)
	if refusal == nil && !m.repeats(h) {
		refusal = errHeaders
	}
	if refusal != nil {
		return nil, refusal
	}
	return m, nil
}

// read reads a message, in the forms of old clients too if old is true.
func read(body []byte, old bool) (*Message, *call.Refusal) {
	members, refusal := object(body)
	if refusal != nil {
		return nil, refusal
	}
	if old {
		members = modern(members)
	}
	m := new(Message)
	if refusal := m.envelope(members); refusal != nil {
		return nil, refusal
	}
	params, refusal := m.params(members)
	if refusal != nil || !m.Executes() {
		return m, refusal
	}
	if m.ID == "" && !old { // some servers run it, some do not
		return nil, errEnvelope
	}
	return m, m.executing(params)
}

// modern returns the members of a message of an old client as a newer one would send them.
func modern(members map[string]jsontext.Value) map[string]jsontext.Value {
	if _, set := members["jsonrpc"]; !set {
		members["jsonrpc"] = jsontext.Value(`"2.0"`)
	}
	name, beside := members["name"]
	if _, set := members["params"]; set || !beside {
		return members
	}
	params := []byte(`{"name":` + string(name))
	if arguments, set := members["arguments"]; set {
		params = append(append(params, `,"arguments":`...), arguments...)
	}
	members["params"] = append(params, '}')
	delete(members, "name")
	return members
}

// object reads the members of the outermost object.
func object(body []byte) (map[string]jsontext.Value, *call.Refusal) {
	body = bytes.Trim(body, " \t\r\n")
	if len(body) > 0 && body[0] == '[' {
		return nil, errList
	}
	members, ok := membersOf(body)
	if !ok {
		return nil, errSyntax
	}
	for key := range members {
		if integerKey(key) {
			return nil, errList
		}
	}
	return members, nil
}

// membersOf reads an object whose names are unique at every depth. Names are compared as
// PHP compares them, after escapes. ok is false for anything else. The values are slices of
// text.
func membersOf(text jsontext.Value) (members map[string]jsontext.Value, ok bool) {
	if _, fits := jsonscan.Outline(text); !fits || !text.IsValid() {
		return nil, false
	}
	return membersInside(text)
}

// membersInside is membersOf for a text that is known to be valid.
func membersInside(text jsontext.Value) (members map[string]jsontext.Value, ok bool) {
	members = map[string]jsontext.Value{}
	ok = jsonscan.Each(text, func(name []byte, value jsontext.Value) {
		if len(members) <= maxMembers {
			members[string(name)] = value
		}
	})
	return members, ok && len(members) <= maxMembers
}

// integerKey tells whether PHP makes an integer of a key. An object with the key 0 is a list
// to some servers.
func integerKey(key string) bool {
	digits := strings.TrimPrefix(key, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// envelope takes jsonrpc, id and method.
func (m *Message) envelope(members map[string]jsontext.Value) *call.Refusal {
	version, _ := text(members["jsonrpc"])
	method, isText := text(members["method"])
	reply := isReply(members)
	if _, beside := members["name"]; version != "2.0" || beside || !reply && (!isText || !plainMethod(method)) {
		return errEnvelope
	}
	id, known := members["id"]
	switch {
	case !known || id.Kind() == 'n':
	case !plainID(id):
		return errEnvelope
	default:
		m.ID = string(id)
	}
	m.Method = method
	return nil
}

// isReply tells whether a message answers a request of the server: it has a result or an error,
// and neither method nor params.
func isReply(members map[string]jsontext.Value) bool {
	_, result := members["result"]
	_, failed := members["error"]
	_, method := members["method"]
	_, params := members["params"]
	return (result || failed) && !method && !params
}

// plainMethod tells whether a method is a word that no server reads as another one.
func plainMethod(method string) bool {
	return method != "" && len(method) <= maxName && strings.Trim(method, letters+"0123456789/_-") == ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// plainID tells whether an id is a text or an integer that PHP keeps as it is.
func plainID(id jsontext.Value) bool {
	if id.Kind() == '"' {
		return len(id) <= maxID
	}
	return id.Kind() == '0' && len(id) <= 16 && strings.Trim(string(id), "-0123456789") == ""
}

// params returns the members of params, which only messages that run nothing may lack.
func (m *Message) params(members map[string]jsontext.Value) (map[string]jsontext.Value, *call.Refusal) {
	raw, set := members["params"]
	if !set || raw.Kind() == 'n' || jsonscan.EmptyList(raw) {
		return nil, nil
	}
	params, ok := membersInside(raw)
	if !ok {
		return nil, errEnvelope
	}
	if _, nested := params["params"]; nested {
		return nil, errEnvelope
	}
	return params, nil
}

// executing takes what a message names and hands over.
func (m *Message) executing(params map[string]jsontext.Value) *call.Refusal {
	if m.Method == ResourcesRead {
		uri, ok := text(params["uri"])
		if !ok || !plainURI(uri) {
			return errName
		}
		m.URI = uri
		return nil
	}
	name, ok := text(params["name"])
	if !ok || !plainName(name) || m.Method == PromptsGet && (IsAdapters(name) || strings.HasSuffix(name, Executor)) { // a prompt could run any ability by that
		return errName
	}
	m.Name = name
	input, ok := argument(params["arguments"])
	if !ok {
		return errArguments
	}
	m.Input, m.Arguments = input, input
	if m.Method == ToolsCall && (strings.HasSuffix(name, Executor) || strings.HasSuffix(name, Describer)) {
		return m.ability()
	}
	return nil
}

// plainName tells whether all servers take a name for the same tool. Newer adapters drop
// blanks and NUL around it. Only the tools of the default server are known by a slash, too.
func plainName(name string) bool {
	allowed := letters + "0123456789_.-"
	if strings.HasSuffix(name, "/"+Executor) || strings.HasSuffix(name, "/"+Describer) {
		allowed += "/"
	}
	return name != "" && len(name) <= maxName && strings.Trim(name, allowed) == ""
}

// plainURI tells whether a uri is printable ASCII without blanks.
func plainURI(uri string) bool {
	scheme, _, _ := strings.Cut(uri, ":")
	return uri != "" && scheme == strings.ToLower(scheme) && len(uri) <= maxURI && strings.IndexFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}

// ability takes the id that one of the default server's tools names, and its input.
func (m *Message) ability() *call.Refusal {
	arguments, ok := membersInside(m.Input)
	id, isText := text(arguments["ability_name"])
	if !ok || !isText || !AbilityID(id) || strings.HasSuffix(id, Executor) { // it would run a third one
		return errName
	}
	m.Ability, m.Input = id, nil
	if strings.HasSuffix(m.Name, Describer) {
		return nil
	}
	if m.Input, ok = argument(arguments["parameters"]); !ok {
		return errArguments
	}
	return nil
}

// AbilityID tells whether the platform registers abilities under such an id: two words of
// lower case letters, digits and dashes with a slash between them (docs/platform IV.3).
func AbilityID(id string) bool {
	namespace, name, ok := strings.Cut(id, "/")
	word := func(s string) bool { return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" }
	return ok && len(id) <= 2*maxName && word(namespace) && word(name)
}

// argument returns an object, or nil for what PHP takes for no input.
func argument(raw jsontext.Value) (object jsontext.Value, ok bool) {
	switch {
	case raw == nil, raw.Kind() == 'n', jsonscan.EmptyList(raw):
		return nil, true
	}
	return raw, raw.Kind() == '{'
}

// text returns a JSON text without its quotes and escapes.
func text(raw jsontext.Value) (s string, ok bool) {
	if raw.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}
