package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/redact"
	"github.com/restwarden/restwarden/policies/typo"
)

// Configure takes `scope <name> { … }`, or the policy's own block.
func (p *Scopes) Configure(o policy.Option) error {
	if len(o.Args) == 0 {
		return o.Bare()
	}
	s := &Scope{Name: o.Args[0], At: o.Pos}
	switch {
	case len(o.Args) > 1:
		return o.Errorf("scope %s takes a block, and nothing else behind its name", s.Name)
	case len(o.Block) == 0:
		return o.Errorf("scope %s needs a block that names a key, a password or a user, and what it allows", s.Name)
	case slices.ContainsFunc(p.Scopes, func(other *Scope) bool { return other.Name == s.Name }):
		return o.Errorf("scope %s: %w", s.Name, policy.ErrRepeated)
	}
	for _, line := range o.Block {
		if err := s.configure(line); err != nil {
			return err
		}
	}
	if err := s.compile(); err != nil {
		return o.Errorf("scope %s: %w", s.Name, err)
	}
	p.Scopes = append(p.Scopes, s)
	return nil
}

// words are those of the block.
var words = []string{"key", "password", "user", "allow", "hide", "from", "between", "until", "rate", "mode", "other_doors"}

func (s *Scope) configure(o policy.Option) error {
	switch o.Name {
	case "key":
		return names(o, &s.Keys, checkKey)
	case "password":
		return names(o, &s.Passwords, checkPassword)
	case "user":
		return names(o, &s.Users, checkUser)
	case "allow":
		return s.allowOption(o)
	case "hide":
		return s.hideOption(o)
	case "from", "between":
		conditions, err := policy.AroundOption(s.From, s.Between, o)
		s.From, s.Between = conditions.From, conditions.Between
		return err
	case "until":
		return s.until(o)
	case "rate":
		return s.rateOption(o)
	case "mode":
		return s.mode(o)
	case "other_doors":
		if err := o.Once(s.OtherDoors != ""); err != nil {
			return err
		}
		var err error
		s.OtherDoors, err = o.Word(open)
		return err
	}
	return o.Unknown(words...)
}

// names adds the names of credentials to a list.
func names(o policy.Option, to *[]string, check func(string) error) error {
	if len(o.Block) > 0 {
		return o.Errorf("%s takes no block", o.Name)
	}
	if len(o.Args) == 0 {
		return o.Missing("needs a name, or *")
	}
	for _, name := range o.Args {
		if err := check(name); err != nil {
			return o.Errorf("%w", err)
		}
		if slices.Contains(*to, name) {
			return o.Errorf("%s %s: %w", o.Name, name, policy.ErrRepeated)
		}
		*to = append(*to, name)
	}
	return nil
}

func (s *Scope) allowOption(o policy.Option) error {
	conditions, err := policy.ConditionsOption(o)
	if err != nil {
		return err
	}
	a := Allow{Conditions: conditions, At: o.Pos}
	if len(o.Args) > 0 && policy.WhoOf(o.Args[0]) != policy.Nobody {
		return o.Errorf("allow %s: a scope is for its own credentials, and names methods and routes alone", o.Args[0])
	}
	a.Methods, a.Routes = policy.MethodsAndRoutes(o.Args)
	if err := a.compile(); err != nil {
		return o.Invalid(err)
	}
	s.Allow = append(s.Allow, a)
	return nil
}

func (s *Scope) hideOption(o policy.Option) error {
	if len(o.Block) > 0 {
		return o.Errorf("hide takes no block")
	}
	if len(o.Args) == 0 {
		return o.Missing("needs a route, then fields")
	}
	h := redact.Redaction{Route: o.Args[0], Fields: o.Args[1:], At: o.Pos}
	if err := h.Compile(); err != nil {
		return o.Invalid(err)
	}
	s.Hide = append(s.Hide, h)
	return nil
}

func (s *Scope) until(o policy.Option) error {
	err := o.Once(s.Until != "")
	if err == nil {
		s.Until, err = o.One()
	}
	if err != nil {
		return err
	}
	if _, err := endOf(s.Until); err != nil {
		return o.Errorf("%w", err)
	}
	return nil
}

func (s *Scope) rateOption(o policy.Option) error {
	err := o.Once(s.Rate != "")
	if err == nil {
		s.Rate, err = o.One()
	}
	if err != nil {
		return err
	}
	if _, err := policy.ParseRate(s.Rate); err != nil {
		return o.Errorf("rate: %w", err)
	}
	return nil
}

func (s *Scope) mode(o policy.Option) error {
	if err := o.Once(s.Mode != ""); err != nil {
		return err
	}
	word, err := o.Word(string(policy.Enforce), string(policy.Observe))
	s.Mode = policy.Mode(word)
	return err
}

// open is the word of other_doors.
const open = "open"

var (
	errNobody     = errors.New("it names no key, no password and no user, so that it binds nobody")
	errOtherDoors = errors.New("other_doors is about xmlrpc.php, which takes passwords: the scope names neither a password nor a user")
)

// checkNames checks whom the scope binds, and its own name.
func (s *Scope) checkNames() error {
	if s.Name == "" || s.Name == "off" || strings.Trim(s.Name, nameBytes) != "" {
		return fmt.Errorf("%q is no name of small letters, digits, - and _", s.Name)
	}
	for _, list := range []struct {
		names []string
		check func(string) error
	}{{s.Keys, checkKey}, {s.Passwords, checkPassword}, {s.Users, checkUser}} {
		for _, name := range list.names {
			if err := list.check(name); err != nil {
				return err
			}
		}
	}
	switch {
	case len(s.Keys)+len(s.Passwords)+len(s.Users) == 0:
		return errNobody
	case s.OtherDoors != "" && len(s.Passwords)+len(s.Users) == 0:
		return errOtherDoors
	}
	return typo.CheckOption("other_doors", s.OtherDoors, open)
}

const nameBytes = "abcdefghijklmnopqrstuvwxyz0123456789-_"

func checkKey(name string) error {
	if name != every && !caller.PlainKeyEnd(name) {
		return fmt.Errorf("key %s: a key is named by its last seven characters, as the shop's list of keys shows them", name)
	}
	return nil
}

func checkPassword(name string) error {
	if name != every && !caller.PlainUUID(strings.ToLower(name)) {
		return fmt.Errorf("password %s: a password is named by its uuid, such as 0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11", name)
	}
	return nil
}

func checkUser(name string) error {
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return fmt.Errorf("user %q: not a login name", name)
	case strings.HasPrefix(name, "ck_"):
		return fmt.Errorf("user %s: in Authorization that is a key of the shop, which no scope of a user binds", name)
	}
	return nil
}
