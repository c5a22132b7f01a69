package phpvars

import (
	"slices"
	"strings"
)

// Limits of a stock PHP (docs/platform I.1.5).
const (
	MaxPairs = 1000 // max_input_vars
	MaxDepth = 64   // max_input_nesting_level
)

// Query reads a raw query string into $_GET: pairs are split on "&" only, empty
// ones do not count, those after the first 1000 are ignored.
func Query(raw string) *Array { return OfQuery(raw).all() }

// Form reads an urlencoded body into $_POST: one pair more than in a query, and
// empty pairs count.
func Form(raw string) *Array { return OfForm(raw).all() }

// RawForm reads a body that the platform's core parses itself, that of PUT,
// PATCH and DELETE: by the rules of a query, ending at the first NUL.
func RawForm(raw string) *Array { return OfRawForm(raw).all() }

func (a *Array) add(pair string) {
	name, value, _ := strings.Cut(pair, "=")
	a.Register(Decode(name), Decode(value))
}

// Register sets a variable under a decoded name as PHP does: the name ends at a
// NUL, leading blanks are dropped, blanks and dots become underscores, brackets
// build arrays, an unclosed first bracket is an underscore too, as is every
// bracket, blank and dot behind it, more than 64 brackets delete the variable, and
// names and keys that are reserved for cookies are not set.
func (a *Array) Register(name string, v Value) {
	name, _, _ = strings.Cut(name, "\x00")
	whole := strings.TrimLeft(name, " ")
	name, rest, brackets := strings.Cut(whole, "[")
	if name = underscores(name); name == "" || reserved(name, whole) {
		return
	}
	if !brackets {
		a.set(name, v)
		return
	}
	end := closing(rest)
	if end < 0 {
		if name += "_" + strings.ReplaceAll(underscores(rest), "[", "_"); !reserved(name, whole) {
			a.set(name, v)
		}
		return
	}
	at, key, push := a, name, false
	for depth := 1; brackets && end >= 0; depth++ {
		at = at.enter(key, push)
		key, push = rest[:end], end == 0 || end == 1 && space(rest[0])
		if reserved(key, whole) {
			return
		}
		rest, brackets = strings.CutPrefix(rest[end+1:], "[")
		end = closing(rest)
		if brackets && depth == MaxDepth { // counts even where it is not closed
			a.remove(name)
			return
		}
	}
	at.put(key, push, v)
}

// reservedPrefixes begin the names of cookies that only the site itself, or only
// one over TLS, can set.
var reservedPrefixes = []string{"__Host-", "__Secure-"}

// reserved tells whether PHP drops a variable for its name, or for one of its
// keys: what begins with a reserved prefix must be a variable that was sent so
// (CVE-2022-31629, CVE-2024-2756; older releases drop names only, or nothing).
func reserved(key, sent string) bool {
	return slices.ContainsFunc(reservedPrefixes, func(prefix string) bool {
		return strings.HasPrefix(key, prefix) && !strings.HasPrefix(sent, prefix)
	})
}

// closing returns where the bracket that s follows is closed, -1 where it is not.
func closing(s string) int { return strings.IndexByte(s, ']') }

// space tells whether c is white space, as in expressions.
func space(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func underscores(name string) string {
	if !strings.ContainsAny(name, " .") {
		return name
	}
	b := []byte(name)
	for i, c := range b {
		if c == ' ' || c == '.' {
			b[i] = '_'
		}
	}
	return string(b)
}

// Decode undoes percent-encoding as PHP's urldecode: "+" is a blank, an invalid
// escape stays as it is.
func Decode(s string) string {
	i := strings.IndexAny(s, "%+")
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s)) // a value may be as long as a body
	b.WriteString(s[:i])
	for i < len(s) {
		c, n := decodeByte(s, i)
		b.WriteByte(c)
		i += n
	}
	return b.String()
}

// decodeByte returns the byte that s means at i and how long it is written.
func decodeByte(s string, i int) (c byte, n int) {
	switch c = s[i]; {
	case c == '+':
		return ' ', 1
	case c == '%' && i+2 < len(s):
		hi, lo := HexValue(s[i+1]), HexValue(s[i+2])
		if hi < 16 && lo < 16 {
			return hi<<4 | lo, 3
		}
	}
	return c, 1
}

// HexValue returns the value of a hexadecimal digit; 16 for any other byte.
func HexValue(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// Separated tells whether a PHP that splits a query at ";" as well as at "&"
// (arg_separator.input) would find another value of the variable name in raw, or one more:
// a piece next to a ";" has a name that folds to it, or the name has a ";" itself. It takes no
// memory.
func Separated(raw, name string) bool {
	at := strings.IndexByte(raw, ';')
	if at < 0 {
		return false
	}
	if strings.Contains(name, ";") {
		return true
	}
	raw = raw[strings.LastIndexByte(raw[:at], '&')+1:] // pairs before it are the same
	for behind := false; raw != ""; {
		end := strings.IndexAny(raw, ";&")
		piece, next := raw, byte(0)
		if end >= 0 {
			piece, next, raw = raw[:end], raw[end], raw[end+1:]
		} else {
			raw = ""
		}
		if (behind || next == ';') && fold(piece, name) != other {
			return true
		}
		behind = next == ';'
	}
	return false
}
