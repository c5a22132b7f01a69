package policy

import (
	"testing"

	"github.com/restwarden/restwarden/policies/call"
)

var (
	slotOfRequest = NewSlot[int](OfRequest)
	slotOfCall    = NewSlot[int](OfCall)
	slotOfAnyCall = NewSlot[int](OfAnyCall)
)

// TestSlot: a part of a batch and another reading of a call share what is of the request alone, and
// keep nothing for the request but what counts for either reading. A request without any costs nothing.
func TestSlot(t *testing.T) {
	r := &Request{Call: new(call.Call)}
	if n := testing.AllocsPerRun(10, func() { _, _ = slotOfRequest.Get(r), r.slots.ofRequest() }); n > 0 || slotOfCall.Get(r) != nil {
		t.Errorf("%v allocations", n)
	}
	ofRequest, ofCall, ofAny := new(1), new(2), new(3)
	slotOfRequest.Set(r, ofRequest)
	slotOfCall.Set(r, ofCall)
	slotOfAnyCall.Set(r, ofAny)
	for name, other := range map[string]*Request{"a part": r.Part(r.Call), "a reading": r.without(r.Call)} {
		if slotOfRequest.Get(other) != ofRequest || slotOfCall.Get(other) != nil || slotOfAnyCall.Get(other) != nil {
			t.Errorf("%s: %+v", name, other.slots)
		}
		slotOfCall.Set(other, new(4))
		slotOfRequest.Set(other, nil)
		if slotOfCall.Get(r) != ofCall || slotOfRequest.Get(r) != ofRequest {
			t.Errorf("%s changes the request", name)
		}
	}
	alone := &Request{Call: r.Call}
	alone.slots = alone.slots.with(r.slots)
	if slotOfAnyCall.Get(alone) != ofAny || slotOfCall.Get(alone) != nil || slotOfRequest.Get(alone) != nil {
		t.Errorf("%+v", alone.slots)
	}
}
