package confirm

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// State is what has become of a confirmation.
type State string

// The states. One that has expired is not there any more.
const (
	Pending  State = "pending"
	Given    State = "given"
	Rejected State = "rejected"
	Used     State = "used"
)

// Confirmation is a call that waits for a person, or for which one has decided.
type Confirmation struct {
	ID        string    `json:"id"` // no secret: it decides nothing
	Caller    string    `json:"caller"`
	Ability   string    `json:"ability"` // or the name of a tool that no list has
	Door      string    `json:"door"`
	Arguments string    `json:"arguments,omitempty"`
	Beside    string    `json:"beside,omitempty"`
	Expires   time.Time `json:"expires"`
	State     State     `json:"-"`

	// For the ledger alone.
	Call   string        `json:"call"` // hash
	Within time.Duration `json:"within"`
	Slot   int           `json:"slot"`
	Turn   int           `json:"turn"` // of the slot
	Back   int           `json:"-"`    // how often it was given back
}

// Errors of a Ledger. Any other means that the store has failed: the result is unknown.
var (
	ErrUnknown = errors.New("there is no such confirmation, or its time is over")
	ErrDecided = errors.New("somebody has already decided on the confirmation")
	// errLost means that the store has not kept what it was given.
	errLost = errors.New("the store has lost a confirmation")
)

// TooManyError means that more calls of the caller, or of the site, wait than may.
type TooManyError struct {
	Until time.Time // when the first of them ends
}

func (*TooManyError) Error() string { return "too many calls wait for a person" }

// Ledger has the confirmations of one site.
type Ledger struct {
	store store.Store
	site  string
}

// NewLedger returns the ledger of a site, which every gateway of the store calls by the same
// name.
func NewLedger(s store.Store, site string) *Ledger { return &Ledger{s, site} }

func (l *Ledger) key(kind, name string) string { return "confirm:" + kind + ":" + l.site + ":" + name }

// The kinds of keys.
const (
	kindCall     = "call"     // hash of a call -> the id of its last confirmation
	kindID       = "id"       // id -> the confirmation
	kindDecision = "decision" // id -> its State, if it is not Pending
	kindLink     = "link"     // hash of a token -> id
	kindSlot     = "slot"     // number -> slot

	// Set once.
	kindMaking  = "making"  // hash of a call and the id before: somebody makes the next one
	kindTurn    = "turn"    // number and turn of a slot: somebody has it
	kindDecided = "decided" // id: somebody has decided
	kindUsed    = "used"    // id, and how often it was given back: a call has passed
)

// Ask returns the confirmation of a call, and uses it up if it was given: the state is then
// Used, and the call passes, once. Without any, Ask makes one that lasts for within; made
// tells so. A caller who repeats a call meanwhile gets the same one. Of two calls at once, on
// any gateways, one makes it and one uses it.
func (l *Ledger) Ask(ctx context.Context, call *Call, within time.Duration) (c *Confirmation, made bool, err error) {
	hash := call.hash()
	for range 3 { // others may use one up meanwhile
		c, err := l.last(ctx, hash)
		if err != nil {
			return nil, false, err
		}
		if c != nil && c.State == Given {
			first, err := l.store.SetOnce(ctx, l.key(kindUsed, c.use()), c.Within)
			if err != nil {
				return nil, false, err
			}
			if first {
				return l.used(ctx, c), false, nil
			}
			c.State = Used
		}
		if c != nil && c.State != Used {
			return c, false, nil
		}
		before := ""
		if c != nil {
			before = c.ID
		}
		if c, err = l.make(ctx, call, hash, before, within); err != nil || c != nil {
			return c, err == nil, err
		}
	}
	return nil, false, errBusy
}

// use names the next use of c.
func (c *Confirmation) use() string {
	if c.Back == 0 {
		return c.ID
	}
	return c.ID + ":" + strconv.Itoa(c.Back)
}

// used notes that a confirmation is used up. The mark of SetOnce alone decides that; the
// note is for lists, and an error leaves them as they are until the time is over.
func (l *Ledger) used(ctx context.Context, c *Confirmation) *Confirmation {
	_ = l.store.Set(ctx, l.key(kindDecision, c.ID), string(Used), c.Within)
	c.State = Used
	return c
}

// Ran ends a confirmation that Ask has used up: its place is free for another call. An error
// leaves it taken until the time is over.
func (l *Ledger) Ran(ctx context.Context, c *Confirmation) error { return l.free(ctx, c) }

