package call

import (
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

const (
	overrideHeader = "X-Http-Method-Override"
	methodVar      = "_method"
)

// wireMethod tells whether a method is the same to every front-end. One in lower case is
// not: Caddy's FastCGI client makes "get" a POST, Apache does not (docs/platform I.6). One
// that is no token comes over HTTP/2 alone, where Go's server lets it through. A back tick is
// one that a filter of PHP may take out (docs/platform I.13, B6).
func wireMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodHead:
		return true
	case "":
		return false
	}
	return !strings.ContainsFunc(method, func(c rune) bool {
		return (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_|~", c)
	})
}

// effective returns the method that the platform dispatches, and the place that names it:
// _method in the query, or else the override header, or else the method on the wire
// (docs/platform I.2). An override must be a method that the platform knows. A wire method
// that it does not know is the same call on all front-ends, one that finds no handler.
func effective(wire, query string, header http.Header) (string, origin, *Refusal) {
	method, from := wire, inLine
	if override := header[overrideHeader]; len(override) > 0 {
		method, from = override[0], inHeader // a second one is refused with the other headers
	}
	value, times, set, refusal := methodIn(query)
	switch {
	case refusal != nil:
		return "", from, refusal
	case times > 1: // a server that sorts the query would choose another one
		return "", from, errMethod
	case set && from == inHeader && upper(value) != upper(method): // a query may be lost on the way
		return "", from, errMethod
	}
	if set {
		method, from = value, inQuery
	}
	if method = upper(method); from != inLine && !known(method) || method == http.MethodConnect || wire == http.MethodConnect {
		return "", from, errMethod
	}
	return method, from, nil
}

// methodIn finds _method in a raw query, and how many times it stands there. An array is
// refused.
func methodIn(query string) (value string, times int, set bool, refusal *Refusal) {
	value, times, plain := phpvars.Last(query, methodVar)
	if plain {
		return value, times, times > 0, nil
	}
	v, set := phpvars.OfQuery(query).Get(methodVar, scalar)
	value, isString := v.(string)
	if set && !isString {
		return "", times, true, errVariable
	}
	return value, times, set, nil
}

// KnownMethods are the methods that the platform knows.
var KnownMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func known(method string) bool { return slices.Contains(KnownMethods, method) }

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
	if !ascii(s) { // Unicode letters have upper case forms in ASCII
		return ""
	}
	return strings.ToUpper(s)
}

// Updates tells whether the platform updates a record with this method.
func Updates(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// MethodBehind returns the method that the platform would dispatch if r, which was read as a
// page, were a call. It is "" where that is not certain.
func MethodBehind(r *http.Request) string {
	method, _, refusal := effective(r.Method, r.URL.RawQuery, r.Header)
	if refusal != nil || len(r.Header[overrideHeader]) > 1 {
		return ""
	}
	return method
}
