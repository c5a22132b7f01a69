package call

import (
	"net/http"
	"strings"

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

// RequestNames returns the names of all variables in $_REQUEST: those of the query, and those of the
// form of a POST. certain is as in CertainQuery, for both, and false with a ";", at which some PHP
// splits, and where caches may make other variables of the query. The error is a *Refusal, as in Param.
func (c *Call) RequestNames() (names []string, certain bool, err error) {
	s := c.src
	if s == nil {
		return nil, true, nil
	}
	names, certain = c.CertainQuery()
	certain = certain && !strings.Contains(s.query, ";") && s.changed.Certain()
	if s.part != nil || s.wire != http.MethodPost {
		return names, certain, nil
	}
	if refusal := s.posted(); refusal != nil {
		return nil, false, refusal
	}
	for _, form := range s.postedVars {
		names = append(names, form.Names()...)
	}
	if s.urlencoded {
		form, refusal := s.text()
		if refusal != nil {
			return nil, false, refusal
		}
		certain = certain && !strings.Contains(form, ";")
	}
	return names, certain, nil
}

// Each returns the calls of a request: its parts, or itself.
func (c *Call) Each() []*Call {
	if c.Kind == Batch {
		return c.Parts
	}
	return []*Call{c}
}
