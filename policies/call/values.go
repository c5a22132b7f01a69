package call

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// MaxPath is how many names the path of Values may have.
const MaxPath = 4

// Values returns what each place of c says of a parameter, or of a member of it that a path of names leads to: JSON,
// form and query, or a part of a batch and its query. A place that does not have it is left out. A value is as in
// Scalar, and nil for a null. A Compound stands for a member of what has no names, too, and for what the platform does
// not take, while a handler may look at it: a file, or a field of a form that comes with a method that reads.
// The error is a *Refusal, as in Param, also where a place has no certain value that the platform would not look at.
func (c *Call) Values(path ...string) (values []any, err error) {
	if c.src == nil {
		return nil, nil
	}
	for _, place := range [...]func([]string) (any, bool, *Refusal){c.src.inBody, c.src.inForm, c.src.inFiles, c.src.inAddress} {
		v, set, refusal := place(path)
		if refusal != nil {
			return nil, refusal
		}
		if set {
			values = append(values, v)
		}
	}
	return values, nil
}

// inBody finds a member of the JSON body or of a part.
func (s *source) inBody(path []string) (any, bool, *Refusal) {
	var object *members
	switch {
	case s.part == nil:
		if _, _, refusal := s.rawJSON(path[0]); refusal != nil {
			return nil, false, refusal
		}
		object = s.members
	case s.part.gone:
		return nil, false, errBody
	case s.part.branch != nil:
		v, set, refusal := s.part.branch.get(path[0], len(path))
		if !set || refusal != nil {
			return nil, false, refusal
		}
		return within(v, path[1:])
	default:
		object = s.part.members
	}
	raw, set := object.get(path[0])
	if !set {
		return nil, false, nil
	}
	for _, name := range path[1:] {
		if raw, set = memberOf(raw, name); !set || raw == nil {
			return Compound{}, set, nil
		}
	}
	if raw.Kind() == 'n' {
		return nil, true, nil
	}
	v, refusal := decodeLevels(raw, scalar)
	return v, true, refusal
}

// memberOf finds a member of an object that is known to be valid. raw is nil where the value is no object, or has
// the name twice.
func memberOf(value jsontext.Value, name string) (raw jsontext.Value, set bool) {
	times := 0
	object := jsonscan.Each(value, func(found []byte, of jsontext.Value) {
		if string(found) == name {
			raw = of
			times++
		}
	})
	switch {
	case !object:
		return nil, !jsonscan.EmptyList(value)
	case times > 1:
		return nil, true
	}
	return raw, times == 1
}

func (s *source) inForm(path []string) (any, bool, *Refusal) {
	if s.part != nil {
		return nil, false, nil
	}
	v, set, refusal := s.postedVar(path[0], len(path))
	switch {
	case !set || refusal != nil:
		return nil, false, refusal
	case !writes(s.method): // the platform takes no value from there
		return Compound{}, true, nil
	}
	return within(v, path[1:])
}

// inFiles stands for a file that a member would be a part of.
func (s *source) inFiles(path []string) (any, bool, *Refusal) {
	if s.part != nil {
		return nil, false, nil
	}
	if refusal := s.posted(); refusal != nil {
		return nil, false, refusal
	}
	files, refusal := s.hasFiles(path[0])
	return Compound{}, files, refusal
}

func (s *source) inAddress(path []string) (any, bool, *Refusal) {
	v := s.inQuery(path[0], len(path))
	switch {
	case v.apart, v.repeated, v.lost, v.set && len(path) > 1 && phpvars.OrderMatters(s.query, path[0]):
		return nil, false, errVariable
	case !v.set:
		return nil, false, nil
	}
	return within(v.value, path[1:])
}

func inArray(a *phpvars.Array, path []string) (any, bool, *Refusal) {
	v, set := a.Get(path[0])
	if !set {
		return nil, false, nil
	}
	return within(v, path[1:])
}

// within finds what a path leads to below a value of PHP.
func within(v any, path []string) (any, bool, *Refusal) {
	array, is := v.(*phpvars.Array)
	switch {
	case len(path) == 0 && is:
		return Compound{}, true, nil
	case len(path) == 0:
		return v, true, nil
	case !is:
		return Compound{}, true, nil
	}
	return inArray(array, path)
}
