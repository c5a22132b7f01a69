package call

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// formType returns the Content-Type under which PHP would fill $_POST. certain is
// false where web servers disagree: no type, two types, or one that Connection
// strips (platform-facts I.6, I.10, I.11).
func (s *source) formType() (urlencoded, multipart string, certain bool) {
	types := s.r.Header["Content-Type"]
	certain = len(types) == 1 && types[0] != "" && quietConnection(s.r.Header["Connection"]) && !s.rd.aliases(s.r.Header)
	for _, t := range types {
		u, m := phpvars.FormKind(t)
		if u {
			urlencoded = t
		}
		if m {
			multipart = t
		}
	}
	if !certain && urlencoded == "" {
		urlencoded = "application/x-www-form-urlencoded"
	}
	return urlencoded, multipart, certain
}

// formRoute finds rest_route in the form body of a POST. A page is refused for
// its form only where some reading of it finds the variable.
func (s *source) formRoute() (value string, set bool, refusal *Refusal) {
	urlencoded, multipart, certain := s.formType()
	if urlencoded != "" {
		if refusal := s.load(s.rd.site.Limits.Body); refusal != nil {
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
	switch {
	case set && !certain:
		return "", true, twoBodies
	case set && s.encoded():
		return "", true, encodedBody
	}
	return value, set, nil
}

func (s *source) urlencodedRoute() (string, bool, *Refusal) {
	if s.body == nil || !s.body.hasVariable(routeVar) {
		return "", false, nil
	}
	form, refusal := s.text()
	if refusal != nil {
		return "", true, refusal
	}
	if phpvars.Pairs(form) > phpvars.MaxPairs || phpvars.Deep(form) {
		return "", true, badVariable
	}
	return routeOf(phpvars.Form(form))
}

func (s *source) multipartRoute(contentType string) (string, bool, *Refusal) {
	if s.body == nil {
		return "", false, nil
	}
	vars, err := phpvars.MultipartOnly(contentType, s.body.reader(), routeVar)
	if err == nil {
		return routeOf(vars)
	}
	if mentioned(s.body.reader()) {
		return "", true, badBody
	}
	return "", false, nil
}

// mentioned tells whether a body holds text that could be the name rest_route
// in a multipart header that we read differently than PHP. Names are not
// percent-encoded there, but lines are joined and backslashes dropped.
func mentioned(r io.Reader) bool {
	buf := make([]byte, 32<<10)
	var text []byte
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			switch c {
			case '\r', '\n', '\\':
			case ' ', '.', '[':
				text = append(text, '_')
			default:
				text = append(text, c)
			}
		}
		if bytes.Contains(text, []byte(routeVar)) {
			return true
		}
		if err != nil {
			return false
		}
		text = append(text[:0], text[max(0, len(text)-len(routeVar)):]...)
	}
}

// encoded tells whether the body is in an encoding that PHP does not undo, but
// something before it might.
func (s *source) encoded() bool {
	e := s.r.Header.Get("Content-Encoding")
	return e != "" && !strings.EqualFold(e, "identity")
}

// load reads the body and puts it back.
func (s *source) load(limit int64) *Refusal {
	s.attach()
	if s.body == nil {
		return nil
	}
	return s.body.load(s.r, limit)
}

// attach takes the place of the request's body, so that it can be read later.
func (s *source) attach() {
	if s.body == nil && s.r.Body != nil && s.r.Body != http.NoBody && s.r.ContentLength != 0 {
		s.body = &body{client: s.r.Body, length: s.r.ContentLength, spool: s.rd.site.Limits.Spool}
		s.r.Body = s.body
	}
}

// text returns the whole body as a string.
func (s *source) text() (string, *Refusal) {
	if s.body == nil {
		return "", nil
	}
	b, refusal := s.body.bytes()
	return string(b), refusal
}
