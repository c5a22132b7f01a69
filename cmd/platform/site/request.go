package site

import "net/http"

// request is one REST call on its way through the router: the client's own, or
// a part of a batch.
type request struct {
	site   *Site
	wire   *http.Request
	header http.Header
	method string // effective
	route  string
	body   []byte

	json, form, query, url obj   // by precedence (docs/platform I.3)
	invalid                error // of a JSON body that does not parse
	endpoint               *endpoint

	user    *user
	key     *shopKey // where a shop key logged the caller in
	session string   // token of the login cookie in use
	cookie  bool     // the user is known by a login cookie without a nonce

	reply http.Header // headers of the answer
}

// sources are where parameters may come from, first wins. Form values count
// under writing methods only.
func (q *request) sources() []obj {
	switch q.method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return []obj{q.json, q.form, q.query, q.url}
	}
	return []obj{q.json, q.query, q.url}
}

// param is the effective value of a parameter; null falls through to the next
// source, the argument's default comes last.
func (q *request) param(name string) (v any, set bool) {
	for _, source := range q.sources() {
		if v := source[name]; v != nil {
			return v, true
		}
	}
	if q.endpoint != nil {
		if d := q.endpoint.args[name].Default; d != nil {
			return d, true
		}
	}
	return nil, false
}

func (q *request) has(name string) bool {
	_, set := q.param(name)
	return set
}

// str is a parameter as text, "" where it is not set.
func (q *request) str(name string) string {
	v, _ := q.param(name)
	return text(v)
}

// int is a parameter as a number, cast as PHP does.
func (q *request) int(name string) int {
	v, _ := q.param(name)
	return cast(v)
}

// bool is a parameter as a boolean, false where it is not set.
func (q *request) bool(name string) bool {
	v, _ := q.param(name)
	b, _ := truth(v)
	return b
}

// strings is a list parameter with its elements as text.
func (q *request) strings(name string) []string {
	v, _ := q.param(name)
	var out []string
	for _, item := range list(v) {
		out = append(out, text(item))
	}
	return out
}

// ints is a list parameter with its elements as numbers.
func (q *request) ints(name string) []int {
	v, _ := q.param(name)
	var out []int
	for _, item := range list(v) {
		out = append(out, cast(item))
	}
	return out
}

// can tells whether the caller has a capability.
func (q *request) can(capability string) bool {
	return q.user != nil && q.user.can(capability)
}

// part is a call inside q, as a batch makes it: same caller, own parameters.
func (q *request) part(method, route string, query, body obj) *request {
	p := *q
	p.method, p.route = method, route
	p.json, p.form, p.query, p.url = nil, body, query, nil
	p.endpoint, p.body, p.invalid = nil, nil, nil
	p.header, p.reply = q.header.Clone(), http.Header{}
	return &p
}
