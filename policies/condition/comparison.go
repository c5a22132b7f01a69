package condition

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/typo"
)

// Comparison is one line `<member> = <value>[,<value>]`, `<member> <= <number>` or `<member> >= <number>`.
type Comparison struct {
	Member string   `json:"member"` // a parameter, with the names of members behind dots
	Is     string   `json:"is"`     // one of Signs
	Values []string `json:"values"` // one for <= and >=

	path     []string
	bound    *big.Rat // of <= and >=
	optional bool
}

// Signs are how a member may be compared.
var Signs = []string{"=", "<=", ">="}

func (m *Comparison) compile() (err error) {
	if m.path, err = parsePath(m.Member); err != nil {
		return err
	}
	if err := typo.Check(m.Is, Signs...); err != nil {
		return err
	}
	switch {
	case len(m.Values) == 0 || slices.Contains(m.Values, ""):
		return fmt.Errorf("%s %s: a value is empty", m.Member, m.Is)
	case m.Is == "=":
		return nil
	case len(m.Values) > 1:
		return fmt.Errorf("%s %s takes one number", m.Member, m.Is)
	}
	if m.bound = decimal(m.Values[0]); m.bound == nil {
		return fmt.Errorf("%s %s %s: not a number of a minus, digits and one point", m.Member, m.Is, m.Values[0])
	}
	return nil
}

// holds tells whether the values that the places of a call have for the member all fit.
func (m *Comparison) holds(values []any) bool {
	if len(values) == 0 {
		return m.optional
	}
	return !slices.ContainsFunc(values, func(v any) bool { return !m.fits(v) })
}

// fits compares the text of a string, or of a number as it was sent. Nothing else fits.
func (m *Comparison) fits(v any) bool {
	text, is := v.(string)
	read := decimal
	if sent, json := v.(json.Number); json {
		text, is, read = string(sent), true, exact
	}
	if m.Is == "=" || !is {
		return is && slices.Contains(m.Values, text)
	}
	switch number := read(text); {
	case number == nil:
		return false
	case m.Is == "<=":
		return number.Cmp(m.bound) <= 0
	default:
		return number.Cmp(m.bound) >= 0
	}
}

// maxDigits and maxExponent bound the numbers that are compared. Larger ones are refused.
const (
	maxDigits   = 64
	maxExponent = 64
)

// decimal reads a text of a minus, digits and at most one point; nil for any other text.
func decimal(text string) *big.Rat {
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole+fraction == "" || len(text) > maxDigits || strings.Trim(whole+fraction, "0123456789") != "" {
		return nil
	}
	if whole == "" {
		whole = "0"
	}
	number, _ := new(big.Rat).SetString(whole + "." + fraction + "0")
	if len(digits) < len(text) {
		number.Neg(number)
	}
	return number
}

// exact reads a number of JSON; nil for one that is too long.
func exact(text string) *big.Rat {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || n < -maxExponent || n > maxExponent || len(mantissa) > maxDigits {
		return nil
	}
	number, _ := new(big.Rat).SetString(text)
	return number
}

// String writes the comparison as a line of the Caddyfile.
func (m *Comparison) String() string {
	return quoted(m.Member) + " " + m.Is + " " + quotedValue(strings.Join(m.Values, ","))
}

// quoted returns a name as a line has it: in quotes if it is a word of a condition.
func quoted(name string) string {
	if slices.Contains(Words, name) {
		return strconv.Quote(name)
	}
	return name
}

func quotedValue(text string) string {
	if strings.ContainsAny(text, " \t\"{}#`") {
		return strconv.Quote(text)
	}
	return text
}

var errSpaced = errors.New("values stand behind each other with commas and no blanks; quotes hold a blank")

// ParseComparison reads a line, its name and what stands behind it.
func ParseComparison(member string, args []string) (Comparison, error) {
	switch {
	case len(args) == 0 || !slices.Contains(Signs, args[0]):
		return Comparison{}, unknown(member, args)
	case len(args) != 2:
		return Comparison{}, fmt.Errorf("%s %s: %w", member, args[0], errSpaced)
	}
	m := Comparison{Member: member, Is: args[0], Values: strings.Split(args[1], ",")}
	return m, m.compile()
}

// unknown is the error for a line that is no condition.
func unknown(member string, args []string) error {
	const forms = "a condition is only, optional, from, between, or <member> with =, <= or >= and a value"
	if near := typo.Hint(member, Words...); near != "" {
		return fmt.Errorf("%s: %s (%s)", member, near, forms)
	}
	if len(args) > 0 {
		return fmt.Errorf("%s %s: %s", member, args[0], forms)
	}
	return fmt.Errorf("%s: %s", member, forms)
}
