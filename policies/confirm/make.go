package confirm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Bounds of what waits for a person at one time.
const (
	PerCaller = 20
	PerSite   = 200
)

const (
	// makingTTL is how long one gateway may take to make a confirmation.
	makingTTL = 10 * time.Second
	// A call that comes meanwhile waits for it.
	waits   = 20
	waitFor = 50 * time.Millisecond
)

// errBusy means that another call like this one makes a confirmation, and has not ended.
var errBusy = errors.New("another gateway is making the confirmation of the same call")

// slot is one of the places of a site for what waits. A place that is free again keeps its
// turn, so that two callers can never have one at the same time.
type slot struct {
	Turn   int       `json:"turn"`
	ID     string    `json:"id,omitempty"` // "" if it is free
	Caller string    `json:"caller,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

func (l *Ledger) slotKey(i int) string { return l.key(kindSlot, strconv.Itoa(i)) }

// slots returns the slots of the site.
func (l *Ledger) slots(ctx context.Context) ([]slot, error) {
	keys := make([]string, PerSite)
	for i := range keys {
		keys[i] = l.slotKey(i)
	}
	values, err := l.store.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	all := make([]slot, PerSite)
	for i, key := range keys {
		text, ok := values[key]
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), &all[i]); err != nil {
			return nil, errors.Join(errLost, err)
		}
	}
	return all, nil
}

// room returns a *TooManyError if slots have more than the bounds allow, with more to come.
func room(slots []slot, caller string, more int) error {
	var site, own places
	for _, s := range slots {
		if s.ID == "" {
			continue
		}
		site.take(s.Until)
		if s.Caller == caller {
			own.take(s.Until)
		}
	}
	switch {
	case own.taken+more > PerCaller:
		return &TooManyError{own.until}
	case site.taken+more > PerSite:
		return &TooManyError{site.until}
	}
	return nil
}

// places are slots that are taken, the first of them until a time.
type places struct {
	taken int
	until time.Time
}

func (p *places) take(until time.Time) {
	if p.taken++; p.taken == 1 || until.Before(p.until) {
		p.until = until
	}
}

// make makes the confirmation of a call that comes after the one with the id before. It
// returns nil if somebody else has made it.
func (l *Ledger) make(ctx context.Context, call *Call, hash, before string, within time.Duration) (*Confirmation, error) {
	slots, err := l.slots(ctx)
	if err != nil {
		return nil, err
	}
	if err := room(slots, call.Caller, 1); err != nil {
		return nil, err
	}
	first, err := l.store.SetOnce(ctx, l.key(kindMaking, hash+":"+before), makingTTL)
	if err != nil {
		return nil, err
	}
	if !first {
		return nil, l.await(ctx, hash, before)
	}
	if other, err := l.last(ctx, hash); err != nil || other != nil && other.ID != before {
		return nil, err // it was made before this one had its turn
	}
	c := &Confirmation{
		ID: newID(), Caller: call.Caller, Ability: call.Runs, Door: call.Door, Arguments: call.Arguments, Beside: call.Beside,
		Expires: time.Now().Add(within).UTC().Truncate(time.Second), State: Pending, Call: hash, Within: within,
	}
	if err := l.occupy(ctx, c, slots); err != nil {
		return nil, err
	}
	if err := l.keep(ctx, c); err != nil {
		return nil, errors.Join(err, l.free(ctx, c))
	}
	return c, nil
}

// await waits for the confirmation that somebody else makes.
func (l *Ledger) await(ctx context.Context, hash, before string) error {
	for range waits {
		c, err := l.last(ctx, hash)
		if err != nil || c != nil && c.ID != before {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitFor):
		}
	}
	return errBusy
}

// occupy takes a free slot for c.
func (l *Ledger) occupy(ctx context.Context, c *Confirmation, slots []slot) error {
	for i, s := range slots {
		if s.ID != "" {
			continue
		}
		turn := s.Turn + 1
		first, err := l.store.SetOnce(ctx, l.key(kindTurn, fmt.Sprintf("%d:%d", i, turn)), c.Within)
		if err != nil {
			return err
		}
		if first {
			c.Slot, c.Turn = i, turn
			return l.setSlot(ctx, c, slot{turn, c.ID, c.Caller, c.Expires})
		}
	}
	return new(TooManyError) // others have just taken the last ones; the next call is told until when
}

func (l *Ledger) setSlot(ctx context.Context, c *Confirmation, s slot) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return l.store.Set(ctx, l.slotKey(c.Slot), string(text), c.Within)
}

// free gives the slot of c back.
func (l *Ledger) free(ctx context.Context, c *Confirmation) error {
	return l.setSlot(ctx, c, slot{Turn: c.Turn})
}

// keep writes c, and reads it again: a store may take what it does not keep. It also counts
// again, since others may have taken slots meanwhile. The last of them sees all.
func (l *Ledger) keep(ctx context.Context, c *Confirmation) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := l.store.Set(ctx, l.key(kindID, c.ID), string(text), c.Within); err != nil {
		return err
	}
	slots, err := l.slots(ctx)
	if err != nil {
		return err
	}
	if slots[c.Slot].ID != c.ID {
		return errLost
	}
	if err := room(slots, c.Caller, 0); err != nil {
		return errors.Join(err, l.store.Delete(ctx, l.key(kindID, c.ID)))
	}
	if err := l.store.Set(ctx, l.key(kindCall, c.Call), c.ID, c.Within); err != nil {
		return err
	}
	again, err := l.last(ctx, c.Call)
	if err == nil && (again == nil || again.ID != c.ID) {
		err = errLost
	}
	return err
}
