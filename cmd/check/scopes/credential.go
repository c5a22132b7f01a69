package scopes

import (
	"slices"
	"strings"
)

// Credential is something that says who a client is.
type Credential struct {
	Label  string
	Kind   Kind
	Name   string // of a key, "ck_…"; of a login, what stands in Basic: a login name or an e-mail
	Secret string // of a key or a login; a bearer token; the value of a cookie
	Cookie string // name of the cookie
	Nonce  string // of the cookie; "" for none

	// Login is who the request says by itself that it is: the name in a cookie or in Basic.
	Login string
	// User and Password are what the platform says of it: a login and the uuid of an application
	// password. Both are "" where it accepts nobody.
	User, Password string
	// Forged tells that the platform refuses it as such.
	Forged bool
}

// Kind is a kind of credentials.
type Kind int

// The kinds. Jetpack and Token are log-ins that no scope of keys touches.
const (
	Nobody Kind = iota
	Key
	Login
	Cookie
	Bearer
	Jetpack
	Token
)

// endLength is how much of a key its shop shows.
const endLength = 7

// end is how a scope names a key.
func (c *Credential) end() string {
	return c.Name[max(0, len(c.Name)-endLength):]
}

// isKey tells whether c stands for a key of the shop where it is sent: a login that begins as
// keys do is one in Authorization.
func (c *Credential) isKey() bool {
	return c.Kind == Key || c.Kind == Login && strings.HasPrefix(c.Name, "ck_")
}

// asked tells whether only the platform can say which of some scopes bind c.
func (c *Credential) asked(scopes []*Scope) bool {
	if c.isKey() || c.Kind == Nobody || c.Kind == Cookie || c.Kind == Jetpack {
		return false
	}
	for _, s := range scopes {
		if len(s.Users) > 0 || len(s.Passwords) > 0 && c.Kind == Login {
			return true
		}
	}
	return false
}

// bound returns the scopes of which c is.
func (c *Credential) bound(scopes []*Scope) []*Scope {
	switch {
	case c.isKey():
		return naming(scopes, func(s *Scope) []string { return s.Keys }, func(name string) bool { return name == c.end() }, true)
	case c.Kind == Nobody || c.Kind == Jetpack || c.Kind == Token:
		return nil
	}
	// A name that the request gives is enough to be bound by it, but only somebody who is logged in, or has a cookie,
	// is one of those whom no scope names.
	given := func(name string) bool { return strings.EqualFold(name, c.User) || strings.EqualFold(name, c.Login) }
	list := naming(scopes, func(s *Scope) []string { return s.Users }, given, c.User != "" || c.Kind == Cookie)
	if c.Password != "" {
		list = append(list, naming(scopes, func(s *Scope) []string { return s.Passwords }, func(name string) bool { return name == c.Password }, true)...)
	}
	return list
}

// naming returns the scopes that name a credential, or, where none does and rest is true, those
// for the rest.
func naming(scopes []*Scope, names func(*Scope) []string, fits func(name string) bool, rest bool) (list []*Scope) {
	for _, s := range scopes {
		if slices.ContainsFunc(names(s), fits) {
			list = append(list, s)
		}
	}
	if list == nil && rest {
		return slices.DeleteFunc(slices.Clone(scopes), func(s *Scope) bool { return !slices.Contains(names(s), Any) })
	}
	return list
}
