package call

import (
	"net/http"
	"strings"
)

// method adds the places of the method: query, override header and request line.
func (s *sources) method() {
	wire, query := s.r.Method, s.r.URL.RawQuery
	value, times, set, own := methodIn(query)
	header := s.r.Header[overrideHeader]
	_, from, refusal := effective(wire, query, s.r.Header)
	differ := refusal == errMethod && set && len(header) > 0 && times == 1 && upper(value) != upper(header[0])
	switch {
	case !wireMethod(wire), wire == http.MethodConnect:
		from, refusal = inLine, errMethod
	case own != nil, times > 1:
		from = inQuery
	}
	s.methodVariable(value, set, func() string {
		switch {
		case own != nil:
			return because(own)
		case times > 1:
			return disputed("it stands there more than once")
		case differ:
			return disputed("the header " + override + " says something else")
		}
		return s.againstMethod(from == inQuery, refusal, "")
	})
	s.methodHeader(header, func() string {
		if differ {
			return disputed("_method in the query says something else")
		}
		return s.againstMethod(from == inHeader, refusal, "_method in the query comes before")
	})
	overridden := "overridden by _method in the query"
	if from == inHeader {
		overridden = "overridden by the header " + override
	}
	s.add(ofMethod, "request line", wire, s.againstMethod(from == inLine, refusal, overridden))
}

// override is overrideHeader as clients write it.
const override = "X-HTTP-Method-Override"

func (s *sources) methodVariable(value string, set bool, against func() string) {
	in := "query " + spelled(s.r.URL.RawQuery, methodVar)
	if !set {
		s.add(ofMethod, in, "", notThere)
		return
	}
	s.add(ofMethod, in, value, against())
}

func (s *sources) methodHeader(values []string, against func() string) {
	switch in := "header " + override; len(values) {
	case 0:
		s.add(ofMethod, in, "", notThere)
	case 1:
		s.add(ofMethod, in, values[0], against())
	default:
		s.add(ofMethod, in, strings.Join(values, ", "), disputed("it was sent more than once"))
	}
}

// againstMethod says why a place with one value did not name the method. chosen tells that
// the platform would take it.
func (s *sources) againstMethod(chosen bool, refusal *Refusal, otherwise string) string {
	switch {
	case chosen && refusal != nil:
		return because(refusal)
	case s.c.Kind == Refused:
		return s.afterwards()
	case chosen:
		return ""
	}
	return otherwise
}
