package policies

import "fmt"

// Slot is where a policy keeps what it has found out about a request, a *T. A policy declares its slots as
// variables of its package, so that no other needs to know of them.
type Slot[T any] struct{ number int }

// Kept says of what a slot is.
type Kept uint8

// What slots can be of.
const (
	// OfRequest is for what counts for all calls that a request makes.
	OfRequest Kept = iota
	// OfCall is for what counts for one call: a part of a batch, and the reading without what overrides the
	// method, have their own.
	OfCall
	// OfAnyCall is for what counts for one call, or for the reading without the override where the call has none.
	OfAnyCall
)

// maxSlots bounds the slots of all policies. Each takes two words of every request.
const maxSlots = 8

// slotsKept says of each slot of what it is.
var slotsKept []Kept

// NewSlot returns a slot. It is called while the program starts.
func NewSlot[T any](kept Kept) Slot[T] {
	if len(slotsKept) == maxSlots {
		panic(fmt.Sprintf("policies need more than %d slots", maxSlots))
	}
	slotsKept = append(slotsKept, kept)
	return Slot[T]{len(slotsKept) - 1}
}

// Get returns what the slot keeps of r, or nil.
func (s Slot[T]) Get(r *Request) *T {
	v, _ := r.slots[s.number].(*T)
	return v
}

// Set keeps v for r; nil empties the slot.
func (s Slot[T]) Set(r *Request, v *T) {
	if v == nil {
		r.slots[s.number] = nil
		return
	}
	r.slots[s.number] = v
}

// slots is what the slots keep of one request.
type slots [maxSlots]any

// ofRequest returns s without what is of one call.
func (s slots) ofRequest() slots {
	for i, kept := range slotsKept {
		if kept != OfRequest {
			s[i] = nil
		}
	}
	return s
}

// adopt takes over what another reading of the call has found out.
func (s *slots) adopt(other *slots) {
	for i, kept := range slotsKept {
		if kept == OfAnyCall && s[i] == nil {
			s[i] = other[i]
		}
	}
}

// settle lets go of what only judging needs.
func (s *slots) settle() {
	for i := range slotsKept {
		if v, ok := s[i].(interface{ Settle() }); ok {
			v.Settle()
		}
	}
}
