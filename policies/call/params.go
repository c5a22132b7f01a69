package call

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// source is where the parameters of a call come from. It reads each place when a question
// first needs it, and once.
type source struct {
	rd     *Reader
	holder budget.Holder
	r      *http.Request
	query  string
	wire   string
	method string
	body   *body
	first  *source     // that this one ends with, see Call.WithoutOverride
	listed int64       // of memory, for the lists of a batch until they are judged
	held   int64       // of memory, for its parts
	closed atomic.Bool // this reading of body has ended

	settled bool // see Call.Settle

	postedVars []phpvars.Variables // $_POST, then what the core parses itself
	postedRead bool
	loose      bool // front-ends differ in whether the body is a form
	urlencoded bool // some PHP splits the form at ";" as it does queries (docs/platform I.1.5; I.13, B7)
	members    *members
	jsonRead   bool
	parts      int  // that a batch may have
	typed      bool // the Content-Type says JSON, once typeRead
	typeRead   bool

	asked map[string]queryValue // of the query, where parts share it

	changed *between.Changes // what may become of query on its way

	part *part // set for a part of a batch: its fields replace JSON and form
}

// Param returns the effective value of a parameter outside the path. The value comes from
// a JSON body (string, json.Number, bool, map[string]any, []any), or else from a form
// (string, *phpvars.Array), or else from the query. A JSON null does not count
// (docs/platform I.3, III.4). set is false where there is no value. The error is a
// *Refusal: the body does not parse, is over a limit or encoded, or is a form to some
// front-ends only.
func (c *Call) Param(name string) (v any, set bool, err error) { return c.param(name, whole) }

// Compound is a list, an object or an array whose content was not asked for.
type Compound struct{}

// Scalar is Param for a parameter that is no list, no object and no array where it is valid.
// Any of these is a Compound, so that nothing is built of what a client has nested.
func (c *Call) Scalar(name string) (v any, set bool, err error) { return c.param(name, scalar) }

// How many levels of a value are built, see phpvars.Variables.
const (
	whole  = 0
	scalar = 1
)

// wholeBrackets bounds the arrays of a variable of a form or a query that is built whole: an array
// takes many times the bytes of its brackets. It is four for each pair that PHP takes.
const wholeBrackets = 4 * phpvars.MaxPairs

func (c *Call) param(name string, levels int) (v any, set bool, err error) {
	if c.src == nil {
		return nil, false, nil
	}
	v, from, refusal := c.src.find(name, levels)
	if refusal != nil {
		return nil, false, refusal
	}
	return v, from != nowhere, nil
}

// origin is where something stands in a request.
type origin uint8

const (
	nowhere  origin = iota
	inPart          // the part of a batch
	inJSON          // the JSON body
	inForm          // the form body
	inQuery         // the query
	inHeader        // the override header
	inLine          // the request line
)

// find returns the value of a parameter, with so many levels, and its place. With a refusal,
// it is the place that has no certain value.
func (s *source) find(name string, levels int) (any, origin, *Refusal) {
	if s.part != nil {
		if v, ok, refusal := s.part.get(name, levels); ok || refusal != nil {
			return v, inPart, refusal
		}
	} else {
		if v, set, refusal := s.jsonVar(name, levels); set || refusal != nil {
			return v, inJSON, refusal
		}
		if writes(s.method) {
			if v, set, refusal := s.postedVar(name, levels); set || refusal != nil {
				return v, inForm, refusal
			}
		}
	}
	if tooBracketed(phpvars.OfQuery(s.query), name, levels) {
		return nil, inQuery, errTooLarge
	}
	switch v := s.inQuery(name, levels); {
	case v.apart, v.repeated, v.lost:
		return nil, inQuery, errVariable
	case v.set:
		return v.value, inQuery, nil
	}
	return nil, nowhere, nil
}

// variable returns one of vars. As a scalar, an array is a Compound.
func variable(vars phpvars.Variables, name string, levels int) (v any, set bool) {
	v, set = vars.Get(name, levels)
	if _, array := v.(*phpvars.Array); array && levels == scalar {
		return Compound{}, true
	}
	return v, set
}

func tooBracketed(vars phpvars.Variables, name string, levels int) bool {
	return levels == whole && vars.Brackets(name) > wholeBrackets
}

