package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/call"
)

// A server in front of the platform may show a page of its own in place of each error (nginx:
// fastcgi_intercept_errors, Apache: ProxyErrorOverride; docs/platform I.13). What the platform
// says of a record, a caller or a key stands in such bodies. In an envelope the platform says the
// same with status 200, which no server replaces: the same route has run for the same caller.

// envelopeParam is the variable that has the platform wrap its answer.
const envelopeParam = "_envelope"

// lost tells whether a, the answer to q, may be one of the platform's whose body a server has
// replaced. Only a question that changes nothing is put again.
func (q *Question) lost(a *Answer) bool {
	if q.Page != "" || q.Envelope || !q.reads() {
		return false
	}
	switch a.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return a.Code() == ""
	case http.StatusOK: // nginx: error_page 404 =200 /404.html
		return isPage(a)
	}
	return false
}

// opened returns the answer that stands in the envelope a. It returns nil if a is none: then
// something else than the platform has answered.
func (a *Answer) opened() *Answer {
	if a.Status != http.StatusOK {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(a.Body, &members) != nil || len(members) != 3 {
		return nil
	}
	body, whole := members["body"]
	var status int
	header, ok := headerIn(members["headers"])
	if !whole || !ok || json.Unmarshal(members["status"], &status) != nil || status < 200 || status > 599 {
		return nil
	}
	all := a.Header.Clone() // with what PHP has sent beside the platform's answer
	if all == nil {
		all = http.Header{}
	}
	for name, value := range header {
		all.Set(name, value)
	}
	return &Answer{Status: status, Header: all, Body: body, Enveloped: true}
}

// headerIn reads the header in an envelope: strings and numbers by name, an empty list for none.
func headerIn(raw json.RawMessage) (header map[string]string, ok bool) {
	if string(raw) == "[]" {
		return nil, true
	}
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&values) != nil || values == nil {
		return nil, false
	}
	header = map[string]string{}
	for name, value := range values {
		header[name] = fmt.Sprint(value)
	}
	return header, true
}

// isServers tells whether a or err, of a question in an envelope, is a server's and not the platform's.
func isServers(a *Answer, err error) bool {
	if unexpected, ok := errors.AsType[*UnexpectedError](err); ok {
		return !unexpected.Answer.Enveloped
	}
	return err == nil && !a.Enveloped
}

// mayTurn tells whether q may be put in the query in place of the path. Behind a rewrite the two
// addresses of a question belong to the path.
func (q *Question) mayTurn() bool {
	return q.Either && !q.ByQuery && q.Form == call.Pretty && q.Rewritten == nil
}

// Turned returns q in the query, where that is possible.
func (q Question) Turned() Question {
	q.ByQuery = q.mayTurn()
	return q
}