// GiveBack undoes the use of a confirmation for a call that never ran: the next one that is
// the same passes, within the same time. Only who has used it may give it back, once: the
// marks of earlier uses stay. An error leaves it used up.
func (l *Ledger) GiveBack(ctx context.Context, c *Confirmation) error {
	left := time.Until(c.Expires)
	last, err := l.last(ctx, c.Call)
	if err != nil {
		return err
	}
	if left <= 0 || last == nil || last.ID != c.ID { // the same call already waits for another one
		return l.free(ctx, c)
	}
	return l.store.Set(ctx, l.key(kindDecision, c.ID), string(Given)+":"+strconv.Itoa(c.Back+1), left)
}

// last returns the last confirmation of a call, or nil.
func (l *Ledger) last(ctx context.Context, hash string) (*Confirmation, error) {
	key := l.key(kindCall, hash)
	values, err := l.store.GetAll(ctx, key)
	if err != nil || values[key] == "" {
		return nil, err
	}
	c, err := l.Get(ctx, values[key])
	switch {
	case errors.Is(err, ErrUnknown):
		return nil, nil
	case err != nil:
		return nil, err
	case c.Call != hash:
		return nil, errLost
	}
	return c, nil
}

// Get returns the confirmation with an id. The error is ErrUnknown if there is none.
func (l *Ledger) Get(ctx context.Context, id string) (*Confirmation, error) {
	all, err := l.get(ctx, id)
	if err == nil && len(all) == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// get returns those of ids that there are.
func (l *Ledger) get(ctx context.Context, ids ...string) (all []*Confirmation, err error) {
	keys := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, l.key(kindID, id), l.key(kindDecision, id))
	}
	values, err := l.store.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		text, ok := values[l.key(kindID, id)]
		if !ok {
			continue
		}
		c := &Confirmation{State: Pending}
		if err := json.Unmarshal([]byte(text), c); err != nil || c.ID != id {
			return nil, errors.Join(errLost, err)
		}
		if state, decided := values[l.key(kindDecision, id)]; decided {
			state, back, _ := strings.Cut(state, ":")
			c.State = State(state)
			if c.Back, err = atoi(back); err != nil {
				return nil, errors.Join(errLost, err)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// List returns the confirmations that are pending, or given and not yet used, those first
// that end first.
func (l *Ledger) List(ctx context.Context) ([]*Confirmation, error) {
	slots, err := l.slots(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range slots {
		if s.ID != "" {
			ids = append(ids, s.ID)
		}
	}
	if ids == nil {
		return nil, nil
	}
	all, err := l.get(ctx, ids...)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c *Confirmation) bool { return c.State != Pending && c.State != Given })
	slices.SortFunc(all, func(a, b *Confirmation) int { return a.Expires.Compare(b.Expires) })
	return all, nil
}

// decideAttempts is how often a decision is written that the store does not show.
const decideAttempts = 3

// Decide gives or rejects a confirmation. Only the first decision counts; the error of any
// other is ErrDecided. What is rejected keeps its place until its time is over: a caller who
// is told no cannot go on asking.
func (l *Ledger) Decide(ctx context.Context, id string, give bool) (*Confirmation, error) {
	c, err := l.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.State != Pending {
		return nil, ErrDecided
	}
	first, err := l.store.SetOnce(ctx, l.key(kindDecided, id), c.Within)
	if err != nil {
		return nil, err
	}
	if !first {
		return nil, ErrDecided
	}
	c.State = Rejected
	if give {
		c.State = Given
	}
	key := l.key(kindDecision, id)
	for range decideAttempts { // no person could decide again
		err = l.store.Set(ctx, key, string(c.State), c.Within)
		values, readErr := l.store.GetAll(ctx, key)
		if err = errors.Join(err, readErr); err == nil && values[key] != string(c.State) && values[key] != string(Used) && !strings.HasPrefix(values[key], string(Given)+":") {
			err = errLost
		}
		if err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the decision could not be kept, and counts nowhere: %w", err)
	}
	return c, nil
}

// atoi reads a number that may be missing.
func atoi(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	return strconv.Atoi(text)
}

// idLen is the length of an id: 50 random bits, enough to tell the confirmations of a site
// apart.
const idLen = 10

func newID() string { return rand.Text()[:idLen] }
