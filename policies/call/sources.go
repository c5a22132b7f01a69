package call

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// Source is a place of a request that may name the route, the method or the id of a call.
type Source struct {
	Of    string // "route", "method" or "id"
	In    string // the place, with the name as it is spelled there: "query rest.route"
	Value string // what the place says, decoded
	Named bool   // the reading took it
	Why   string // why the reading did not take it; it begins with "disputed" where the place has no certain reading
}

// What a Source may name.
const (
	ofRoute  = "route"
	ofMethod = "method"
	ofID     = "id"
)

// Sources returns the places that c was read from, in the order in which the platform
// looks at them (docs/platform I.1.2, I.2, I.3). Of a call, one place names the route and
// one the method, and one the id where [Call.ObjectID] knows it. A page has places for a
// route alone. Of a refused request no place names anything.
//
// rd is the Reader of c, and r and original are what it has read. Sources asks the functions
// of the reading once more, and changes nothing. It must be called before r is forwarded and
// before c is closed.
func (rd *Reader) Sources(c *Call, r *http.Request, original *url.URL) []Source {
	if original == r.URL {
		original = nil
	}
	s := &sources{rd: rd, c: c, r: r, original: original, src: c.src}
	if s.src == nil {
		s.src = &source{rd: rd, r: r, query: r.URL.RawQuery, wire: r.Method}
	}
	switch {
	case s.src.part != nil:
		s.add(ofRoute, "part", c.Route, "")
		s.add(ofMethod, "part", c.Method, "")
		s.id()
	case c.Kind == Page:
		s.route()
	default:
		s.route()
		s.method()
		s.id()
	}
	return s.list
}

// sources collects the sources of one reading.
type sources struct {
	rd       *Reader
	c        *Call
	r        *http.Request
	original *url.URL
	src      *source
	list     []Source
}

// add adds a place. Without a reason against it, the place has named what it is asked for.
func (s *sources) add(of, in, value, why string) {
	s.list = append(s.list, Source{Of: of, In: in, Value: value, Named: why == "", Why: why})
}

const notThere = "not there"

// disputed says that a place is why a request is refused.
func disputed(why string) string { return "disputed: " + why }

// because says what a place has to do with the refusal that it has caused.
func because(refusal *Refusal) string {
	if refusal.Code == CodeAmbiguous {
		return disputed(cmp.Or(disputes[refusal], refusal.Reason))
	}
	return "refused: " + refusal.Reason
}

// disputes has words for the refusals of which sources are the reason.
var disputes = map[*Refusal]string{
	errMethod:     "it is no method that is certain",
	errTarget:     "the address has bytes or a form that a server would change",
	errPath:       "the path has an odd spelling",
	errScriptPath: "a script stands in the path with more behind it",
	errTwoPaths:   "a rewrite has made another call or page of it",
	errTwoRoutes:  "the places name different routes, or one of them names two",
	errRoute:      "the route has characters or slashes that something on the way may change",
	errVariable:   "the value is an array, stands next to a \";\" or to what a cache cuts out, or the variables are at a limit of PHP",
	errBody:       "the body does not parse",
	errTwoBodies:  "only some servers read the body so",
	errID:         "it is no plain decimal number",
}

// route adds the places of the route: form, query and path.
func (s *sources) route() {
	value, set, refusal := routeIn(s.r.URL.RawQuery, between.ChangesOf(s.r.URL.RawQuery))
	s.formRoute()
	c := s.c
	in := "query " + spelled(s.r.URL.RawQuery, platforms.RouteVar)
	switch {
	case refusal != nil:
		s.add(ofRoute, in, value, because(refusal))
	case c.Kind == Refused && c.Refusal == errVariable && uncertain(s.r.URL.RawQuery):
		s.add(ofRoute, in, value, because(errVariable))
	case !set:
		s.add(ofRoute, in, "", notThere)
	default:
		s.add(ofRoute, in, value, s.againstVariable(value, c.Form == Query, "the path comes before"))
	}
	s.pathRoutes(set)
}

