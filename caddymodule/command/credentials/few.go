package credentials

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// few is a set of up to limit things, those with the smallest numbers, so that the order in which they come makes no
// difference.
type few[K comparable, V any] struct {
	limit int
	of    map[K]*ranked[V]
	last  uint64 // the largest number that may be in the set, once things have been dropped
	more  bool   // things have been dropped
}

// ranked is a thing with its number.
type ranked[V any] struct {
	number uint64
	about  V
}

func newFew[K comparable, V any](limit int) *few[K, V] {
	return &few[K, V]{limit: limit, of: map[K]*ranked[V]{}}
}

// add returns what is known of a thing, and adds it. It is nil for one that is dropped.
func (f *few[K, V]) add(thing K, number uint64) *V {
	if known := f.of[thing]; known != nil {
		return &known.about
	}
	if f.more && number > f.last {
		return nil
	}
	added := &ranked[V]{number: number}
	f.of[thing] = added
	if len(f.of) > 2*f.limit {
		f.drop()
		if number > f.last {
			return nil
		}
	}
	return &added.about
}

// get returns what is known of a thing, nil for one that is not in the set.
func (f *few[K, V]) get(thing K) *V {
	if known := f.of[thing]; known != nil {
		return &known.about
	}
	return nil
}

// drop keeps the things with the smallest numbers.
func (f *few[K, V]) drop() {
	if len(f.of) <= f.limit {
		return
	}
	numbers := make([]uint64, 0, len(f.of))
	for _, known := range f.of {
		numbers = append(numbers, known.number)
	}
	slices.Sort(numbers)
	f.last, f.more = numbers[f.limit-1], true
	for thing, known := range f.of {
		if known.number > f.last {
			delete(f.of, thing)
		}
	}
}

// numberOf returns a number of texts. Nobody can choose texts with equal or small numbers.
func numberOf(texts ...string) uint64 {
	h := sha256.New()
	for _, text := range texts {
		_, _ = h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) // a hash takes all
		_, _ = h.Write([]byte(text))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}