// postedVar finds a form value: in $_POST, which follows the wire method, else in
// what the core parses itself (docs/platform I.3.1).
func (s *source) postedVar(name string, levels int) (any, bool, *Refusal) {
	if refusal := s.posted(); refusal != nil {
		return nil, false, refusal
	}
	if s.urlencoded {
		form, refusal := s.text()
		if refusal != nil {
			return nil, false, refusal
		}
		if phpvars.Separated(form, name) {
			return nil, false, errVariable
		}
	}
	for _, vars := range s.postedVars {
		if tooBracketed(vars, name, levels) {
			return nil, false, errTooLarge
		}
		v, ok := variable(vars, name, levels)
		switch {
		case !ok:
		case s.loose:
			return nil, false, errTwoBodies
		default:
			return v, true, nil
		}
	}
	return nil, false, nil
}

// posted is readPosted, once.
func (s *source) posted() *Refusal {
	if s.postedRead {
		return nil
	}
	refusal := s.readPosted()
	s.postedRead = refusal == nil
	return refusal
}

func (s *source) readPosted() *Refusal {
	if s.r.ContentLength == 0 {
		return nil
	}
	if s.wire == http.MethodPost {
		urlencoded, multipart, certain := s.postedType()
		s.loose = !certain
		if multipart != "" {
			return s.readMultipart(multipart)
		}
		if urlencoded != "" {
			return s.readURLEncoded(phpvars.OfForm)
		}
	}
	if s.method != http.MethodPost && coreParses(s.r.Header.Get("Content-Type")) {
		s.loose = s.droppable()
		return s.readURLEncoded(phpvars.OfRawForm)
	}
	return nil
}

// coreParses tells whether the core itself parses a body of this Content-Type as a form:
// the type is absent, has no slash, or is that of a form (docs/platform I.3.1).
func coreParses(contentType string) bool {
	if strings.IndexByte(contentType, ';') > 0 {
		contentType, _, _ = strings.Cut(contentType, ";")
	}
	return !strings.Contains(contentType, "/") || lower(strings.Trim(contentType, " \t")) == "application/x-www-form-urlencoded"
}

func (s *source) readURLEncoded(read func(string) phpvars.Variables) *Refusal {
	s.urlencoded = true
	if refusal := s.inspect(s.rd.site.Limits.Body); refusal != nil {
		return refusal
	}
	form, refusal := s.text()
	if refusal != nil {
		return refusal
	}
	if phpvars.Pairs(form) > phpvars.MaxPairs || phpvars.Disputed(form) {
		return errVariable
	}
	s.postedVars = append(s.postedVars, read(form))
	return nil
}

func (s *source) readMultipart(contentType string) *Refusal {
	if refusal := s.inspect(s.rd.site.Limits.Upload); refusal != nil {
		return refusal
	}
	if s.body == nil {
		return nil
	}
	if refusal := s.body.borrow(s.r.Context(), budget.CostOfForm*min(s.body.size(), phpvars.MaxValues)); refusal != nil {
		return refusal
	}
	vars, err := phpvars.OfMultipart(contentType, s.body.reader())
	if err != nil {
		return errBody
	}
	// PHP drops the form of a body over post_max_size, which is the site's own.
	if s.body.size() > phpBodyLimit {
		s.loose = true
	}
	s.postedVars = append(s.postedVars, vars)
	return nil
}

// inspect loads a body whose content matters.
func (s *source) inspect(limit int64) *Refusal {
	if s.encoded() {
		return errEncodedBody
	}
	return s.load(limit)
}

// droppable tells whether some front-ends hand the body on and others drop it, so that what
// it sets is not certain (docs/platform I.6). A cache drops that of a GET (docs/platform I.13, B3).
func (s *source) droppable() bool {
	return s.unsure() || s.wire == http.MethodGet && s.method != http.MethodGet
}

// unsure is droppable for a body that is all that runs: without the body of a GET nothing does.
func (s *source) unsure() bool { return s.wire == http.MethodHead || s.wire == http.MethodOptions }

// MayBeURLEncoded tells whether some front-end reads the body as an urlencoded form, since
// the type says so or is missing (docs/platform I.6).
func (c *Call) MayBeURLEncoded() bool {
	if c.src == nil {
		return false
	}
	contentType := c.src.r.Header.Get("Content-Type")
	urlencoded, _ := phpvars.FormKind(contentType)
	return urlencoded || !strings.Contains(contentType, "/")
}
