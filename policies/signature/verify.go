package signature

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/store"
)

// Verifies implements [policy.Verifier].
func (*Signatures) Verifies() {}

// Check verifies the signature that the rule of the call requires.
func (p *Signatures) Check(ctx context.Context, r *policy.Request) (policy.Verdict, error) {
	rule := asksToSign(r.Matched)
	if rule == nil {
		return policy.Verdict{}, nil
	}
	if r.Call.Kind == call.Batch {
		return refuseSignature(rule, "A signature covers one call, not a batch."), nil
	}
	var faults []string
	for _, name := range rule.Names() {
		s := p.named(name)
		fault, err := s.verify(ctx, r)
		if fault == "" || err != nil {
			return policy.Verdict{}, err
		}
		faults = append(faults, s.Name+" "+fault)
	}
	return refuseSignature(rule, "Signature "+strings.Join(faults, "; ")+"."), nil
}

// named returns the signature with a name that Declare has made known.
func (p *Signatures) named(name string) *Signature {
	return p.Signatures[slices.IndexFunc(p.Signatures, func(s *Signature) bool { return s.Name == name })]
}

// asksToSign returns the rule that applies to a call if it asks for a signature, or nil.
func asksToSign(m policy.Match) *policy.Rule {
	if m.Rule == nil || m.Rule.Who() != policy.BySignature {
		return nil
	}
	return m.Rule
}

func refuseSignature(rule *policy.Rule, note string) policy.Verdict {
	return policy.Verdict{
		Status: http.StatusUnauthorized, Code: policy.CodeSignature, Message: "The signature is missing or not valid.",
		Rule: rule.String(), Pos: rule.At, Origin: rule.Origin(), Note: note,
	}
}

// verify returns "" if r carries this signature, valid and fresh. Else it says for the
// operator what is wrong. It does the same work for every key.
func (s *Signature) verify(ctx context.Context, r *policy.Request) (fault string, err error) {
	given, ok := s.given(r.HTTP.Header)
	if !ok {
		return "is missing, or its headers do not have the form of the scheme", nil
	}
	if s.scheme.timed {
		if fault := s.stale(given.stamp, r.Site.Now()); fault != "" {
			return fault, nil
		}
	}
	message, err := s.scheme.message(r.SignedCall(), given)
	if err != nil {
		return "", err
	}
	var right [][]byte
	for _, key := range s.Keys {
		sum, err := s.scheme.sum(key, given, message)
		if err != nil {
			return "", fmt.Errorf("signature %s: %w", s.Name, err)
		}
		for _, mac := range given.macs {
			if hmac.Equal(mac, sum) {
				right = append(right, s.scheme.once(key, given, sum))
			}
		}
	}
	if len(right) == 0 {
		return "is not made with one of its keys, or is for another call", nil
	}
	if s.Once && spent.Get(r) != s {
		if first, err := s.first(ctx, r.Site.Store, right); !first {
			return "was used before", err
		}
		spent.Set(r, s)
	}
	return "", nil
}

// given reads the headers of the scheme. Each must occur exactly once, and no header may
// have a name that the platform takes for one of them.
func (s *Signature) given(h http.Header) (g given, ok bool) {
	signature, ok := single(h, s.SignatureHeader)
	if !ok {
		return g, false
	}
	if s.scheme.timestamp != "" {
		if g.stamp, ok = single(h, s.TimestampHeader); !ok {
			return g, false
		}
	}
	if s.scheme.id != "" {
		if g.id, ok = single(h, s.scheme.id); !ok {
			return g, false
		}
	}
	return g, s.scheme.read(signature, &g) && len(g.macs) > 0 && len(g.macs) <= maxMACs
}

// single returns the value of a header that occurs once, with no other header whose name
// some server folds onto it (docs/platform I.7, 1).
func single(h http.Header, name string) (string, bool) {
	values := h[name]
	if len(values) != 1 || len(values[0]) > maxSignature {
		return "", false
	}
	for other := range h {
		if len(other) == len(name) && other != name && strings.EqualFold(call.FoldHeader(other), call.FoldHeader(name)) {
			return "", false
		}
	}
	return values[0], true
}

// stale returns "" for exactly ten digits, UNIX seconds from 2001 to 2286, that are within
// the tolerance. Else it says for the operator what is wrong.
func (s *Signature) stale(stamp string, now time.Time) string {
	seconds, err := strconv.ParseUint(stamp, 10, 64)
	if err != nil || len(stamp) != 10 || stamp[0] == '0' {
		return "has a timestamp that is not ten digits of UNIX seconds"
	}
	off := now.Sub(time.Unix(int64(seconds), 0)).Abs()
	if off > time.Duration(s.Tolerance) {
		return fmt.Sprintf("has a timestamp that is off by %s, more than its tolerance", off.Round(time.Second))
	}
	return ""
}

// spent keeps the signature that verified the call. It counts once.
var spent = policy.NewSlot[Signature](policy.OfRequest)

const (
	// onceMargin allows for clocks of gateways that differ.
	onceMargin = time.Minute
	// onceUntimed is how long a signature without a timestamp is remembered.
	onceUntimed = 24 * time.Hour
)

// first tells whether none of the valid signatures was used before. It remembers the
// signature itself, which only its key can make. Host and signature name are no part of
// the record: clients choose the host, and several names may share a key.
func (s *Signature) first(ctx context.Context, store store.Store, right [][]byte) (bool, error) {
	ttl := onceUntimed
	if s.scheme.timed {
		ttl = 2*time.Duration(s.Tolerance) + onceMargin
	}
	all := true
	for _, mac := range slices.CompactFunc(right, slices.Equal) {
		first, err := store.SetOnce(ctx, "once:"+hex.EncodeToString(mac), ttl)
		if err != nil {
			return false, fmt.Errorf("was this signature used before: %w", err)
		}
		all = all && first
	}
	return all, nil
}
