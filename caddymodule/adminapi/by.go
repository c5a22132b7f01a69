package adminapi

import (
	"errors"
	"fmt"
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

// CheckOperator tells what is wrong with the name of an operator.
func CheckOperator(name string) error {
	odd := func(c rune) bool { return !unicode.IsPrint(c) }
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return errors.New("the name of an operator is empty, or begins or ends with a blank")
	case len(name) > MaxOperator:
		return fmt.Errorf("the name of an operator has %d bytes at most", MaxOperator)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd):
		return fmt.Errorf("%q is no name of an operator", name)
	}
	return nil
}
