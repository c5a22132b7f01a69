package phpvars

import "strings"

// FormKind tells whether PHP fills $_POST from the body of a POST request with
// this Content-Type. The media type ends at the first ";", "," or blank, any
// charset is ignored (docs/platform I.1.5).
func FormKind(contentType string) (urlencoded, multipart bool) {
	if i := strings.IndexAny(contentType, ";, "); i >= 0 {
		contentType = contentType[:i]
	}
	switch {
	case EqualFold(contentType, "application/x-www-form-urlencoded"):
		return true, false
	case EqualFold(contentType, "multipart/form-data"):
		return false, true
	}
	return false, false
}

// IsJSON tells whether the core reads a body of this Content-Type as JSON
// (docs/platform I.3.1). A type may be JSON and a form at once.
func IsJSON(contentType string) bool {
	if i := strings.IndexByte(contentType, ';'); i > 0 {
		contentType = contentType[:i]
	}
	if contentType == "application/json" {
		return true
	}
	if len(contentType) < len("application/json") {
		return false
	}
	return namesJSON(Lower(strings.Trim(contentType, " \t\n\r\x00\x0b")))
}

const application = "application/"

// namesJSON is the core's own expression, in one pass over a type in lower case:
//
//	(^|[\s\x0b]|,)application/([\w!#$&-^.+]+\+)?json(\+oembed)?($|[\s\x0b]|;|,)
func namesJSON(kind string) bool {
	tree := -1 // where the first prefix begins that "+json" may end here
	for i := range len(kind) {
		switch c := kind[i]; {
		case !inPrefix(c):
			tree = -1
		case c == '+' && tree >= 0 && tree < i && endsJSON(kind[i+1:]):
			return true
		case c == 'a' && (i == 0 || kind[i-1] == ',' || space(kind[i-1])) && strings.HasPrefix(kind[i:], application):
			begin := i + len(application)
			if endsJSON(kind[begin:]) {
				return true
			}
			if tree < 0 {
				tree = begin
			}
		}
	}
	return false
}

// inPrefix are the letters of the expression's prefix, with its odd range "&-^".
func inPrefix(c byte) bool {
	return '&' <= c && c <= '^' || 'a' <= c && c <= 'z' || c == '_' || c == '!' || c == '#' || c == '$'
}

// endsJSON tells whether what stands behind the prefix is "json" and the end of a type.
func endsJSON(rest string) bool {
	rest, is := strings.CutPrefix(rest, "json")
	rest = strings.TrimPrefix(rest, "+oembed")
	return is && (rest == "" || rest[0] == ';' || rest[0] == ',' || space(rest[0]))
}

// EqualFold tells whether s is lowered, which has no capitals, but for the case of ASCII letters.
func EqualFold(s, lowered string) bool {
	if len(s) != len(lowered) {
		return false
	}
	for i := range len(s) {
		if LowerByte(s[i]) != lowered[i] {
			return false
		}
	}
	return true
}

// Lower folds ASCII letters only: the platform compares bytes, not Unicode.
func Lower(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

// LowerByte folds an ASCII letter.
func LowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// Boundary returns what PHP takes for the boundary: after the "=" that follows
// the first "boundary" anywhere in the header, else the first in any case.
func Boundary(contentType string) (boundary string, ok bool) {
	i := strings.Index(contentType, "boundary")
	if i < 0 {
		i = strings.Index(Lower(contentType), "boundary")
	}
	if i < 0 {
		return "", false
	}
	_, boundary, ok = strings.Cut(contentType[i:], "=")
	if !ok {
		return "", false
	}
	if quoted, isQuoted := strings.CutPrefix(boundary, `"`); isQuoted {
		boundary, _, ok = strings.Cut(quoted, `"`)
		return boundary, ok
	}
	if i := strings.IndexAny(boundary, ",;"); i >= 0 {
		boundary = boundary[:i]
	}
	return boundary, true
}
