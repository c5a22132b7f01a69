package policies

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jellydator/ttlcache/v3"

	"github.com/restwarden/restwarden/policies/call"
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
	macs    sync.Pool // of hash.Hash: HMACs with one random key
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
	c.macs.New = func() any { return hmac.New(sha256.New, secret) }
	return c
}

// key hashes all that decides who is calling: how it is asked, scheme, host,
// login cookies, nonce, Authorization, key parameters and the site's own.
// Other cookies are left out: they change with every page.
func (c *identityCache) key(r *Request, claim claim) string {
	b := make([]byte, 0, 512)
	part := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	secure := byte(0)
	if r.Secure {
		secure = 1
	}
	b = append(b, byte(claim), byte(r.Call.Form), secure)
	nonce, _, _ := r.Site.nonce(r) // claimOf has seen it without an error
	part(nonce)
	part(r.HTTP.Host)
	part(r.Call.Base)
	part(r.HTTP.Header.Get("Authorization"))
	part(r.HTTP.Header.Get("X-Mcp-Api-Key"))
	for pair := range cookiePairs(r.HTTP) {
		if r.Site.Platform.LogsIn(pair) {
			part(pair)
		}
	}
	for _, name := range r.Site.Credentials.Headers {
		part(r.HTTP.Header.Get(name))
	}
	for _, name := range r.Site.Credentials.Cookies {
		if cookie, err := r.HTTP.Cookie(name); err == nil {
			part(name + "=" + cookie.Value)
		}
	}
	if claim == claimsKey {
		for _, name := range [...]string{"consumer_key", "consumer_secret"} {
			v, _ := r.Call.QueryVariable(name)
			part(v)
		}
	}
	if claim == claimsSession {
		part(r.HTTP.Header.Get("Cart-Token"))
	}
	return c.mac(b)
}

// mac is the keyed hash of b.
func (c *identityCache) mac(b []byte) string {
	h := c.macs.Get().(hash.Hash)
	defer c.macs.Put(h)
	h.Reset()
	h.Write(b)
	var sum [sha256.Size]byte
	return string(h.Sum(sum[:0]))
}

// digest is key in a form that may stand in the key of a Store.
func (c *identityCache) digest(r *Request, claim claim) string {
	return hex.EncodeToString([]byte(c.key(r, claim)))
}

// sessionOf names the login session of r, "" without one.
func (c *identityCache) sessionOf(r *http.Request, p *call.Platform) string {
	var b []byte
	for pair := range cookiePairs(r) {
		if p.LogsIn(pair) {
			b = append(append(b, pair...), ';')
		}
	}
	if b == nil {
		return ""
	}
	return c.mac(b)
}

func entryOf(r *Request, found identity) identityEntry {
	return identityEntry{found, r.Site.Identities.cache.sessionOf(r.HTTP, &r.Site.Platform)}
}

func (c *identityCache) get(key string) (identity, bool) {
	item := c.entries.Get(key)
	if item == nil {
		return identity{}, false
	}
	return item.Value().identity, true
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
