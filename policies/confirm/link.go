package confirm

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Links makes the tokens of links. A token opens one confirmation for whoever has it, until
// somebody has decided. One gateway makes the same token for a confirmation each time, so
// that its link can be shown again although the store has only a hash of it.
type Links struct{ secret [32]byte }

// NewLinks returns Links with a new secret.
func NewLinks() *Links {
	l := new(Links)
	rand.Read(l.secret[:])
	return l
}

// TokenLen is the length of a token: 256 bits in base64url.
const TokenLen = 43

// Token returns the token of a confirmation, and opens it in the ledger.
func (k *Links) Token(ctx context.Context, l *Ledger, c *Confirmation) (string, error) {
	h := hmac.New(sha256.New, k.secret[:])
	h.Write([]byte(l.site + "\x00" + c.ID))
	token := base64.RawURLEncoding.EncodeToString(h.Sum(nil))
	return token, l.store.Set(ctx, l.linkKey(token), c.ID, c.Within)
}

// linkKey is the key of a token. It holds a hash: who reads the store cannot decide.
func (l *Ledger) linkKey(token string) string {
	sum := sha256.Sum256([]byte(token))
	return l.key(kindLink, hex.EncodeToString(sum[:]))
}

// ByToken returns the confirmation that a token opens. The error is ErrUnknown if it opens
// none, or none on which nobody has decided.
func (l *Ledger) ByToken(ctx context.Context, token string) (*Confirmation, error) {
	if !validToken(token) {
		return nil, ErrUnknown
	}
	key := l.linkKey(token)
	values, err := l.store.GetAll(ctx, key)
	if err != nil {
		return nil, err
	}
	id, ok := values[key]
	if !ok {
		return nil, ErrUnknown
	}
	c, err := l.Get(ctx, id)
	if err == nil && c.State != Pending {
		return nil, ErrUnknown
	}
	return c, err
}

func validToken(token string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return err == nil && len(token) == TokenLen && len(raw) == sha256.Size
}
