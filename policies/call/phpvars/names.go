package phpvars

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unsafe"
)

// nextPair cuts the first pair off a raw query or form.
func nextPair(raw string) (pair, rest string) {
	pair, rest, _ = strings.Cut(raw, "&")
	return pair, rest
}

// Has tells whether some pair of a raw query or urlencoded form could set or delete the
// variable name, since the name of the pair folds to it, alone or with brackets. It may say
// yes where PHP says no, but never no where PHP says yes. It takes no memory.
func Has(raw, name string) bool {
	for raw != "" {
		var pair string
		pair, raw = nextPair(raw)
		if kind := fold(pair, name); kind != other {
			return true
		}
	}
	return false
}

// Count returns how many pairs of a raw query or form could set the variable name.
func Count(raw, name string) (n int) {
	for raw != "" {
		var pair string
		pair, raw = nextPair(raw)
		if fold(pair, name) != other {
			n++
		}
	}
	return n
}

// Last finds the last value of the variable name in a raw query, and how many times the
// query sets it, without reading the other variables. plain is false where brackets are
// involved or the limit of pairs may matter: then only Query knows the value, and times is
// Count. Last takes memory only to decode the value.
func Last(raw, name string) (value string, times int, plain bool) {
	last, all := "", raw
	for n := 0; raw != ""; n++ {
		var pair string
		pair, raw = nextPair(raw)
		switch fold(pair, name) {
		case same:
			last = pair
			times++
		case perhaps:
			return "", Count(all, name), false
		}
		if n >= MaxPairs {
			return "", Count(all, name), false
		}
	}
	if times == 0 {
		return "", 0, true
	}
	_, value, _ = strings.Cut(last, "=")
	return Decode(value), times, true
}

const (
	other   = iota // another name
	same           // exactly this name, no brackets
	perhaps        // a bracket is involved
)

// fold compares the name of a raw pair, decoded on the way, with a folded name.
func fold(pair, name string) int {
	i, kind := 0, same
	var c byte
	for n := 0; i < len(pair); i += n {
		if c, n = decodeByte(pair, i); c != ' ' {
			break
		}
	}
	for j := 0; ; j++ {
		if i == len(pair) || pair[i] == '=' {
			return end(j, name, kind)
		}
		c, n := decodeByte(pair, i)
		switch {
		case c == 0:
			return end(j, name, kind)
		case Shifts(c):
			return perhaps
		case c == '[' && j == len(name):
			return perhaps
		case j == len(name):
			return other
		case c == '[' && name[j] == '_':
			kind = perhaps
		case (c == ' ' || c == '.') && name[j] == '_':
		case c != name[j]:
			return other
		}
		i += n
	}
}

// Shifts tells whether c may be gone from a variable, as it shifts between the sets of
// characters of ISO-2022-JP: some sites have PHP convert what it reads
// (mbstring.encoding_translation). Bytes of other encodings become other characters there, or "?",
// and never plain ones.
func Shifts(c byte) bool { return c == '\x1b' || c == '\x0e' || c == '\x0f' }

const shiftBytes = "\x1b\x0e\x0f"

func end(j int, name string, kind int) int {
	if j == len(name) {
		return kind
	}
	return other
}

// Pairs returns the number of pairs in a raw query or form, empty ones included.
func Pairs(raw string) int {
	if raw == "" {
		return 0
	}
	return strings.Count(raw, "&") + 1
}

// Disputed tells whether PHP's limits, releases or settings decide what some pair sets: its name
// has so many brackets that a limit could delete the variable, or releases or settings differ in
// it (see disputedName).
func Disputed(raw string) bool {
	for raw != "" {
		var pair string
		pair, raw = nextPair(raw)
		name, _, _ := strings.Cut(pair, "=")
		if len(name) > MaxDepth && strings.Count(name, "[")+strings.Count(name, "%5B")+strings.Count(name, "%5b") > MaxDepth-4 {
			return true
		}
		for i := range len(name) {
			if c := name[i]; c == '-' || c == '[' || c == '%' || Shifts(c) {
				if disputedName(Decode(name)) {
					return true
				}
				break
			}
		}
	}
	return false
}

