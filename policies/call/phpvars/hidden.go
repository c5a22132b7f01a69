package phpvars

import (
	"slices"
	"strings"
)

// Hidden tells whether something on the way, or a PHP with other settings, would find another value
// of one of the variables names in a raw query, or one more (docs/platform I.13, B7, B11, B12): a piece next
// to a ";" sets it, see Separated; or a pair does in another case, or once it is decoded again.
func Hidden(raw string, names ...string) bool {
	return resembled(raw, names) || slices.ContainsFunc(names, func(name string) bool { return Separated(raw, name) })
}

// resembled tells whether a pair sets one of the variables only where a cache writes addresses in small
// letters, or where a server has decoded a part of it: of "%%372" it makes an escape.
func resembled(raw string, names []string) bool {
	for raw != "" {
		var pair string
		pair, raw = nextPair(raw)
		for _, name := range names {
			if mayResemble(pair, name) && resembles(pair, name) {
				return true
			}
		}
	}
	return false
}

// MayName tells whether Hidden, Has, Count or Last may find anything of the variable name in a raw query.
func MayName(raw, name string) bool {
	if strings.IndexByte(raw, ';') >= 0 {
		return true
	}
	for raw != "" {
		var pair string
		if pair, raw = nextPair(raw); mayResemble(pair, name) {
			return true
		}
	}
	return false
}

func resembles(pair, name string) bool {
	key, _, _ := strings.Cut(pair, "=")
	if len(key) < len(name) || !odd(key) || fold(pair, name) != other {
		return false
	}
	decoded, _, _ := strings.Cut(Lower(Decode(Decode(Usual(key)))), "=")
	return foldDecoded(decoded, Lower(name))
}

// mayResemble tells whether the key of a pair may become name once it is decoded. It looks no further than at the first
// byte that differs, as that of nearly all keys does, or that is decoded more than once.
func mayResemble(pair, name string) bool {
	j := 0
	for i := 0; i < len(pair); {
		c, n := decodeByte(pair, i)
		if c == '%' {
			return n > 1 || maybeEscape(pair[i:])
		}
		if c == '+' { // it was "%2b"
			c = ' '
		}
		switch c = LowerByte(c); {
		case c == 0, c == '=':
			return j == len(name)
		case Shifts(c):
			return true
		case c == ' ' && j == 0:
		case j == len(name):
			return c == '['
		case c != LowerByte(name[j]) && (name[j] != '_' || c != ' ' && c != '.' && c != '['):
			return false
		default:
			j++
		}
		i += n
	}
	return j == len(name)
}

// maybeEscape tells whether a "%" that begins no escape may begin one once others in it are decoded.
func maybeEscape(text string) bool {
	rest := strings.TrimLeft(text, "%")
	return len(rest) > 1 && HexValue(rest[0]) < 16 && (rest[1] == '%' || HexValue(rest[1]) < 16)
}

// odd tells whether a key may be another one in small letters, or decoded again.
func odd(key string) bool {
	return strings.ContainsFunc(key, func(c rune) bool { return c == '%' || 'A' <= c && c <= 'Z' })
}

// Completed tells whether raw has a "%" that begins no escape, but does once a server has decoded the
// letters and digits behind it (docs/platform I.13, B12): of "%%32%66" it makes "%2f".
func Completed(raw string) bool {
	for at := strings.IndexByte(raw, '%'); at >= 0; at = strings.IndexByte(raw, '%') {
		raw = raw[at+1:]
		if first, rest, ok := hexDigit(raw); ok {
			if second, _, ok := hexDigit(rest); ok && (first || second) {
				return true
			}
		}
	}
	return false
}

// hexDigit reads a hexadecimal digit off s, which may be written as an escape.
func hexDigit(s string) (escaped bool, rest string, ok bool) {
	if len(s) > 0 && HexValue(s[0]) < 16 {
		return false, s[1:], true
	}
	if len(s) > 2 && s[0] == '%' {
		if c, n := decodeByte(s, 0); n == 3 && HexValue(c) < 16 {
			return true, s[3:], true
		}
	}
	return false, "", false
}

// Usual is raw in small letters, of which Unreserved leaves nothing to decode. It goes from the end to
// the beginning, so that the digits of an escape are known when its "%" comes.
func Usual(raw string) string {
	if unreserved(raw, 0) < 0 { // as nearly all
		return Lower(raw)
	}
	from := len(raw)
	usual := make([]byte, from)
	for i := len(raw) - 1; i >= 0; i-- {
		c := LowerByte(raw[i])
		if c == '%' && len(usual)-from >= 2 {
			if first, second := HexValue(usual[from]), HexValue(usual[from+1]); first < 16 && second < 16 && isUnreserved(first<<4|second) {
				c, from = LowerByte(first<<4|second), from+2
			}
		}
		from--
		usual[from] = c
	}
	return string(usual[from:])
}

// Unreserved decodes the letters, digits and "-._~" of raw, once (docs/platform I.13, B12).
func Unreserved(raw string) string {
	var b strings.Builder
	from := 0
	for i := unreserved(raw, 0); i >= 0; i = unreserved(raw, from) {
		c, n := decodeByte(raw, i)
		b.WriteString(raw[from:i])
		b.WriteByte(c)
		from = i + n
	}
	if from == 0 {
		return raw
	}
	b.WriteString(raw[from:])
	return b.String()
}

// unreserved returns where the next escape of a letter, a digit or "-._~" is, at or behind i; else -1.
func unreserved(raw string, i int) int {
	for i < len(raw) {
		at := strings.IndexByte(raw[i:], '%')
		if at < 0 {
			return -1
		}
		i += at
		if c, n := decodeByte(raw, i); n == 3 && isUnreserved(c) {
			return i
		}
		i++
	}
	return -1
}

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
