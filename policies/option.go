package policies

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Option is one line of the directive with its block, without Caddy's types: a name, its
// arguments, the options of its block, and its position.
type Option struct {
	Name  string
	Args  []string
	Block []Option
	Pos   string // "Caddyfile:12"
}

// Errorf returns an error that begins with the option's file and line.
func (o Option) Errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if o.Pos == "" {
		return err
	}
	return fmt.Errorf("%s: %w", o.Pos, err)
}

// One returns the option's single argument.
func (o Option) One() (string, error) {
	if len(o.Args) != 1 || len(o.Block) > 0 {
		return "", o.Errorf("%s takes exactly one argument", o.Name)
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
	if !slices.Contains(words, word) {
		return "", o.Errorf("%s: %q is not one of %s", o.Name, word, strings.Join(words, ", "))
	}
	return word, nil
}

// Bare checks that nothing is left beside the policy's name once the options of all
// policies have been taken out of its block.
func (o Option) Bare() error {
	if len(o.Args) > 0 {
		return o.Errorf("%s takes no arguments here", o.Name)
	}
	if len(o.Block) > 0 {
		return o.Block[0].Unknown()
	}
	return nil
}

// Unknown is the error for an unknown option.
func (o Option) Unknown() error { return o.Errorf("unrecognized option %q", o.Name) }

var errRepeated = errors.New("already specified")

// Once returns an error if set is true, for an option that may be given only once.
func (o Option) Once(set bool) error {
	if set {
		return o.Errorf("%s: %w", o.Name, errRepeated)
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
