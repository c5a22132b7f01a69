// Package signature is the policy signature: calls that carry an HMAC of their body, in the schemes of those who
// send webhooks.
package signature

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// Entry is the policy in the catalog.
var Entry = policy.Entry{
	Name:  "signature",
	Words: []string{"signature"},
	New:   func() policy.Policy { return new(Signatures) },
	Codes: []policy.Code{policy.CodeSignature},
}

// Signatures verifies signed calls. On a route whose rule says `signed <name>`, one of
// the named signatures must be valid and fresh.
type Signatures struct {
	Signatures []*Signature `json:"signatures,omitempty"`
}

// Signature is one way to sign, with its keys.
type Signature struct {
	Name string `json:"name"`
	// Scheme says what is signed and in which headers: a name of the table schemes;
	// "timestamp" (docs/project/interface E13) is the default.
	Scheme string `json:"scheme,omitempty"`
	// Keys are the secrets. There are several while one is being replaced.
	Keys []string `json:"keys"`
	// Tolerance is how far the timestamp may be off in either direction; 0 means 5m, the
	// limit is 24h. Only schemes with a timestamp take it.
	Tolerance policy.Duration `json:"tolerance,omitempty"`
	// Once refuses a signature that was used before.
	Once bool `json:"once,omitempty"`
	// SignatureHeader and TimestampHeader replace X-Signature and X-Timestamp in the
	// schemes timestamp and request.
	SignatureHeader string `json:"signature_header,omitempty"`
	TimestampHeader string `json:"timestamp_header,omitempty"`
	// From is the plugin whose line `allow plugin` the signature comes from.
	From string `json:"from,omitempty"`
	// At is where the signature stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	scheme scheme
}

// Configure takes `signature <name> { … }`, or the policy's own block without a name.
func (p *Signatures) Configure(o policy.Option) error {
	if len(o.Args) == 0 && slices.ContainsFunc(o.Block, func(inner policy.Option) bool { return slices.Contains(blockWords, inner.Name) }) {
		return o.Missing("needs a name before its block")
	}
	if len(o.Args) == 0 {
		return o.Bare()
	}
	if len(o.Args) > 1 {
		return o.Errorf("signature takes one name, its options stand in a block")
	}
	s := &Signature{Name: o.Args[0], From: o.From, At: o.Pos}
	if slices.ContainsFunc(p.Signatures, func(other *Signature) bool { return other.Name == s.Name }) {
		return o.Errorf("signature %s: %w", s.Name, policy.ErrRepeated)
	}
	p.Signatures = append(p.Signatures, s)
	return o.Each(s.configure, "key", "header")
}

// blockWords are the options of configure.
var blockWords = []string{"scheme", "key", "tolerance", "once", "header"}

func (s *Signature) configure(o policy.Option) (err error) {
	switch o.Name {
	case "scheme":
		s.Scheme, err = o.Word(schemeNames...)
	case "key":
		if len(o.Args) == 0 || len(o.Block) > 0 {
			return o.Missing("takes one secret or several")
		}
		s.Keys = append(s.Keys, o.Args...)
	case "tolerance":
		err = o.Duration(&s.Tolerance)
	case "once":
		s.Once = true
		err = o.None()
	case "header":
		names := map[string]*string{"signature": &s.SignatureHeader, "timestamp": &s.TimestampHeader}
		if len(o.Args) != 2 || len(o.Block) > 0 {
			return o.Errorf("header takes signature or timestamp and a name")
		}
		if err := typo.Check(o.Args[0], "signature", "timestamp"); err != nil {
			return o.Invalid(err)
		}
		name := names[o.Args[0]]
		err = o.Once(*name != "")
		*name = o.Args[1]
	default:
		err = o.Unknown(blockWords...)
	}
	return err
}

// Declare checks the signatures and makes them known to the rules.
func (p *Signatures) Declare(site *policy.Site) error {
	for i, s := range p.Signatures {
		if slices.ContainsFunc(p.Signatures[:i], func(other *Signature) bool { return other.Name == s.Name }) {
			return s.errorf(policy.ErrRepeated)
		}
		if err := s.provision(); err != nil {
			return s.errorf(err)
		}
	}
	site.Signatures = nil
	for _, s := range p.Signatures {
		site.Signatures = append(site.Signatures, s.Name)
	}
	return nil
}

func (s *Signature) errorf(err error) error {
	return policy.Option{Pos: s.At}.Errorf("signature %s: %w", s.Name, err)
}

func (s *Signature) provision() error {
	var known bool
	s.Scheme = cmp.Or(s.Scheme, "timestamp")
	s.scheme, known = schemes[s.Scheme]
	switch {
	case s.Name == "":
		return errors.New("no name")
	case !known:
		return fmt.Errorf("scheme: %w", typo.Check(s.Scheme, schemeNames...))
	case len(s.Keys) == 0:
		return errors.New("no key")
	case slices.ContainsFunc(s.Keys, policy.Blank):
		return errors.New("a key is empty")
	case s.Tolerance < 0 || s.Tolerance > policy.Duration(24*time.Hour):
		return errors.New("tolerance is not between 0 and 24h")
	case s.Tolerance != 0 && !s.scheme.timed:
		return fmt.Errorf("tolerance: scheme %s has no timestamp", s.Scheme)
	case s.SignatureHeader+s.TimestampHeader != "" && !s.scheme.renamable:
		return fmt.Errorf("header: scheme %s has headers of its own", s.Scheme)
	}
	for _, key := range s.Keys {
		if s.scheme.checkKey != nil && s.scheme.checkKey(key) != nil {
			return fmt.Errorf("a key is none of scheme %s", s.Scheme) // the error must not hold the key
		}
	}
	slices.Sort(s.Keys)
	s.Keys = slices.Compact(s.Keys) // the old key may equal the new one
	s.Tolerance = cmp.Or(s.Tolerance, policy.Duration(5*time.Minute))
	s.SignatureHeader = http.CanonicalHeaderKey(cmp.Or(s.SignatureHeader, s.scheme.signature))
	s.TimestampHeader = http.CanonicalHeaderKey(cmp.Or(s.TimestampHeader, s.scheme.timestamp))
	if s.SignatureHeader == s.TimestampHeader {
		return errors.New("header: signature and timestamp have one name")
	}
	return nil
}

// Secrets returns the keys.
func (p *Signatures) Secrets() (keys []policy.Secret) {
	for _, s := range p.Signatures {
		for i := range s.Keys {
			keys = append(keys, policy.Secret{Text: &s.Keys[i], At: s.At})
		}
	}
	return keys
}
