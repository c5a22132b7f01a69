package caller

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jellydator/ttlcache/v3"
)

// identityCapacity bounds the callers that one site remembers. An entry takes some
// hundred bytes, with capabilities a few thousand.
const identityCapacity = 10_000

// acceptedTTL is how long credentials that the platform has accepted do not count against
// the limit of questions.
const acceptedTTL = time.Hour

// rejectedTTL is how long refused credentials are remembered: long enough to slow down a
// loop, short enough for a user who has just created a password.
const rejectedTTL = 2 * time.Second

// lifetime is how long an answer is kept.
type lifetime struct{ accepted, rejected time.Duration }

// identityCache keeps callers under a keyed hash of their credentials, so that nobody can
// read a credential out of memory by its key.
type identityCache struct {
	hasher  atomic.Pointer[hasher]
	entries *identityEntries
	// accepted says whose credentials the platform has accepted, without their rights.
	accepted *identityEntries
	drops    drops
}

// identityEntries are entries by what they are kept under.
type identityEntries = ttlcache.Cache[cacheKey, identityEntry]

type identityEntry struct {
	identity
	session string // hash of the login cookies, "" without any
	until   time.Time
	again   *atomic.Bool // the platform has been asked again
}

func newIdentityCache() *identityCache {
	c := &identityCache{entries: newEntries(), accepted: newEntries()}
	secret := make([]byte, 32)
	rand.Read(secret)
	c.hasher.Store(newHasher(secret, false))
	return c
}

func newEntries() *identityEntries {
	return ttlcache.New(
		ttlcache.WithCapacity[cacheKey, identityEntry](identityCapacity),
		ttlcache.WithDisableTouchOnHit[cacheKey, identityEntry](),
	)
}

// hasher makes keyed hashes with one secret.
type hasher struct {
	id     string    // identifies the secret without revealing it
	shared bool      // other gateways have the same secret
	work   sync.Pool // of *work
}

func newHasher(secret []byte, shared bool) *hasher {
	h := &hasher{shared: shared}
	h.work.New = func() any { return &work{hash: hmac.New(sha256.New, secret)} }
	h.id = hex.EncodeToString([]byte(h.mac([]byte("id"))[:8]))
	return h
}

// mac returns the keyed hash of b.
func (h *hasher) mac(b []byte) string {
	sum := h.macOf(func(to []byte) []byte { return append(to, b...) })
	return string(sum[:])
}

// macOf is mac for the bytes that text appends.
func (h *hasher) macOf(text func([]byte) []byte) (sum cacheKey) {
	w := h.work.Get().(*work)
	defer h.work.Put(w)
	w.hash.Reset()
	w.text = text(w.text[:0])
	w.hash.Write(w.text)
	clear(w.text) // credentials
	w.sum = w.hash.Sum(w.sum[:0])
	copy(sum[:], w.sum)
	return sum
}

// cacheKey is what an answer is kept under: the keyed hash of credentials.
type cacheKey [sha256.Size]byte

// work is what a hash needs, kept for the next one.
type work struct {
	hash      hash.Hash
	text, sum []byte
}

// key returns the hash of everything that decides who is calling.
func (c *identityCache) key(claim Claim, credentials *Credentials) cacheKey {
	return c.hasher.Load().macOf(func(b []byte) []byte { return credentials.appendKey(b, claim) })
}

// KeyedName returns a keyed hash of secret, which may stand in the key of a Store. The
// gateways of one store compute the same hash once they have reached the store.
func (ids *Identities) KeyedName(secret string) string {
	if ids.shared != nil {
		ids.opts.Store.Secret() // makes the store connect
	}
	return hex.EncodeToString([]byte(ids.cache.hasher.Load().mac([]byte(secret))))
}

// age says how much an entry is worth.
type age uint8

const (
	unknown age = iota // there is no entry
	fresh              // counts
	ending             // counts, and ends soon
	ended              // has ended less than one ttl ago, and nobody saw its right end
)

