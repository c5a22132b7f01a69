package abilities

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
)

// askedCall is the call of r as a person is asked about it, but for its caller. All of it is
// part of what is confirmed. The error is confirm.ErrArguments or a *call.Refusal.
func (p *Abilities) askedCall(r *policy.Request, s *Subject, how string, input func() (any, bool, error)) (*confirm.Call, error) {
	asked := &confirm.Call{
		Shop: r.Site.ShopApart(r, r.Site.Apart), Runs: cmp.Or(s.ID, s.Name), How: how, Route: r.Call.Key, Door: doorOf(r),
	}
	var err error
	if asked.Arguments, err = shownArguments(input); err != nil || r.IsPart {
		return asked, err
	}
	beside, err := p.beside(r)
	if err != nil || len(beside) == 0 {
		return asked, err
	}
	asked.Beside, err = confirm.Arguments(beside)
	return asked, err
}

// beside is what a call carries beside what names it and its arguments: the rest of the query
// as sent, and the other members of the body. Credentials are left out: they say who calls, and
// some change with each call.
func (p *Abilities) beside(r *policy.Request) (map[string]any, error) {
	beside := map[string]any{}
	read := message.Read(r)
	isMessage := read != nil && read.Message != nil
	var query []string
	for pair := range strings.SplitSeq(r.HTTP.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name = phpvars.Decode(name)
		input := !isMessage && (name == "input" || strings.HasPrefix(name, "input["))
		if pair != "" && !input && name != "rest_route" && !p.site.IsCredential(name) {
			query = append(query, pair)
		}
	}
	if query != nil {
		beside["query"] = strings.Join(query, "&")
	}
	var body map[string]any
	if isMessage {
		text, err := message.Body(r)
		if err != nil {
			return nil, err
		}
		body = besideMessage(text)
	} else if v, err := r.Call.JSON(); err == nil {
		body, _ = v.(map[string]any)
		delete(body, "input")
	} else if r.HTTP.ContentLength != 0 {
		return nil, err
	}
	if len(body) > 0 {
		beside["body"] = body
	}
	return beside, nil
}

// besideMessage returns the members of a message that was read, without those that every
// message has, or that say what runs with what. Progress is asked for under a new token each
// time.
func besideMessage(body []byte) map[string]any {
	v, _, err := input(body)
	message, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	params, _ := message["params"].(map[string]any)
	arguments, _ := params["arguments"].(map[string]any)
	name, _ := params["name"].(string)
	for _, known := range []string{"jsonrpc", "id", "method", "params"} {
		delete(message, known)
	}
	for _, known := range []string{"name", "uri", "arguments", "_meta"} {
		delete(params, known)
	}
	if len(params) > 0 {
		message["params"] = params
	}
	if strings.HasSuffix(name, mcp.Executor) {
		delete(arguments, "ability_name")
		delete(arguments, "parameters")
		if len(arguments) > 0 {
			message["arguments"] = arguments
		}
	}
	return message
}

// doorOf names the route of r for a person, in the site's own pattern: the route as sent may
// hold a secret (docs/platform IV.1).
func doorOf(r *policy.Request) string {
	x := discover.Of(r.Site).Index(r.HTTP.Host)
	if x == nil {
		return index.Known(r.Call.Route)
	}
	if pattern, ok := x.Pattern(r.Call.Route); ok {
		return pattern
	}
	return index.Unknown
}

func shownArguments(input func() (any, bool, error)) (string, error) {
	value, set, err := input()
	if err != nil || !set {
		return "", err
	}
	return confirm.Arguments(value)
}

// runInput is abilityInput where it is certain that the ability gets what a person is shown:
// the platform reads the input of GET and DELETE from the query alone, any other from JSON
// alone (docs/platform IV.9).
func runInput(c *call.Call) (input any, set bool, err error) {
	_, inQuery := c.QueryVariable("input")
	inBody := false
	if c.Method == http.MethodGet || c.Method == http.MethodHead || c.Method == http.MethodDelete {
		body, err := c.RawBody()
		if err != nil {
			return nil, false, err
		}
		inBody, inQuery = len(body) > 0, false
	} else if _, err := c.JSONBody(); err != nil { // a form, say
		return nil, false, err
	}
	if inQuery || inBody {
		return nil, false, call.Ambiguous("parameter_place")
	}
	return abilityInput(c)
}
