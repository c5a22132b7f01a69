// Package drift compares the routes that a site's REST root lists with those that it listed
// before. It packs them into a value of a store, for gateways that come later.
package drift

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
)

// Bounds of a value. A usual site has some 800 names of 40 bytes, which pack to 6 KiB.
const (
	maxValue = 256 << 10
	maxNames = 10_000
	maxText  = 2 << 20 // bytes of all names
)

// Compare returns the names that only after has, and those that only before has. Each list
// is sorted and has each name once, as those of an index.
func Compare(before, after []string) (added, removed []string) {
	for len(before) > 0 && len(after) > 0 {
		switch order := strings.Compare(before[0], after[0]); {
		case order < 0:
			removed, before = append(removed, before[0]), before[1:]
		case order > 0:
			added, after = append(added, after[0]), after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
	return append(added, after...), append(removed, before...)
}

// Pack returns the value of an index: its digest, then its names, compressed. ok is false
// where the value would be too large to be kept.
func Pack(x *index.Index) (value string, ok bool) {
	digest := x.Digest()
	return pack(x.Names(), digest)
}

func pack(names []string, digest [sha256.Size]byte) (value string, ok bool) {
	text := strings.Join(names, "\n")
	if len(names) == 0 || len(names) > maxNames || len(text) > maxText {
		return "", false
	}
	b := bytes.NewBuffer(digest[:])
	w, _ := flate.NewWriter(b, flate.BestSpeed) // the level is one of flate's
	_, err := io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil || b.Len() > maxValue {
		return "", false
	}
	return b.String(), true
}

// Same tells whether a value says that it is that of x, without unpacking it.
func Same(value string, x *index.Index) bool {
	digest := x.Digest()
	return strings.HasPrefix(value, string(digest[:]))
}

// errGarbage is returned for a value that Pack cannot have made.
var errGarbage = errors.New("the value is not a list of routes")

// Unpack returns the names in a value. It accepts only what Pack can have made.
func Unpack(value string) (names []string, err error) {
	if len(value) <= sha256.Size || len(value) > maxValue {
		return nil, errGarbage
	}
	packed := strings.NewReader(value[sha256.Size:])
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(packed), maxText+1))
	if err != nil || len(text) > maxText || packed.Len() > 0 {
		return nil, errGarbage
	}
	names = strings.Split(string(text), "\n")
	for i, name := range names {
		if !index.IsName(name) || i > 0 && name <= names[i-1] {
			return nil, errGarbage
		}
	}
	if digest := index.DigestOf(names); len(names) > maxNames || value[:sha256.Size] != string(digest[:]) {
		return nil, errGarbage
	}
	return masked(names), nil
}

// masked returns the names as an index has them now: a value may come from a release that
// did not mask them.
func masked(names []string) []string {
	for i := range names {
		names[i] = routes.Masked(names[i])
	}
	slices.Sort(names)
	return slices.Clip(slices.Compact(names))
}