// disputedName tells whether releases of PHP differ in what a decoded name sets. Releases
// since 8.1.28 and 8.2.18 drop reserved keys (see reserved). Releases before 8 do not
// change the text behind an unclosed bracket, and append behind a negative index at 0. The
// step php of the check asks 7.4, 8.2 and 8.4. A setting decides about bytes that shift.
func disputedName(name string) bool {
	odd := len(name)
	for i := range len(name) {
		switch c := name[i]; {
		case Shifts(c):
			return true
		case c == '[' || c == '.' || c == ' ':
			odd = min(odd, i)
		}
	}
	if odd == len(name) {
		return false
	}
	if strings.IndexByte(name, '-') >= 0 { // as both prefixes have
		mangled := strings.ReplaceAll(underscores(name), "[", "_")
		for _, prefix := range reservedPrefixes { // a prefix that was sent otherwise
			if i := strings.LastIndex(mangled, prefix); i >= 0 && odd < i+2 {
				return true
			}
		}
	}
	name, _, _ = strings.Cut(name, "\x00")
	_, rest, bracket := strings.Cut(strings.TrimLeft(name, " "), "[")
	if !bracket {
		return false
	}
	return closing(rest) < 0 && strings.ContainsAny(rest, "[. ") || negativeIndex(rest)
}

// negativeIndex tells whether a key among the brackets that rest follows is a
// negative number.
func negativeIndex(rest string) bool {
	for open := true; open; _, rest, open = strings.Cut(rest, "[") {
		if len(rest) > 1 && rest[0] == '-' && '0' <= rest[1] && rest[1] <= '9' {
			return true
		}
	}
	return false
}

// foldDecoded is Has for a name that is already decoded.
func foldDecoded(raw, name string) bool {
	raw, _, _ = strings.Cut(raw, "\x00")
	raw = strings.TrimLeft(raw, " ")
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case Shifts(c):
			return true
		case i == len(name):
			return c == '['
		case (c == ' ' || c == '.' || c == '[') && name[i] == '_':
		case c != name[i]:
			return false
		}
	}
	return len(raw) == len(name)
}

// HasReader is Has for an urlencoded body that is not in memory, also behind a ";". It says yes
// where reading r fails.
func HasReader(r io.Reader, name string) bool {
	br := bufio.NewReaderSize(r, 32<<10)
	for {
		b, _ := br.Peek(br.Buffered())
		whole := bytes.LastIndexAny(b, pairEnds) + 1
		if anyPiece(unsafe.String(unsafe.SliceData(b), whole), name) { //nolint:gosec // nothing is kept of it
			return true
		}
		_, _ = br.Discard(whole) // it has been seen
		pair, err := nameStart(br, name)
		if err != nil || fold(string(pair), name) != other {
			return true
		}
		switch err := skipPair(br); {
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			return true
		}
	}
}

// anyPiece is Has for the pieces between all "&" and ";".
func anyPiece(raw, name string) bool {
	for from, i := 0, 0; i < len(raw); i++ {
		if raw[i] != '&' && raw[i] != ';' {
			continue
		}
		if from < i && fold(raw[from:i], name) != other {
			return true
		}
		from = i + 1
	}
	return false
}

// nameStart returns as much of the next pair as fold looks at. PHP drops any number of
// blanks before a name. After them fold decides, at the latest at the character behind
// len(name) others, each at most three bytes long.
func nameStart(br *bufio.Reader, name string) ([]byte, error) {
	for {
		b, err := br.Peek(len("%20"))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		all, _ := br.Peek(br.Buffered())
		n := len(all) - len(bytes.TrimLeft(all, " +"))
		switch {
		case string(b) == "%20":
			n = len(b)
		case len(b) == 0 || b[0] != ' ' && b[0] != '+':
			b, err = br.Peek(3 * (len(name) + 1))
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			if end := bytes.IndexAny(b, pairEnds); end >= 0 {
				b = b[:end]
			}
			return b, nil
		}
		_, _ = br.Discard(n) // it has been seen
	}
}

// pairEnds end a pair in some PHP.
const pairEnds = "&;"

// skipPair goes to the beginning of the next pair.
func skipPair(br *bufio.Reader) error {
	for {
		if _, err := br.Peek(1); err != nil {
			return err
		}
		b, _ := br.Peek(br.Buffered())
		if end := bytes.IndexAny(b, pairEnds); end >= 0 {
			_, _ = br.Discard(end + 1) // it has been seen
			return nil
		}
		_, _ = br.Discard(len(b))
	}
}
