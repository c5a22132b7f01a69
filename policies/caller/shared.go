package caller

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
	// markTTL is longer than any answer with an older mark lives.
	markTTL = 24 * time.Hour
	// sharedLimit bounds one stored answer, in bytes.
	sharedLimit = 64 << 10
)

// sharedIdentities is what the gateways of one Store share (docs/project/design 7). Each stored
// answer carries the mark that was current when its question was asked. A drop changes
// the mark, so that no gateway believes an earlier answer, and sends a message, so that
// every gateway drops its own.
type sharedIdentities struct {
	ids      *Identities
	site     string // hash of Options.Site
	before   string // hash of Options.Before, or ""
	instance string // identifies this gateway, so that it ignores its own messages
	mark     string // key of the mark
	stop     func()
	blind    atomic.Int64   // UNIX nanoseconds; until then the Store is not believed
	sharing  sync.WaitGroup // answers being written to the Store
}

func newSharedIdentities(ids *Identities) *sharedIdentities {
	s := &sharedIdentities{ids: ids, site: hashOf(ids.opts.Site), instance: namesSites + rand.Text()}
	s.mark = markOf(s.site)
	if ids.opts.Before != "" {
		s.before = hashOf(ids.opts.Before)
	}
	s.stop = ids.opts.Store.Listen(s.hear)
	return s
}

// namesSites begins the instance of a gateway that knows the names of sites, in messages.
const namesSites = "2-"

func hashOf(site string) string {
	sum := sha256.Sum256([]byte(site))
	return hex.EncodeToString(sum[:8])
}

func markOf(site string) string { return "who-mark:" + site }

// hear handles a message of another gateway.
func (s *sharedIdentities) hear(message string) {
	if message == "" { // messages may have been missed
		s.adopt()
		s.ids.forget(dropping{whom: dropAll})
		return
	}
	d, ok, before := s.read(message)
	if ok {
		s.ids.forget(d)
	}
	if ok && before { // nobody else has changed this site's mark
		s.sharing.Go(func() { s.announce(context.Background(), s.ids.opts.Store, d) })
	}
}

// read parses a message. ok tells whether it is for this site and from another gateway,
// before whether that is a gateway of schema 1.
func (s *sharedIdentities) read(message string) (d dropping, ok, before bool) {
	site, rest, _ := strings.Cut(message, " ")
	from, what, _ := strings.Cut(rest, " ")
	before = s.before != "" && site == s.before && !strings.HasPrefix(from, namesSites)
	return parseDropping(what), before || site == s.site && from != s.instance, before
}

// adopt takes over the secret of the store once it is known. It does not wait.
func (s *sharedIdentities) adopt() {
	secret := s.ids.opts.Store.Secret()
	if secret == nil {
		return
	}
	if h := newHasher(secret, true); h.id != s.ids.cache.hasher.Load().id {
		s.ids.cache.adopt(h)
	}
}

// tell sends d to all gateways, those of schema 1 included.
func (s *sharedIdentities) tell(ctx context.Context, store store.Store, d dropping) {
	s.announce(ctx, store, d)
	if s.before != "" {
		_ = store.Announce(ctx, markOf(s.before), s.before+" "+s.instance+" "+d.String(), markTTL) // as announce failed, or worked
	}
}

// announce sends d to the gateways that know the site. If that fails, this gateway ignores stored answers
// for one TTL; the other gateways use theirs until they expire.
func (s *sharedIdentities) announce(ctx context.Context, store store.Store, d dropping) {
	if err := store.Announce(ctx, s.mark, s.site+" "+s.instance+" "+d.String(), markTTL); err != nil {
		s.blind.Store(time.Now().Add(s.ids.opts.TTL).UnixNano())
	}
}

