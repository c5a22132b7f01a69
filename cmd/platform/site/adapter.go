package site

import (
	"errors"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// toolServer is a server of the MCP adapter: it offers abilities, and tools of its own, to
// agents. It reads messages as the real one does, which is as lax (docs/platform IV.2).
type toolServer struct {
	namespace, route   string
	name               string
	tools              []*tool
	resources, prompts []*ability
}

// path is the server's route.
func (v *toolServer) path() string { return "/" + v.namespace + v.route }

// adapterRoutes registers the servers as the adapter does: one endpoint with three methods
// and no arguments (docs/platform IV.1).
func (s *Site) adapterRoutes() {
	for _, server := range []*toolServer{s.defaultServer(), s.shopServer()} {
		s.router.add(server.namespace, server.route, "POST,GET,DELETE", endpoint{allow: mayUseTools, run: server.serve})
	}
}

// mayUseTools lets every user in; what a call may do is for its ability (docs/platform IV.4).
func mayUseTools(q *request) error {
	if !q.can("read") {
		return q.denied("rest_forbidden", "Sorry, you are not allowed to do that.")
	}
	return nil
}

func (v *toolServer) serve(q *request) (any, error) {
	switch q.method {
	case http.MethodPost:
		return v.post(q)
	case http.MethodDelete:
		return endToolSession(q)
	}
	return &reply{status: http.StatusMethodNotAllowed}, nil // no stream of events
}

// post answers the message, or the messages, in the body of a call.
func (v *toolServer) post(q *request) (any, error) {
	messages, isList, err := q.messages()
	if err != nil {
		return rpcReply(err)
	}
	answers := []obj{}
	for _, m := range messages {
		answer, err := v.answer(q, m)
		if err != nil {
			return rpcReply(err) // what ran before has run
		}
		if answer != nil {
			answers = append(answers, answer)
		}
	}
	switch {
	case isList:
		return answers, nil
	case len(answers) == 0:
		return &reply{status: http.StatusAccepted}, nil
	}
	rep := &reply{status: http.StatusOK, body: answers[0]}
	if e, ok := answers[0]["error"].(obj); ok {
		rep.status = rpcStatus(e["code"])
	}
	return rep, nil
}

// messages are those of the body, and whether they came as a list. An object with the key
// "0" is taken for one (docs/platform IV.2, 6 and 7).
func (q *request) messages() (messages []any, isList bool, err error) {
	var body any
	if phpvars.IsJSON(strings.Join(q.header.Values("Content-Type"), ", ")) {
		body, _ = decodeJSON(q.body) // the router has refused what does not parse
	}
	switch v := body.(type) {
	case nil:
		return nil, false, &rpcError{rpcParse, "Parse error: Invalid JSON in request body"}
	case []any:
		if len(v) > 0 && v[0] != nil {
			return v, true, nil
		}
	case obj:
		if v["0"] != nil {
			return members(q.body, v), true, nil
		}
	default:
		return nil, false, errFatal()
	}
	return []any{body}, false, nil
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	code    int
	message string
}

func (e *rpcError) Error() string { return e.message }

// The codes of JSON-RPC, and those of the adapter (docs/platform IV.7).
const (
	rpcParse      = -32700
	rpcInvalid    = -32600
	rpcNoMethod   = -32601
	rpcBadParams  = -32602
	rpcInternal   = -32603
	rpcNoResource = -32002
	rpcNoTool     = -32003
	rpcNoPrompt   = -32004
	rpcNoSession  = -32005
	rpcDenied     = -32008
)

// errHandler is what becomes of a PHP error while a message is handled.
var errHandler = &rpcError{rpcInternal, "Internal error: Handler error occurred"}

func rpcStatus(code any) int {
	switch code {
	case rpcParse, rpcInvalid:
		return http.StatusBadRequest
	case rpcDenied:
		return http.StatusForbidden
	case rpcNoMethod, rpcNoResource, rpcNoTool, rpcNoPrompt, rpcNoSession:
		return http.StatusNotFound
	case rpcInternal:
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// failed is the answer with an error; without an id where the message has none that counts.
func (e *rpcError) failed(id any) obj {
	answer := obj{"jsonrpc": "2.0", "error": obj{"code": e.code, "message": e.message}}
	if id != nil {
		answer["id"] = id
	}
	return answer
}

// rpcReply is the reply of a call that ends with an error of JSON-RPC; other errors are the
// platform's own.
func rpcReply(err error) (any, error) {
	var e *rpcError
	if !errors.As(err, &e) {
		return nil, err
	}
	return &reply{status: rpcStatus(e.code), body: e.failed(nil)}, nil
}
