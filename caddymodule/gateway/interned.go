package gateway

import (
	"maps"
	"sync"
	"sync/atomic"
)

// interned are texts that were converted to interfaces once. Of texts beyond maxInterned it keeps none.
type interned struct {
	known atomic.Pointer[map[string]any]
	mu    sync.Mutex // held while known is replaced
}

// maxInterned is more than the routes that one gateway is asked for again and again.
const maxInterned = 256

// of returns text as an interface.
func (i *interned) of(text string) any {
	known := i.known.Load()
	if known != nil {
		if value, ok := (*known)[text]; ok {
			return value
		}
	}
	return i.add(text)
}

func (i *interned) add(text string) any {
	i.mu.Lock()
	defer i.mu.Unlock()
	known := map[string]any{}
	if now := i.known.Load(); now != nil {
		if len(*now) >= maxInterned {
			return text
		}
		known = maps.Clone(*now)
	}
	known[text] = text
	i.known.Store(&known)
	return known[text]
}
