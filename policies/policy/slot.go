package policy

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

// maxSlots bounds the slots of all policies. Each takes two words of a request that has any.
const maxSlots = 9

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
	if r.slots == nil {
		return nil
	}
	v, _ := r.slots[s.number].(*T)
	return v
}

// Set keeps v for r; nil empties the slot.
func (s Slot[T]) Set(r *Request, v *T) {
	if r.slots == nil {
		r.slots = new(slots)
	}
	r.slots[s.number] = nil
	if v != nil {
		r.slots[s.number] = v
	}
}

// slots is what the slots keep of one request. Nearly all requests have none.
type slots [maxSlots]any

// ofRequest returns a copy of s without what is of one call.
func (s *slots) ofRequest() *slots {
	if s == nil {
		return nil
	}
	kept := *s
	for i, of := range slotsKept {
		if of != OfRequest {
			kept[i] = nil
		}
	}
	if kept == (slots{}) {
		return nil
	}
	return &kept
}

// with returns s with what another reading of the call has found out.
func (s *slots) with(other *slots) *slots {
	if other == nil {
		return s
	}
	for i, kept := range slotsKept {
		if kept == OfAnyCall && other[i] != nil && (s == nil || s[i] == nil) {
			if s == nil {
				s = new(slots)
			}
			s[i] = other[i]
		}
	}
	return s
}

// settle lets go of what only judging needs.
func (s *slots) settle() {
	if s == nil {
		return
	}
	for i := range slotsKept {
		if v, ok := s[i].(interface{ Settle() }); ok {
			v.Settle()
		}
	}
}

// SiteSlot is where a package keeps what it knows of a site, a *T. It declares its slots as variables, as those of
// requests.
type SiteSlot[T any] struct{ number int }

// maxSiteSlots bounds the slots of sites. Each takes two words of a site.
const maxSiteSlots = 2

var siteSlots int

// NewSiteSlot returns a slot. It is called while the program starts.
func NewSiteSlot[T any]() SiteSlot[T] {
	if siteSlots == maxSiteSlots {
		panic(fmt.Sprintf("there are more than %d slots of sites", maxSiteSlots))
	}
	siteSlots++
	return SiteSlot[T]{siteSlots - 1}
}

// Of returns what the slot keeps of a site, or nil.
func (s SiteSlot[T]) Of(site *Site) *T {
	v, _ := site.kept[s.number].(*T)
	return v
}

// Keep keeps v for a site. It is called before the first request.
func (s SiteSlot[T]) Keep(site *Site, v *T) { site.kept[s.number] = v }
