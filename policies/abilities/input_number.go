package abilities

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// phpBlanks are what PHP drops around a number in a text.
const phpBlanks = " \t\n\r\v\f"

// numeral reads what PHP's is_numeric takes. Each element of a list is asked, so that it takes
// no expression.
func numeral(v any) (float64, bool) {
	text, ok := v.(string)
	if n, isNumber := v.(json.Number); isNumber {
		text, ok = string(n), true
	}
	text = strings.Trim(text, phpBlanks)
	if !ok || !isDecimal(text) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is infinite, as in PHP
	return f, true
}

// isDecimal tells whether text is a number with an optional sign, point and exponent.
func isDecimal(text string) bool {
	whole, rest := digitsOf(unsigned(text))
	fraction := ""
	if behind, point := strings.CutPrefix(rest, "."); point {
		fraction, rest = digitsOf(behind)
	}
	if whole == "" && fraction == "" {
		return false
	}
	if rest != "" && rest[0]|0x20 == 'e' {
		var exponent string
		exponent, rest = digitsOf(unsigned(rest[1:]))
		if exponent == "" {
			return false
		}
	}
	return rest == ""
}

// unsigned returns text without a sign.
func unsigned(text string) string {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}

// digitsOf returns the digits that text begins with, and the rest.
func digitsOf(text string) (digits, rest string) {
	i := 0
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}

// intKey tells whether PHP makes an integer of the key.
func intKey(k string) bool {
	i, err := strconv.ParseInt(k, 10, 64)
	return err == nil && strconv.FormatInt(i, 10) == k
}

// sides are the keywords that bound a number.
var sides = [...]struct {
	keyword, exclusive string
	sign               float64
}{{"minimum", "exclusiveMinimum", 1}, {"maximum", "exclusiveMaximum", -1}}

func (s inputSchema) checkNumber(v any, at string) outcome {
	n, _ := numeral(v)
	found := outcome{}
	if s["multipleOf"] != nil {
		of, ok := numeral(s["multipleOf"])
		if !ok {
			found.state = unsure
		} else if math.Mod(n, of) != 0 {
			return violates(at, "multipleOf")
		}
	}
	for _, side := range sides {
		limit := s[side.keyword]
		if limit == nil {
			continue
		}
		bound, ok := numeral(limit)
		switch {
		case !ok || n == bound && math.Abs(n) >= 1<<53: // where integers and floats differ
			found = firstOf(found, outcome{state: unsure})
		case side.sign*n < side.sign*bound, n == bound && phpTrue(s[side.exclusive]):
			return violates(at, side.keyword)
		}
	}
	return found
}
