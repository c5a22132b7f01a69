package call

import "github.com/restwarden/restwarden/policies/call/phpvars"

// queryValue is what a query says of a variable.
type queryValue struct {
	value    any
	set      bool
	apart    bool // something on the way, or some PHP, would find another value, see phpvars.Hidden and changes
	lost     bool // a cut may take it away
	repeated bool // a server that sorts the query would choose another value
}

// answers makes the parts of a batch that have its query read each variable of it once.
func (s *source) answers() map[string]queryValue {
	if s.asked == nil {
		s.asked = map[string]queryValue{}
	}
	return s.asked
}

func (s *source) inQuery(name string, levels int) (v queryValue) {
	if s.query == "" {
		return v
	}
	if known, ok := s.asked[name]; ok && levels == scalar {
		return known
	}
	if s.changed != nil || phpvars.MayName(s.query, name) {
		v.apart, v.lost = phpvars.Hidden(s.query, name) || s.changed.Sets(name), s.changed.Loses(name)
		v.value, v.set = s.queryVar(name, levels)
		if _, text := v.value.(string); text {
			v.repeated = phpvars.Count(s.query, name) > 1
		}
	}
	if s.asked != nil && levels == scalar {
		s.asked[name] = v
	}
	return v
}

func (s *source) queryVar(name string, levels int) (any, bool) {
	if v, times, plain := phpvars.Last(s.query, name); plain {
		return v, times > 0
	}
	return variable(phpvars.OfQuery(s.query), name, levels)
}
