package adminapi

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.uber.org/zap/zapcore"
)

const (
	// OperatorHeader is the header in which a command says who runs it (--operator). Nobody verifies that.
	OperatorHeader = "Restwarden-Operator"
	// MaxOperator bounds the name of an operator, in bytes.
	MaxOperator = 100
)

// By says who has switched or decided something.
type By struct {
	Address string `json:"by"` // where the request came from, or what else it was
	// Operator is the name of a person, if one is known. Claimed tells that the request alone says so, and no proxy of the operators'.
	Operator string `json:"operator,omitempty"`
	Claimed  bool   `json:"claimed,omitempty"`
}

// Who returns "anna (127.0.0.1)", "anna, claimed (127.0.0.1)" or "127.0.0.1".
func (b By) Who() string {
	switch {
	case b.Operator == "":
		return b.Address
	case b.Claimed:
		return fmt.Sprintf("%s, claimed (%s)", b.Operator, b.Address)
	}
	return fmt.Sprintf("%s (%s)", b.Operator, b.Address)
}

// Text is By in one text, as gateways tell it to each other: one that knows no operators keeps it as it is. ParseBy reads it.
func (b By) Text() string {
	switch {
	case b.Operator == "":
		return b.Address
	case b.Claimed:
		return fmt.Sprintf(`%s, claimed operator "%s"`, b.Address, b.Operator)
	}
	return fmt.Sprintf(`%s, operator "%s"`, b.Address, b.Operator)
}

var byText = regexp.MustCompile(`^([^"]*), (claimed )?operator "([^"]+)"$`)

// ParseBy reads a Text. Any other text is an address.
func ParseBy(text string) By {
	m := byText.FindStringSubmatch(text)
	if m == nil || CheckOperator(m[3]) != nil {
		return By{Address: text}
	}
	return By{Address: m[1], Operator: m[3], Claimed: m[2] != ""}
}

// MarshalLogObject implements zapcore.ObjectMarshaler, with the names of the JSON.
func (b By) MarshalLogObject(to zapcore.ObjectEncoder) error {
	to.AddString("by", b.Address)
	if b.Operator != "" {
		to.AddString("operator", b.Operator)
	}
	if b.Claimed {
		to.AddBool("claimed", true)
	}
	return nil
}

// CheckOperator tells what is wrong with the name of an operator: it can be seen, and never reads like more than a name.
func CheckOperator(name string) error {
	seen := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
	switch {
	case name == "" || strings.TrimSpace(name) != name || strings.Contains(name, "  "):
		return errors.New("the name of an operator is empty, or has blanks at its ends or side by side")
	case len(name) > MaxOperator:
		return fmt.Errorf("the name of an operator has %d bytes at most", MaxOperator)
	case !utf8.ValidString(name), strings.ContainsFunc(name, oddInName), !strings.ContainsFunc(name, seen):
		return fmt.Errorf(`%q is no name of an operator: it needs letters or digits, and may not have ( ) " \ or what cannot be seen`, name)
	}
	return nil
}

// oddInName tells whether a name may not have a character: it cannot be seen, as the fillers of Unicode's Hangul and Braille, or belongs to
// what stands around a name.
func oddInName(c rune) bool {
	return !unicode.IsPrint(c) || strings.ContainsRune("()\"\\\u115f\u1160\u3164\uffa0\u2800", c)
}
