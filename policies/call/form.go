package call

import (
	"net/http"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// FormVariable returns a variable of the form of a POST, as PHP's $_POST has it. It looks into what has
// been read of the body, as that of every form has, and takes memory only where the form may set
// the variable. For an array, set is true and value is "". A part of a batch has no form, nor has a
// call after Settle. The error is a *Refusal, as in Param.
func (c *Call) FormVariable(name string) (value string, set bool, err error) {
	s := c.src
	if s == nil || s.part != nil || s.settled || s.wire != http.MethodPost || !s.mayPost(name) {
		return "", false, nil
	}
	v, set, refusal := s.postedVar(name, scalar)
	if refusal != nil {
		return "", false, refusal
	}
	value, _ = v.(string)
	return value, set, nil
}

// mayPost tells whether the form of a POST, as far as it has been read, may set a variable.
func (s *source) mayPost(name string) bool {
	if s.body == nil || !s.body.complete {
		return false
	}
	urlencoded, multipart, _ := s.postedType()
	if multipart != "" {
		vars, err := phpvars.MultipartOnly(multipart, s.body.reader(), name)
		if err != nil {
			return true // the reading says so
		}
		if _, set := vars.Get(name); set {
			return true
		}
	}
	return urlencoded != "" && s.body.hasVariable(name)
}

// BodyNames returns the names of the parameters that the body of c has, or its fields if c is a part
// of a batch, in any order. It reads nothing: there are none where nobody has asked for one of them.
// A name may hold anything.
func (c *Call) BodyNames() (names []string) {
	s := c.src
	if s == nil {
		return nil
	}
	if s.part != nil {
		if s.part.branch != nil {
			return s.part.branch.array.Keys()
		}
		return s.part.members.names()
	}
	if s.jsonRead {
		names = s.members.names()
	}
	if s.postedRead {
		for _, form := range s.postedVars {
			names = append(names, form.Names()...)
		}
	}
	return names
}