// get returns what is kept under key. renew is true once for an entry that ends soon.
func (c *identityCache) get(key cacheKey, ttl time.Duration) (found identity, is age, renew bool) {
	item := c.entries.Get(key)
	if item == nil {
		return identity{}, unknown, false
	}
	e := item.Value()
	switch left := time.Until(e.until); {
	case left <= 0:
		return e.identity, ended, false
	case e.accepted() && left < ttl/4:
		return e.identity, ending, e.again.CompareAndSwap(false, true)
	}
	return e.identity, fresh, false
}

// adopt replaces the hasher and forgets all entries of the old one.
func (c *identityCache) adopt(h *hasher) {
	c.hasher.Store(h)
	c.drop(func(identityEntry) bool { return true })
}

// maxRefusal bounds what is kept of the platform's refusal of credentials, in bytes, headers
// included. It has one or two thousand; where a plugin writes more, the platform is asked again.
const maxRefusal = 8 << 10

// put keeps an answer for its lifetime, and drops those whose lifetime has ended. Callers whom the platform accepts are kept twice as
// long: a new question may take its time.
func (c *identityCache) put(key cacheKey, epoch uint64, e identityEntry, of lifetime) {
	if e.answer != nil && e.answer.Size() > maxRefusal {
		return
	}
	c.entries.DeleteExpired() // it looks only at those that end first
	ttl := of.accepted
	kept := 2 * ttl // see ended
	if !e.accepted() {
		ttl = min(ttl, of.rejected)
		kept = ttl
	}
	if ttl <= 0 {
		return
	}
	e.until, e.again = time.Now().Add(ttl), new(atomic.Bool)
	c.keep(c.entries, key, epoch, e, kept)
}

// putBy is put for an answer that is kept under another key where it is a refusal. A refusal that is kept ends what was before it.
func (c *identityCache) putBy(key, refusals cacheKey, epoch uint64, e identityEntry, of lifetime) {
	if e.accepted() || refusals == key {
		c.put(key, epoch, e, of)
		return
	}
	if of.rejected > 0 {
		c.entries.Delete(key)
	}
	c.put(refusals, epoch, e, of)
}

// keep puts an answer among entries, unless a drop since epoch covers it.
func (c *identityCache) keep(entries *identityEntries, key cacheKey, epoch uint64, e identityEntry, ttl time.Duration) {
	if c.drops.cover(e, epoch) {
		return
	}
	entries.Set(key, e, ttl)
	if c.drops.cover(e, epoch) {
		entries.Delete(key)
	}
}

// wasAccepted tells whether the platform has accepted the credentials under key within the
// last hour, and no right of theirs has ended since.
func (c *identityCache) wasAccepted(key cacheKey) bool { return c.accepted.Has(key) }

// judged remembers whether the platform has accepted the credentials under key.
func (c *identityCache) judged(key cacheKey, epoch uint64, e identityEntry) {
	if !e.proven() {
		c.accepted.Delete(key)
		return
	}
	e.caller = Caller{Kind: e.caller.Kind, ID: e.caller.ID}
	c.keep(c.accepted, key, epoch, e, acceptedTTL)
}

// epoch changes with every drop. An answer whose question was asked in an earlier epoch
// is not remembered if a drop since then covers it.
func (c *identityCache) epoch() uint64 { return c.drops.epoch() }

// drop forgets the entries for which gone returns true.
func (c *identityCache) drop(gone func(identityEntry) bool) {
	gone = c.drops.add(gone)
	for _, entries := range []*identityEntries{c.entries, c.accepted} {
		var keys []cacheKey
		entries.Range(func(item *ttlcache.Item[cacheKey, identityEntry]) bool {
			if gone(item.Value()) {
				keys = append(keys, item.Key())
			}
			return true
		})
		for _, key := range keys {
			entries.Delete(key)
		}
	}
}
