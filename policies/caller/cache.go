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

// identityCapacity bounds the callers remembered by one site; an entry is some
// hundred bytes, with capabilities a few thousand.
const identityCapacity = 10_000

// rejectedTTL is how long refused credentials are remembered: long enough to
// blunt a loop, short enough for somebody who has just created a password.
const rejectedTTL = 2 * time.Second

// identityCache keeps who is calling under a keyed hash of the credentials, so
// that no credential can be read out of memory by its key.
type identityCache struct {
	hasher  atomic.Pointer[hasher]
	entries *ttlcache.Cache[string, identityEntry]
	drops   atomic.Uint64
}

type identityEntry struct {
	identity
	session string // hash of the login cookies, "" without
}

func newIdentityCache() *identityCache {
	c := &identityCache{entries: ttlcache.New(
		ttlcache.WithCapacity[string, identityEntry](identityCapacity),
		ttlcache.WithDisableTouchOnHit[string, identityEntry](),
	)}
	secret := make([]byte, 32)
	rand.Read(secret)
	c.hasher.Store(newHasher(secret, false))
	return c
}

// hasher makes keyed hashes with one secret.
type hasher struct {
	id     string // names the secret without telling it
	shared bool   // other gateways have the same secret
	macs   sync.Pool
}

func newHasher(secret []byte, shared bool) *hasher {
	h := &hasher{shared: shared}
	h.macs.New = func() any { return hmac.New(sha256.New, secret) }
	h.id = hex.EncodeToString([]byte(h.mac([]byte("id"))[:8]))
	return h
}

// mac is the keyed hash of b.
func (h *hasher) mac(b []byte) string {
	m := h.macs.Get().(hash.Hash)
	defer h.macs.Put(m)
	m.Reset()
	m.Write(b)
	var sum [sha256.Size]byte
	return string(m.Sum(sum[:0]))
}

// key hashes all that decides who is calling.
func (c *identityCache) key(claim Claim, credentials *Credentials) string {
	return c.hasher.Load().mac(credentials.appendKey(make([]byte, 0, 512), claim))
}

// KeyedName names a secret in a form that may stand in the key of a Store.
// Gateways of one store agree on it once they have reached the store.
func (ids *Identities) KeyedName(secret string) string {
	if ids.shared != nil {
		ids.opts.Store.Secret() // wakes the store up
	}
	return hex.EncodeToString([]byte(ids.cache.hasher.Load().mac([]byte(secret))))
}

func (c *identityCache) get(key string) (identity, bool) {
	item := c.entries.Get(key)
	if item == nil {
		return identity{}, false
	}
	return item.Value().identity, true
}

// adopt makes hasher the one that counts; what was kept under another is gone.
func (c *identityCache) adopt(h *hasher) {
	c.hasher.Store(h)
	c.drop(func(identityEntry) bool { return true })
}

// epoch changes with every drop: an answer to a question asked before is not
// remembered after.
func (c *identityCache) epoch() uint64 { return c.drops.Load() }

func (c *identityCache) put(key string, epoch uint64, e identityEntry, ttl time.Duration) {
	if c.drops.Load() != epoch {
		return
	}
	if e.caller.Kind == Anonymous {
		ttl = min(ttl, rejectedTTL)
	}
	c.entries.Set(key, e, ttl)
	if c.drops.Load() != epoch {
		c.entries.Delete(key)
	}
}

// drop forgets the entries for which gone returns true.
func (c *identityCache) drop(gone func(identityEntry) bool) {
	c.drops.Add(1)
	var keys []string
	c.entries.Range(func(item *ttlcache.Item[string, identityEntry]) bool {
		if gone(item.Value()) {
			keys = append(keys, item.Key())
		}
		return true
	})
	for _, key := range keys {
		c.entries.Delete(key)
	}
}