// formRoute adds the form.
func (s *sources) formRoute() {
	in := "form " + platforms.RouteVar
	switch r := s.r; {
	case r.Method != http.MethodPost:
		s.add(ofRoute, in, "", "not read: the method is "+r.Method)
		return
	case r.ContentLength == 0:
		s.add(ofRoute, in, "", "not read: there is no body")
		return
	case s.c.Kind == Refused && s.c.src == nil:
		s.add(ofRoute, in, "", "not read: the request is refused before")
		return
	}
	urlencoded, multipart, _ := s.src.postedType()
	value, isSet, refusal := s.src.withPostedRoute("", false)
	switch {
	case refusal != nil:
		s.add(ofRoute, in, value, because(refusal))
	case urlencoded == "" && multipart == "":
		s.add(ofRoute, in, "", "not read: the body is no form")
	case !isSet:
		s.add(ofRoute, in, "", notThere)
	default:
		if multipart == "" {
			form, _ := s.src.text()
			in = "form " + spelled(form, platforms.RouteVar)
		}
		s.add(ofRoute, in, value, s.againstVariable(value, s.c.Posted, "the query says so too"))
	}
}

// againstVariable says why a value of rest_route did not name the route.
func (s *sources) againstVariable(value string, named bool, otherwise string) string {
	route, plain := dispatched(value)
	switch {
	case s.c.Kind == Refused && s.c.Refusal == errTwoRoutes:
		return because(errTwoRoutes)
	case s.c.Kind == Refused && s.c.Refusal == errRoute && (!plain || !straight(route)):
		return because(errRoute)
	case s.c.Kind == Refused:
		return s.afterwards()
	case cancelled(value):
		return fmt.Sprintf("%q is no route", value)
	case named:
		return ""
	}
	return otherwise
}

// afterwards is the reason of a place that said something certain, in a request that was
// refused for something else.
func (s *sources) afterwards() string { return "the request is refused: " + s.c.Refusal.Reason }

// pathRoutes adds the path, before and after a rewrite.
func (s *sources) pathRoutes(inQuery bool) {
	current := s.rd.readPath(s.r.URL)
	taken := s.c.Kind != Refused && s.c.Kind != Page && s.c.Form != Query
	if s.original == nil {
		s.path("path", current, s.againstPath(current, inQuery, taken))
		return
	}
	client := s.rd.readPath(s.original)
	s.path("path as the client sent it", client, s.againstPath(client, inQuery, taken && !current.isCall))
	s.path("path after the rewrite", current, s.againstPath(current, inQuery, taken && current.isCall))
}

func (s *sources) path(in string, p pathReading, why string) {
	if p.alias != "" {
		in += ", by " + p.alias
	}
	s.add(ofRoute, in, p.route, why)
}

// pathRefusals are those for which a path is refused, whatever it names.
var pathRefusals = []*Refusal{errPath, errScriptPath, errTarget, errTwoPaths}

// againstPath says why a path did not name the route.
func (s *sources) againstPath(p pathReading, inQuery, named bool) string {
	refused := s.c.Kind == Refused
	switch {
	case p.refusal != nil:
		return because(p.refusal)
	case refused && slices.Contains(pathRefusals, s.c.Refusal):
		return because(s.c.Refusal)
	case !p.isCall && refused && s.c.Refusal == errOutside:
		return because(errOutside)
	case !p.isCall:
		why := "no segment of it is " + strings.Join(s.rd.prefixes, " or ")
		if len(s.rd.rules) > 0 {
			why += ", and no alias fits"
		}
		return why
	case refused && (s.c.Refusal == errTwoRoutes || s.c.Refusal == errOutside || s.c.Refusal == errRoute && !straight(p.route)):
		return because(s.c.Refusal)
	case refused:
		return s.afterwards()
	case named:
		return ""
	case s.c.Form != Query:
		return "the path after the rewrite says so too"
	case inQuery:
		return "the query has rest_route, which comes before"
	}
	return "the form has rest_route, which comes before"
}

// spelled returns the name under which the last pair of a raw query or form sets the
// variable name.
func spelled(raw, name string) string {
	last := name
	for pair := range strings.SplitSeq(raw, "&") {
		if phpvars.Has(pair, name) {
			last, _, _ = strings.Cut(pair, "=")
		}
	}
	return last
}
