package call

import (
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

const overrideHeader = "X-Http-Method-Override"

// wireMethod tells whether a method is the same to every front-end. One in lower case is
// not: Caddy's FastCGI client makes "get" a POST, Apache does not (docs/platform I.6).
func wireMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodHead:
		return true
	case "":
		return false
	}
	return method == strings.ToUpper(method)
}

// effective returns the method that the platform dispatches: _method in the query, or else
// the override header, or else the method on the wire (docs/platform I.2). An override
// must be a method that the platform knows. A wire method that it does not know is the
// same call on all front-ends, one that finds no handler.
func effective(wire, query string, header http.Header) (string, *Refusal) {
	method, overridden := wire, false
	if override := header[overrideHeader]; len(override) > 0 {
		method, overridden = override[0], true // a second one is refused with the other headers
	}
	value, times, plain := phpvars.Last(query, "_method")
	set := times > 0
	if !plain {
		v, isSet := phpvars.Query(query).Get("_method")
		s, isString := v.(string)
		if isSet && !isString {
			return "", errVariable
		}
		value, set = s, isSet
	}
	switch {
	case times > 1: // a server that sorts the query would choose another one
		return "", errMethod
	case set && overridden && upper(value) != upper(method): // a query may be lost on the way
		return "", errMethod
	}
	if set {
		method, overridden = value, true
	}
	if method = upper(method); overridden && !known(method) || method == http.MethodConnect || wire == http.MethodConnect {
		return "", errMethod
	}
	return method, nil
}

func known(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return true
	}
	return false
}

// writes tells whether the platform takes form values as parameters of a call
// with this effective method (docs/platform I.3).
func writes(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

func upper(s string) string {
	if known(s) {
		return s
	}
	for i := 0; i < len(s); i++ { // Unicode letters have upper case forms in ASCII
		if s[i] >= 0x80 {
			return ""
		}
	}
	return strings.ToUpper(s)
}
