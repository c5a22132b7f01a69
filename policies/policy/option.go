package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/typo"
)

// Option is one line of the directive with its block, without Caddy's types: a name, its
// arguments, the options of its block, and its position.
type Option struct {
	Name  string
	Args  []string
	Block []Option
	// Quoted tells that the name stands in quotes, so that it is no word of the grammar where names may stand as well.
	Quoted bool
	Pos    string // "Caddyfile:12"
	// Imported is where the snippet or the file that holds the line was imported, nearest
	// first: "Caddyfile:40, Caddyfile:2". It is empty if the line was not imported.
	Imported string
	// From is the slug of the plugin whose line this option comes from, see access.ExpandPlugins.
	From string
}

// PlacedError is an error of the configuration with its place, which ends the message:
// "…, at snippets.caddy:3, imported at Caddyfile:12".
type PlacedError struct {
	Err          error
	At, Imported string // see Option.Pos and Option.Imported; either may be empty
}

// Error returns the message with the place.
func (e *PlacedError) Error() string {
	text := routes.Masked(e.Err.Error()) // it goes to a terminal or a log
	if e.At != "" {
		if !strings.HasSuffix(text, "?") {
			text += ","
		}
		text += " at " + e.At
	}
	if e.Imported != "" {
		text += ", imported at " + e.Imported
	}
	return text
}

// Unwrap returns the error without its place.
func (e *PlacedError) Unwrap() error { return e.Err }

// Errorf returns an error that ends with the option's file and line, and with where the
// option was imported. It is a *PlacedError if the option has a position.
func (o Option) Errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if o.Pos == "" {
		return err
	}
	return &PlacedError{Err: err, At: o.Pos, Imported: o.Imported}
}

// UnsetHint ends the message about an argument that is empty or missing. Caddy replaces
// {$NAME} by nothing if there is no such variable, before anything else reads the line.
const UnsetHint = "is an environment variable {$NAME} unset?"

// Missing is the error for an option that lacks an argument. Needs says what the option
// takes: "takes a rate".
func (o Option) Missing(needs string) error {
	return o.Errorf("%s %s: %s", o.Name, needs, UnsetHint)
}

// Invalid is the error for an option whose arguments do not make what it needs.
func (o Option) Invalid(err error) error {
	if errors.Is(err, errNoRoute) {
		return o.Errorf("%s: %w: %s", o.Name, err, UnsetHint)
	}
	return o.Errorf("%s: %w", o.Name, err)
}

// Complete checks that no argument of the option or its block is empty, or a place for an
// argument that the import of a snippet does not give.
func (o Option) Complete() error {
	for i, arg := range o.Args {
		switch {
		case arg == "" && len(o.Args) == 1:
			return o.Errorf("%s is empty: %s", o.Name, UnsetHint)
		case arg == "":
			return o.Errorf("%s: argument %d is empty: %s", o.Name, i+1, UnsetHint)
		}
		if i := strings.Index(arg, "{args["); i >= 0 {
			return o.Errorf("%s: the import of the snippet gives no argument for %s", o.Name, arg[i:])
		}
	}
	for _, inner := range o.Block {
		if err := inner.Complete(); err != nil {
			return err
		}
	}
	return nil
}

// One returns the option's single argument.
func (o Option) One() (string, error) {
	const needs = "takes exactly one argument"
	switch {
	case len(o.Block) > 0 || len(o.Args) > 1:
		return "", o.Errorf("%s %s", o.Name, needs)
	case len(o.Args) == 0:
		return "", o.Missing(needs)
	}
	return o.Args[0], nil
}

// None checks that the option has neither arguments nor a block.
func (o Option) None() error {
	if len(o.Args) > 0 || len(o.Block) > 0 {
		return o.Errorf("%s takes no arguments", o.Name)
	}
	return nil
}

// Word returns the option's single argument, which must be one of words.
func (o Option) Word(words ...string) (string, error) {
	word, err := o.One()
	if err != nil {
		return "", err
	}
	if err := typo.Check(word, words...); err != nil {
		return "", o.Errorf("%s: %w", o.Name, err)
	}
	return word, nil
}

// Bare checks that nothing is left beside the policy's name once the options of all
// policies have been taken out of its block.
func (o Option) Bare() error {
	if len(o.Args) > 0 {
		return o.Errorf("%s takes no arguments here%s", o.Name, Prefixed(": ", typo.Hint(o.Args[0], "off")))
	}
	if len(o.Block) > 0 {
		return o.Block[0].UnknownIn()
	}
	return nil
}

// fewWords is how many words an error lists.
const fewWords = 8

// Unknown is the error for an option that is none of words, the options that may stand in
// its place. The error, a *typo.Error, names the nearest of them, or all if they are few.
func (o Option) Unknown(words ...string) error {
	text := o.Name + ": unknown option"
	if hint := typo.Hint(o.Name, words...); hint != "" {
		text += ", " + hint
	} else if len(words) > 0 && len(words) <= fewWords {
		text += " (possible: " + strings.Join(words, ", ") + ")"
	}
	return o.Errorf("%w", &typo.Error{Text: text, Words: words})
}

// UnknownIn is Unknown in a policy's own block, which takes the settings of all policies
// beside words, the options of the policy.
func (o Option) UnknownIn(words ...string) error {
	return o.Unknown(slices.Concat(words, settingsWords)...)
}

// Prefixed returns prefix and text, or nothing where text is empty.
func Prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// ErrRepeated says that an option stands twice.
var ErrRepeated = errors.New("already specified")

// Once returns an error if set is true, for an option that may be given only once.
func (o Option) Once(set bool) error {
	if set {
		return o.Errorf("%s: %w", o.Name, ErrRepeated)
	}
	return nil
}

// Each calls f for every option of the block. A name that occurs twice is an error,
// unless it is one of many.
func (o Option) Each(f func(Option) error, many ...string) error {
	seen := map[string]bool{}
	for _, inner := range o.Block {
		if seen[inner.Name] && !slices.Contains(many, inner.Name) {
			return inner.Once(true)
		}
		seen[inner.Name] = true
		if err := f(inner); err != nil {
			return err
		}
	}
	return nil
}
