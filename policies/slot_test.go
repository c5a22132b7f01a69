package policies

import (
	"testing"

	"github.com/restwarden/restwarden/policies/call"
)

// TestSlot: a part of a batch and another reading of a call share what is of the request alone, and
// keep nothing for the request but what counts for either reading. A request without any costs nothing.
func TestSlot(t *testing.T) {
	r := &Request{Call: new(call.Call)}
	if n := testing.AllocsPerRun(10, func() { _, _ = spent.Get(r), r.slots.ofRequest() }); n > 0 || messageSlot.Get(r) != nil {
		t.Errorf("%v allocations", n)
	}
	signature, message, left := new(Signature), new(Message), new(quota)
	spent.Set(r, signature)
	messageSlot.Set(r, message)
	leastLeft.Set(r, left)
	for name, other := range map[string]*Request{"a part": r.Part(r.Call), "a reading": r.without(r.Call)} {
		if spent.Get(other) != signature || messageSlot.Get(other) != nil || leastLeft.Get(other) != nil {
			t.Errorf("%s: %+v", name, other.slots)
		}
		messageSlot.Set(other, new(Message))
		spent.Set(other, nil)
		if messageSlot.Get(r) != message || spent.Get(r) != signature {
			t.Errorf("%s changes the request", name)
		}
	}
	alone := &Request{Call: r.Call}
	alone.slots = alone.slots.with(r.slots)
	if leastLeft.Get(alone) != left || messageSlot.Get(alone) != nil || spent.Get(alone) != nil {
		t.Errorf("%+v", alone.slots)
	}
}
