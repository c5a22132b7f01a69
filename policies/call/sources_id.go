package call

import (
	"encoding/json"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// id adds the places of the id on the routes of one order or subscription: JSON body, form
// body, query and path.
func (s *sources) id() {
	path, ok := s.c.objectPath()
	if !ok {
		return
	}
	v, from, refusal := s.src.find("id", whole)
	id := idSources{sources: s, from: from, refusal: refusal}
	if from == nowhere && refusal == nil {
		v = path
	}
	if _, plain := objectID(v); !plain && refusal == nil {
		id.refusal = errID
	}
	if s.src.part != nil {
		v, set, own := s.src.part.get("id", whole)
		id.place(inPart, v, set, own, notThere)
	} else {
		id.bodies()
	}
	v, set := s.src.queryVar("id", whole)
	id.place(inQuery, v, set, nil, notThere)
	id.place(nowhere, path, true, nil, "")
}

// idSources adds the places of one id.
type idSources struct {
	*sources
	from    origin   // that names the id; nowhere for the path
	refusal *Refusal // of the id
}

// bodies adds JSON and form. A body behind the place that names the id is not asked: its
// reading could fail.
func (s *idSources) bodies() {
	v, set, own := s.src.jsonVar("id", whole)
	s.place(inJSON, v, set, own, s.withoutJSON())
	if s.from == inJSON {
		s.add(ofID, placeOfID[inForm], "", "not read: "+comesBefore[inJSON])
		return
	}
	if !writes(s.c.Method) {
		s.add(ofID, placeOfID[inForm], "", "not read: a form does not count for "+s.c.Method)
		return
	}
	v, set, own = s.src.postedVar("id", whole)
	s.place(inForm, v, set, own, s.withoutForm())
}

func (s *idSources) withoutJSON() string {
	switch {
	case s.src.r.ContentLength == 0:
		return "there is no body"
	case !s.src.isJSON():
		return "the body is not JSON"
	case s.nullID():
		return "null does not count"
	}
	return notThere
}

func (s *idSources) nullID() bool {
	raw, set := s.src.members.get("id")
	return set && raw.Kind() == 'n'
}

func (s *idSources) withoutForm() string {
	switch {
	case s.src.r.ContentLength == 0:
		return "there is no body"
	case len(s.src.postedVars) == 0:
		return "the body is no form"
	}
	return notThere
}

// placeOfID has the words for the places of an id.
var placeOfID = map[origin]string{
	nowhere: "path", inPart: "part id", inJSON: "JSON body id", inForm: "form id", inQuery: "query id",
}

// comesBefore says why a place behind the one that names the id does not count.
var comesBefore = map[origin]string{
	inPart: "the part comes before", inJSON: "the JSON body comes before",
	inForm: "the form comes before", inQuery: "the query comes before",
}

// place adds one place. otherwise says why it has nothing.
func (s *idSources) place(at origin, v any, set bool, own *Refusal, otherwise string) {
	in, value := placeOfID[at], valueText(v)
	if at == inQuery {
		in = "query " + spelled(s.src.query, "id")
	}
	switch {
	case own != nil:
		s.add(ofID, in, value, because(own))
	case !set:
		s.add(ofID, in, "", otherwise)
	case s.from != at:
		s.add(ofID, in, value, comesBefore[s.from])
	case s.refusal != nil:
		s.add(ofID, in, value, because(s.refusal))
	default:
		s.add(ofID, in, value, "")
	}
}

// valueText writes a value of a parameter.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *phpvars.Array:
		return "[" + strings.Join(v.Keys(), ", ") + "]"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