// sharedAnswer is an answer as stored.
type sharedAnswer struct {
	Mark         string   `json:"mark"`
	Until        int64    `json:"until"` // UNIX milliseconds
	Kind         Kind     `json:"kind"`
	ID           uint64   `json:"id,omitempty"`
	Login        string   `json:"login,omitempty"` // of a gateway of before there is none
	Used         string   `json:"used,omitempty"`  // the uuid of an application password
	Roles        []string `json:"roles,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
}

// recalled is what the Store returned before a question is asked.
type recalled struct {
	identity
	mark   string
	usable bool // the Store answered, so that the new answer may be shared under mark
	hasher *hasher
	left   time.Duration // how much longer the answer counts
}

// recall looks for the caller in the Store, in one round trip, and keeps it in memory for
// the rest of its time.
func (ids *Identities) recall(ctx context.Context, i *inquiry) (known recalled, found bool) {
	s := ids.shared
	if s == nil || i.claim == ClaimOAuth1 || i.claim == ClaimAdministrator { // never shared
		return known, false
	}
	if known.hasher = ids.cache.hasher.Load(); !known.hasher.shared {
		s.ids.opts.Store.Secret() // makes the store connect
		return known, false
	}
	if time.Now().UnixNano() < s.blind.Load() {
		return known, false
	}
	epoch, stored := ids.cache.epoch(), s.key(i.key)
	values, err := i.site.Store.GetAll(ctx, s.mark, stored)
	if err != nil {
		return known, false
	}
	known.mark, known.usable = values[s.mark], true
	text, ok := values[stored]
	if !ok || !known.decode(text, i.site.Now()) || i.renews && known.left < ids.opts.TTL/4 {
		return known, false
	}
	entry := identityEntry{identity: known.identity, session: i.session}
	ids.cache.put(i.key, epoch, entry, lifetime{min(known.left, ids.opts.TTL), rejectedTTL})
	ids.cache.judged(i.key, epoch, entry)
	return known, true
}

func (s *sharedIdentities) key(key cacheKey) string {
	return "who:" + s.site + ":" + s.ids.opts.Server + ":" + hex.EncodeToString(key[:])
}

// decode reads an answer of another gateway. It accepts only callers that the platform
// has confirmed, and only under the current mark.
func (k *recalled) decode(text string, now time.Time) bool {
	var a sharedAnswer
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if len(text) > sharedLimit || d.Decode(&a) != nil || d.More() || a.Mark != k.mark {
		return false
	}
	if a.Kind == User && a.ID == 0 && !uuids.MatchString(a.Used) || a.Kind == KeyHolder && (a.ID != 0 || a.Login != "") || len(a.Login) > maxLogin || a.Kind != User && a.Kind != KeyHolder {
		return false
	}
	if k.left = time.UnixMilli(a.Until).Sub(now); k.left <= 0 {
		return false
	}
	k.caller = Caller{Kind: a.Kind, ID: a.ID, Login: a.Login, Password: a.Used, Roles: a.Roles}
	if len(a.Capabilities) > 0 {
		k.caller.Capabilities = make(map[string]bool, len(a.Capabilities))
		for _, name := range a.Capabilities {
			k.caller.Capabilities[name] = true
		}
	}
	return true
}

// share stores an answer for the other gateways, in the background. It does not share
// anonymous callers and refused credentials, since anybody can make any number of them, nor
// users of whom the answer does not tell all.
func (ids *Identities) share(ctx context.Context, i *inquiry, known recalled, who identity) {
	if !known.usable || who.answer != nil || who.caller.NoRoles || who.caller.NoCapabilities || who.caller.Kind != User && who.caller.Kind != KeyHolder ||
		known.hasher != ids.cache.hasher.Load() {
		return
	}
	text, err := json.Marshal(sharedAnswer{
		Mark: known.mark, Until: i.site.Now().Add(ids.opts.TTL).UnixMilli(),
		Kind: who.caller.Kind, ID: who.caller.ID, Login: who.caller.Login, Used: who.caller.Password, Roles: who.caller.Roles,
		Capabilities: slices.Sorted(maps.Keys(who.caller.Capabilities)),
	})
	if err != nil || len(text) > sharedLimit {
		return
	}
	ctx = context.WithoutCancel(ctx)
	ids.shared.sharing.Go(func() { _ = i.site.Store.Set(ctx, ids.shared.key(i.key), string(text), ids.opts.TTL) }) // a lost answer costs one more question
}
