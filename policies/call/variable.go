package call

import (
	"net/http"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Variable returns a variable of the request as the platform's $_REQUEST has it: from the
// form of a POST, or else from the query. For an array, set is true and value is "". The
// error is a *Refusal, as in Param.
func (c *Call) Variable(name string) (value string, set bool, err error) {
	if c.src == nil {
		return "", false, nil
	}
	if c.src.part == nil && c.src.wire == http.MethodPost {
		v, set, refusal := c.src.postedVar(name, scalar)
		if refusal != nil {
			return "", false, refusal
		}
		if set {
			value, _ = v.(string)
			return value, true, nil
		}
	}
	value, set = c.QueryVariable(name)
	return value, set, nil
}

// postedValueLimit bounds the forms that PostedValue reads. The forms of the platform's own
// scripts are far smaller.
const postedValueLimit = 16 << 10

// PostedValue returns a variable of a small urlencoded form that a POST brings. It leaves
// any other body unread, and a body whose length is not announced. For an array, set is
// true and value is "".
func (c *Call) PostedValue(name string) (value string, set bool) {
	if c.src == nil || c.src.wire != http.MethodPost || c.src.r.ContentLength <= 0 || c.src.r.ContentLength > postedValueLimit || c.src.encoded() {
		return "", false
	}
	if urlencoded, _ := phpvars.FormKind(c.src.r.Header.Get("Content-Type")); !urlencoded {
		return "", false
	}
	if c.src.load(postedValueLimit) != nil {
		return "", false
	}
	form, refusal := c.src.text()
	if refusal != nil {
		return "", false
	}
	v, set := phpvars.OfForm(form).Get(name, scalar)
	value, _ = v.(string)
	return value, set
}

// QueryVariable returns a variable of the query alone. For an array, and where it stands next
// to a ";" or a cache may cut it away, set is true and value is "".
func (c *Call) QueryVariable(name string) (value string, set bool) {
	if c.src == nil {
		return "", false
	}
	v := c.src.inQuery(name, scalar)
	if v.apart || v.lost {
		return "", true
	}
	value, _ = v.value.(string)
	return value, v.set
}

// QueryNames returns the names of the variables in the query.
func (c *Call) QueryNames() []string {
	if c.src == nil || c.src.query == "" {
		return nil
	}
	return phpvars.OfQuery(c.src.query).Names()
}

// CertainQuery is QueryNames with whether every front-end and release of PHP reads the same
// names.
func (c *Call) CertainQuery() (names []string, certain bool) {
	if c.src == nil || c.src.query == "" {
		return nil, true
	}
	return c.QueryNames(), !uncertain(c.src.query)
}

// Each returns the calls of a request: its parts, or itself.
func (c *Call) Each() []*Call {
	if c.Kind == Batch {
		return c.Parts
	}
	return []*Call{c}
}
