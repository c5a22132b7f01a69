package policies

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

const (
	// markTTL outlives every answer that may stand under an older mark.
	markTTL = 24 * time.Hour
	// sharedLimit bounds one stored answer, in bytes.
	sharedLimit = 64 << 10
)

// sharedIdentities is what the gateways of one Store know together (docs/design 7):
// answers about callers, each under the mark that stood when its question was
// asked. A drop changes the mark, so that no answer from before it is believed,
// and sends a message, so that no gateway's memory keeps one.
type sharedIdentities struct {
	ids      *Identities
	site     string // hash of IdentityOptions.Site
	instance string // this gateway, so that it knows its own messages
	mark     string // key of the mark
	stop     func()
	blind    atomic.Int64   // UNIX nanoseconds until which the Store is not believed
	sharing  sync.WaitGroup // answers on their way into the Store
}

func newSharedIdentities(ids *Identities) *sharedIdentities {
	sum := sha256.Sum256([]byte(ids.opts.Site))
	site := hex.EncodeToString(sum[:8])
	s := &sharedIdentities{ids: ids, site: site, instance: rand.Text(), mark: "who-mark:" + site}
	s.stop = ids.opts.Store.Listen(s.hear)
	return s
}

// hear takes a message of another gateway.
func (s *sharedIdentities) hear(message string) {
	if message == "" { // some may have been missed
		s.adopt()
		s.ids.forget(dropping{whom: dropAll})
		return
	}
	if d, ok := s.read(message); ok {
		s.ids.forget(d)
	}
}

// read tells whether a message is about this site and from somebody else.
func (s *sharedIdentities) read(message string) (dropping, bool) {
	site, rest, _ := strings.Cut(message, " ")
	from, what, _ := strings.Cut(rest, " ")
	return parseDropping(what), site == s.site && from != s.instance
}

// adopt takes the secret of the store, once it is known. It does not wait.
func (s *sharedIdentities) adopt() {
	secret := s.ids.opts.Store.Secret()
	if secret == nil {
		return
	}
	if h := newHasher(secret, true); h.id != s.ids.cache.hasher.Load().id {
		s.ids.cache.adopt(h)
	}
}

// announce tells all gateways. Where that fails this one believes nothing that
// the store has from before; the others do until the answers end.
func (s *sharedIdentities) announce(ctx context.Context, store store.Store, d dropping) {
	if err := store.Announce(ctx, s.mark, s.site+" "+s.instance+" "+d.String(), markTTL); err != nil {
		s.blind.Store(time.Now().Add(s.ids.opts.TTL).UnixNano())
	}
}

// sharedAnswer is what stands in the Store.
type sharedAnswer struct {
	Mark         string     `json:"mark"`
	Until        int64      `json:"until"` // UNIX milliseconds
	Kind         CallerKind `json:"kind"`
	ID           uint64     `json:"id,omitempty"`
	Roles        []string   `json:"roles,omitempty"`
	Capabilities []string   `json:"capabilities,omitempty"`
}

// recalled is what the Store said before a question is asked.
type recalled struct {
	identity
	mark   string
	usable bool // the Store answered: what is learnt may be shared under mark
	hasher *hasher
	left   time.Duration // how much longer the answer counts
}

// recall looks for the caller in the Store, in one round trip, and remembers it
// here as long as it counts there.
func (ids *Identities) recall(ctx context.Context, r *Request, key string) (known recalled, found bool) {
	s := ids.shared
	if s == nil {
		return known, false
	}
	if known.hasher = ids.cache.hasher.Load(); !known.hasher.shared {
		s.ids.opts.Store.Secret() // wakes the store up
		return known, false
	}
	if time.Now().UnixNano() < s.blind.Load() {
		return known, false
	}
	epoch, entry := ids.cache.epoch(), s.key(key)
	values, err := r.Site.Store.GetAll(ctx, s.mark, entry)
	if err != nil {
		return known, false
	}
	known.mark, known.usable = values[s.mark], true
	text, ok := values[entry]
	if !ok || !known.decode(text, r.Site.Now()) {
		return known, false
	}
	ids.cache.put(key, epoch, entryOf(r, known.identity), min(known.left, ids.opts.TTL))
	return known, true
}

func (s *sharedIdentities) key(key string) string {
	return "who:" + s.site + ":" + s.ids.opts.Server + ":" + hex.EncodeToString([]byte(key))
}

// decode reads an answer of another gateway. Only callers whom the platform
// named count, and only under the mark that stands.
func (k *recalled) decode(text string, now time.Time) bool {
	var a sharedAnswer
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if len(text) > sharedLimit || d.Decode(&a) != nil || d.More() || a.Mark != k.mark {
		return false
	}
	if a.Kind == User && a.ID == 0 || a.Kind == KeyHolder && a.ID != 0 || a.Kind != User && a.Kind != KeyHolder {
		return false
	}
	if k.left = time.UnixMilli(a.Until).Sub(now); k.left <= 0 {
		return false
	}
	k.caller = Caller{Kind: a.Kind, ID: a.ID, Roles: a.Roles}
	if len(a.Capabilities) > 0 {
		k.caller.Capabilities = make(map[string]bool, len(a.Capabilities))
		for _, name := range a.Capabilities {
			k.caller.Capabilities[name] = true
		}
	}
	return true
}

// share gives an answer to the other gateways, in the background. Anonymous ones
// and refused credentials are not shared: anybody can make any number of them.
func (ids *Identities) share(ctx context.Context, r *Request, key string, known recalled, who identity) {
	if !known.usable || who.answer != nil || who.caller.Kind != User && who.caller.Kind != KeyHolder ||
		known.hasher != ids.cache.hasher.Load() {
		return
	}
	text, err := json.Marshal(sharedAnswer{
		Mark: known.mark, Until: r.Site.Now().Add(ids.opts.TTL).UnixMilli(),
		Kind: who.caller.Kind, ID: who.caller.ID, Roles: who.caller.Roles,
		Capabilities: slices.Sorted(maps.Keys(who.caller.Capabilities)),
	})
	if err != nil || len(text) > sharedLimit {
		return
	}
	store, ctx := r.Site.Store, context.WithoutCancel(ctx)
	ids.shared.sharing.Go(func() { _ = store.Set(ctx, ids.shared.key(key), string(text), ids.opts.TTL) }) // losing it costs one more question
}
