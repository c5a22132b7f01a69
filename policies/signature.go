package policies

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/restwarden/restwarden/policies/call"
)

// Signatures verifies signed calls: on a route whose rule says `signed <name>`,
// one of the named signatures must be right, and fresh.
type Signatures struct {
	Common
	Signatures []*Signature `json:"signatures,omitempty"`

	site *Site
}

// Signature is one way to sign, with its keys.
type Signature struct {
	Name string `json:"name"`
	// Scheme says what is signed: "timestamp" (interface document E13, the
	// default) or "request" (timestamp, method, route and body).
	Scheme string `json:"scheme,omitempty"`
	// Keys are the secrets; several while one is being replaced.
	Keys []string `json:"keys"`
	// Tolerance is how far the timestamp may be off, both ways; default 5m.
	Tolerance Duration `json:"tolerance,omitempty"`
	// Once refuses a signature that was used before.
	Once bool `json:"once,omitempty"`
	// SignatureHeader and TimestampHeader replace X-Signature and X-Timestamp.
	SignatureHeader string `json:"signature_header,omitempty"`
	TimestampHeader string `json:"timestamp_header,omitempty"`
	// At is where the signature stands, "Caddyfile:12".
	At string `json:"at,omitempty"`
}

// Configure takes `signature <name> { … }`, or the policy's own block where no
// name is given.
func (p *Signatures) Configure(o Option) error {
	if len(o.Args) == 0 {
		return p.onlyCommon(o)
	}
	if len(o.Args) > 1 {
		return o.Errorf("signature takes one name, its options stand in a block")
	}
	s := &Signature{Name: o.Args[0], At: o.Pos}
	if slices.ContainsFunc(p.Signatures, func(other *Signature) bool { return other.Name == s.Name }) {
		return o.Errorf("signature %s: %w", s.Name, errRepeated)
	}
	p.Signatures = append(p.Signatures, s)
	return o.Each(s.configure, "key", "header")
}

func (s *Signature) configure(o Option) (err error) {
	switch o.Name {
	case "scheme":
		s.Scheme, err = o.Word(signatureSchemes...)
	case "key":
		if len(o.Args) == 0 || len(o.Block) > 0 {
			return o.Errorf("key takes one secret or several")
		}
		s.Keys = append(s.Keys, o.Args...)
	case "tolerance":
		err = o.Duration(&s.Tolerance)
	case "once":
		s.Once = true
		err = o.None()
	case "header":
		if len(o.Args) != 2 || o.Args[0] != "signature" && o.Args[0] != "timestamp" {
			return o.Errorf("header takes signature or timestamp and a name")
		}
		if o.Args[0] == "signature" {
			s.SignatureHeader = o.Args[1]
		} else {
			s.TimestampHeader = o.Args[1]
		}
	default:
		err = o.Unknown()
	}
	return err
}

var signatureSchemes = []string{"timestamp", "request"}

// Provision checks the signatures and makes them known to the rules.
func (p *Signatures) Provision(site *Site) error {
	p.site = site
	for i, s := range p.Signatures {
		if slices.ContainsFunc(p.Signatures[:i], func(other *Signature) bool { return other.Name == s.Name }) {
			return s.errorf(errRepeated)
		}
		if err := s.provision(); err != nil {
			return s.errorf(err)
		}
	}
	site.Signatures = p.Signatures
	return nil
}

func (s *Signature) errorf(err error) error {
	return Option{Pos: s.At}.Errorf("signature %s: %w", s.Name, err)
}

