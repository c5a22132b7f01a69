package call

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/jsonscan"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Writes tells whether the platform takes the fields of a form for parameters of c: its effective method is POST,
// PUT, PATCH or DELETE (docs/platform I.3).
func (c *Call) Writes() bool { return writes(c.Method) }

// Names are names of parameters, or of members of one. Below a name stand those that its value may have: it is an
// object, or an array of a form. With nil its value may be anything.
type Names map[string]Names

// CarriesOther tells whether a call that writes carries a parameter, in JSON, form, query or a part of a batch, that
// is none of only, and none that known tells, or a body whose fields are no parameters: a file, a list, another type.
// A member that is null counts, and so does a parameter that another one hides. The path has none, nor has what names
// the item of a batch of the shop. The error is a *Refusal, as in Param, also where the names of the query or the form
// are not certain.
func (c *Call) CarriesOther(only Names, known func(name string) bool) (bool, error) {
	if c.src == nil {
		return false, nil
	}
	o := others{c.src, only, known}
	find := o.ofBody
	if c.src.part != nil {
		find = o.ofPart
	}
	for _, find := range [...]func() (bool, *Refusal){o.ofQuery, find} {
		switch found, refusal := find(); {
		case refusal != nil:
			return true, refusal
		case found:
			return true, nil
		}
	}
	return false, nil
}

// others looks for what a call carries beside what it may.
type others struct {
	*source
	only  Names
	known func(string) bool
}

// top tells whether a parameter is one too many, and which members it may have; nil for all.
func (o *others) top(name string) (below Names, other bool) {
	below, listed := o.only[name]
	return below, !listed && !o.known(name)
}

func (o *others) ofQuery() (bool, *Refusal) {
	switch {
	case o.query == "":
		return false, nil
	case uncertain(o.query), strings.Contains(o.query, ";"), !o.changed.Certain():
		return false, errVariable
	}
	for name, below := range o.only {
		if below != nil && phpvars.OrderMatters(o.query, name) {
			return false, errVariable
		}
	}
	return o.amongVariables(phpvars.OfQuery(o.query)), nil
}

func (o *others) amongVariables(vars phpvars.Variables) bool {
	return slices.ContainsFunc(vars.Names(), func(name string) bool {
		below, other := o.top(name)
		if other || below == nil {
			return other
		}
		v, _ := vars.Get(name, 1+below.depth())
		return !below.holdsArray(v)
	})
}

func (o *others) ofPart() (bool, *Refusal) {
	switch p := o.part; {
	case p.gone:
		return false, errBody
	case p.branch == nil:
		return o.amongMembers(p.members, p.ids), nil
	default:
		for _, name := range p.branch.array.Keys() {
			if slices.Contains(p.ids, name) {
				continue
			}
			below, other := o.top(name)
			if other {
				return true, nil
			}
			if below != nil { // see branch.get
				return false, errBatch
			}
		}
	}
	return false, nil
}

// amongMembers looks at all members but ids.
func (o *others) amongMembers(m *members, ids []string) bool {
	if m == nil {
		return false
	}
	for i := range m.at {
		name := string(m.name(i))
		below, other := o.top(name)
		switch {
		case slices.Contains(ids, name):
		case other, below != nil && !below.holdsJSON(m.text[m.at[i].value:m.at[i].end]):
			return true
		}
	}
	return false
}

// depth is how many levels of names there are.
func (n Names) depth() (levels int) {
	for _, below := range n {
		levels = max(levels, below.depth()+1)
	}
	return levels
}

// holdsJSON tells whether a value is an object without other members. Clients in PHP write an empty list for one.
func (n Names) holdsJSON(value jsontext.Value) bool {
	holds := true
	object := jsonscan.Each(value, func(name []byte, value jsontext.Value) {
		below, listed := n[string(name)]
		holds = holds && listed && (below == nil || below.holdsJSON(value))
	})
	return object && holds || jsonscan.EmptyList(value)
}

func (n Names) holdsArray(v phpvars.Value) bool {
	array, is := v.(*phpvars.Array)
	return is && !slices.ContainsFunc(array.Keys(), func(name string) bool {
		below, listed := n[name]
		v, _ := array.Get(name)
		return !listed || below != nil && !below.holdsArray(v)
	})
}

// ofBody looks into JSON, or a form, and takes what is neither for one too many.
func (o *others) ofBody() (bool, *Refusal) {
	if o.r.ContentLength == 0 {
		return false, nil
	}
	if refusal := o.posted(); refusal != nil {
		return false, refusal
	}
	if found, refusal := o.ofForm(); found || refusal != nil {
		return found, refusal
	}
	switch {
	case o.isJSON():
		return o.ofJSON()
	case o.postedVars != nil:
		return false, nil
	case o.r.ContentLength > 0:
		return true, nil
	}
	refusal := o.load(o.rd.site.Limits.Body)
	return o.body != nil && o.body.size() > 0, refusal
}

func (o *others) ofForm() (bool, *Refusal) {
	if o.urlencoded {
		form, refusal := o.text()
		if refusal != nil {
			return false, refusal
		}
		switch {
		case strings.Contains(form, ";"):
			return false, errVariable
		case strings.HasPrefix(strings.TrimLeft(form, " \t\r\n"), "["): // a list of JSON is no variable, and a handler may read it
			return true, nil
		}
	} else if files, refusal := o.hasFiles(""); files || refusal != nil {
		return files, refusal
	}
	for _, vars := range o.postedVars {
		switch {
		case o.loose && len(vars.Names()) > 0:
			return false, errTwoBodies
		case o.amongVariables(vars):
			return true, nil
		}
	}
	return false, nil
}

// hasFiles tells whether the multipart form, which has been read, may have a file in the variable name, or with ""
// in any.
func (s *source) hasFiles(name string) (bool, *Refusal) {
	_, multipart, _ := s.postedType()
	if multipart == "" || s.postedVars == nil {
		return false, nil
	}
	files, err := phpvars.HasFiles(multipart, s.body.reader(), name)
	if err != nil {
		return false, errBody
	}
	return files, nil
}

func (o *others) ofJSON() (bool, *Refusal) {
	if _, _, refusal := o.rawJSON(""); refusal != nil || o.body == nil {
		return false, refusal
	}
	data, refusal := o.onePiece()
	switch text := jsontext.Value(data); {
	case refusal != nil:
		return false, refusal
	case o.members != nil && len(o.members.at) > 0 && o.droppable():
		return false, errTwoBodies
	case o.members != nil:
		return o.amongMembers(o.members, nil), nil
	case len(data) == 0, jsonscan.EmptyList(text), text.Kind() == 'n':
		return false, nil
	}
	return true, nil
}
