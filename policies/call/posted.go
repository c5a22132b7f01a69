package call

import (
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// postHeaders refuses a POST, a page's too, whose headers do not say for certain how its
// form is read. Of several types, or of types that a server has joined with a comma, PHP
// takes the first, the last or all. It may then find another boundary than this package
// (docs/platform I.10, N3).
func postHeaders(h http.Header) *Refusal {
	types := h["Content-Type"]
	switch {
	case len(types) > 1, len(types) == 1 && !oneType(types[0]):
		return errTwiceHeader
	case !plainValue(types), !plainValue(h["Content-Encoding"]):
		return errOddHeader
	}
	return nil
}

// oneType tells whether a Content-Type names one form or none, whatever a server makes of a
// comma in it. SOAP has commas in quotes (action="urn:a,b"). A server that cuts there must find
// the same boundary before the first comma, and no form behind it.
func oneType(contentType string) bool {
	before, behind, comma := strings.Cut(contentType, ",")
	if !comma {
		return true
	}
	quoted := false
	for i := 0; i < len(contentType); i++ {
		switch c := contentType[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return false
		}
	}
	behind = lower(behind)
	if quoted || strings.Contains(behind, "form-data") || strings.Contains(behind, "form-urlencoded") {
		return false
	}
	if _, multipart := phpvars.FormKind(contentType); !multipart {
		return true
	}
	whole, _ := phpvars.Boundary(contentType)
	cut, ok := phpvars.Boundary(before)
	return ok && cut == whole
}

// postedType returns the Content-Type under which PHP would fill $_POST. certain is false
// where web servers disagree: the type is missing, or Connection strips it
// (docs/platform I.6, I.11).
func (s *source) postedType() (urlencoded, multipart string, certain bool) {
	contentType := s.r.Header.Get("Content-Type")
	certain = contentType != "" && quietConnection(s.r.Header["Connection"]) && !s.rd.aliases(s.r.Header)
	u, m := phpvars.FormKind(contentType)
	if u {
		urlencoded = contentType
	}
	if m {
		multipart = contentType
	}
	if !certain && urlencoded == "" {
		urlencoded = "application/x-www-form-urlencoded"
	}
	return urlencoded, multipart, certain
}

// withPostedRoute returns the effective value of rest_route. The query says value, if set is
// true, and a form may say another one.
func (s *source) withPostedRoute(value string, set bool) (string, bool, *Refusal) {
	if s.rd.aliases(s.r.Header) { // one of them may be a second Content-Type
		return "", false, errAliasHeader
	}
	posted, isSet, refusal := s.postedRoute()
	switch {
	case refusal != nil:
		return "", false, refusal
	case isSet && set && posted != value: // the platform stops with 400
		return "", false, errTwoRoutes
	case isSet:
		return posted, true, nil
	}
	return value, set, nil
}

// postedRoute finds rest_route in the form body of a POST. Where it cannot tell,
// the request is refused, page or not.
func (s *source) postedRoute() (value string, set bool, refusal *Refusal) {
	urlencoded, multipart, certain := s.postedType()
	if (urlencoded != "" || multipart != "") && s.encoded() {
		return "", true, errEncodedBody
	}
	if urlencoded != "" {
		limit := s.rd.site.Limits.Body
		if s.rd.IsScript(s.r.URL) { // editors save whole pages there: only a form that names a route is held
			limit = s.rd.site.Limits.Upload
		}
		if refusal := s.load(limit); refusal != nil {
			return "", false, refusal
		}
		if value, set, refusal = s.urlencodedRoute(); refusal != nil {
			return "", set, refusal
		}
	}
	if multipart != "" {
		if refusal := s.load(s.rd.site.Limits.Upload); refusal != nil {
			return "", false, refusal
		}
		inParts, isSet, refusal := s.multipartRoute(multipart)
		if refusal != nil {
			return "", isSet, refusal
		}
		if isSet {
			value, set = inParts, true
		}
	}
	if set && !certain {
		return "", true, errTwoBodies
	}
	return value, set, nil
}

func (s *source) urlencodedRoute() (string, bool, *Refusal) {
	if s.body == nil || !s.body.hasVariable(platforms.RouteVar) {
		return "", false, nil
	}
	if s.body.size() > s.rd.site.Limits.Body {
		return "", true, errTooLarge
	}
	form, refusal := s.text()
	if refusal != nil {
		return "", true, refusal
	}
	if phpvars.Pairs(form) > phpvars.MaxPairs || phpvars.Disputed(form) || phpvars.Separated(form, platforms.RouteVar) {
		return "", true, errVariable
	}
	value, set, refusal := routeOf(phpvars.OfForm(form).Get(platforms.RouteVar, scalar))
	return strings.Clone(value), set, refusal // the form is not kept for it
}

func (s *source) multipartRoute(contentType string) (string, bool, *Refusal) {
	if s.body == nil {
		return "", false, nil
	}
	if _, ok := phpvars.Boundary(contentType); !ok {
		return "", false, nil // PHP reads no part of the body
	}
	vars, err := phpvars.MultipartOnly(contentType, s.body.reader(), platforms.RouteVar)
	if err != nil {
		return "", true, errBody
	}
	return routeOf(vars.Get(platforms.RouteVar))
}

// encoded tells whether the body is in an encoding. PHP does not undo it, but a server
// before PHP might.
func (s *source) encoded() bool {
	return slices.ContainsFunc(s.r.Header["Content-Encoding"], func(e string) bool { return e != "" && lower(e) != "identity" })
}

// load reads the body and puts it back.
func (s *source) load(limit int64) *Refusal {
	s.attach()
	if s.body == nil {
		return nil
	}
	return s.body.load(s.r, limit)
}

// attach replaces the request's body by one that can be read later, and again.
func (s *source) attach() {
	if s.body != nil || s.r.Body == nil || s.r.Body == http.NoBody || s.r.ContentLength == 0 {
		return
	}
	if s.body = loadedBody(s.r.Body); s.body == nil {
		l := &s.rd.site.Limits
		s.body = &body{client: s.r.Body, length: s.r.ContentLength, spool: l.Spool, memory: l.Memory, holder: s.holder}
		s.body.users.Store(1)
	}
	s.r.Body = s.body
}

// onePiece returns the loaded body in one piece, see body.bytes. Who asks first borrows for all
// that others read out of it.
func (s *source) onePiece() ([]byte, *Refusal) {
	cost := budget.CostOfForm * s.body.size()
	if s.isJSON() {
		cost = s.body.costOfJSON(1 + s.parts)
	}
	return s.body.bytes(s.r.Context(), cost)
}

// text is onePiece as a string.
func (s *source) text() (string, *Refusal) {
	if s.body == nil {
		return "", nil
	}
	b, refusal := s.onePiece()
	return text(b), refusal
}