func (s *Signature) provision() error {
	if s.Scheme == "" {
		s.Scheme = "timestamp"
	}
	if s.Tolerance == 0 {
		s.Tolerance = Duration(5 * time.Minute)
	}
	switch {
	case s.Name == "":
		return errors.New("no name")
	case !slices.Contains(signatureSchemes, s.Scheme):
		return fmt.Errorf("scheme %q is not one of %v", s.Scheme, signatureSchemes)
	case len(s.Keys) == 0:
		return errors.New("no key")
	case slices.ContainsFunc(s.Keys, blank):
		return errors.New("a key is empty")
	case s.Tolerance < 0 || s.Tolerance > Duration(24*time.Hour):
		return errors.New("tolerance is not between 0 and 24h")
	}
	s.SignatureHeader = http.CanonicalHeaderKey(orDefault(s.SignatureHeader, "X-Signature"))
	s.TimestampHeader = http.CanonicalHeaderKey(orDefault(s.TimestampHeader, "X-Timestamp"))
	return nil
}

// Secrets returns the keys.
func (p *Signatures) Secrets() []*string {
	var keys []*string
	for _, s := range p.Signatures {
		for i := range s.Keys {
			keys = append(keys, &s.Keys[i])
		}
	}
	return keys
}

// Check verifies the signature that the rule of the call asks for.
func (p *Signatures) Check(ctx context.Context, r *Request) (Verdict, error) {
	if r.Matched == nil || r.Matched.who != whoSigned {
		return Verdict{}, nil
	}
	if r.Call.Kind == call.Batch {
		return p.refuse(r), nil // a signature covers one call
	}
	for _, s := range r.Matched.signatures {
		ok, err := s.verify(ctx, r)
		if ok || err != nil {
			return Verdict{}, err
		}
	}
	return p.refuse(r), nil
}

func (p *Signatures) refuse(r *Request) Verdict {
	return Verdict{
		Status: http.StatusUnauthorized, Code: CodeSignature, Message: "The signature is missing or not valid.",
		Rule: r.Matched.String(), Pos: r.Matched.At,
	}
}

// verify tells whether r carries this signature, right and fresh. It does the
// same work for every key.
func (s *Signature) verify(ctx context.Context, r *Request) (bool, error) {
	given, ok := s.given(r.HTTP.Header)
	if !ok {
		return false, nil
	}
	stamp := r.HTTP.Header[s.TimestampHeader]
	if len(stamp) != 1 || !s.fresh(stamp[0], r.Site.Now()) {
		return false, nil
	}
	message, err := s.message(r.Call, stamp[0])
	if err != nil {
		return false, err
	}
	right := false
	for _, key := range s.Keys {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(message)
		right = hmac.Equal(mac.Sum(nil), given) || right
	}
	if !right || !s.Once {
		return right, nil
	}
	first, err := r.Site.Store.SetOnce(ctx, "once:"+s.Name+":"+hex.EncodeToString(given), 2*time.Duration(s.Tolerance))
	if err != nil {
		return false, fmt.Errorf("was this signature used before: %w", err)
	}
	return first, nil
}

// given returns the bytes of the one signature header: 64 lower-case hex digits.
func (s *Signature) given(h http.Header) ([]byte, bool) {
	values := h[s.SignatureHeader]
	if len(values) != 1 || len(values[0]) != 2*sha256.Size {
		return nil, false
	}
	for _, c := range values[0] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil, false
		}
	}
	mac, err := hex.DecodeString(values[0])
	return mac, err == nil
}

// fresh accepts exactly ten digits: UNIX seconds from 2001 to 2286.
func (s *Signature) fresh(stamp string, now time.Time) bool {
	if len(stamp) != 10 || stamp[0] == '0' {
		return false
	}
	for _, c := range stamp {
		if c < '0' || c > '9' {
			return false
		}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	off := now.Sub(time.Unix(seconds, 0))
	return err == nil && off.Abs() <= time.Duration(s.Tolerance)
}

// message is what is signed.
func (s *Signature) message(c *call.Call, stamp string) ([]byte, error) {
	if s.Scheme == "timestamp" {
		return []byte(stamp), nil
	}
	body, err := c.RawBody()
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(body)
	return []byte(stamp + "\n" + c.Method + "\n" + c.Route + "\n" + hex.EncodeToString(digest[:])), nil
}
