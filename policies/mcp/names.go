package mcp

import (
	"crypto/md5" //nolint:gosec // see Offers
	"encoding/hex"
	"regexp"
	"strings"
)

// Dashed returns the name under which servers offer an ability as a tool or prompt
// (docs/platform IV.3).
func Dashed(id string) string { return strings.ReplaceAll(id, "/", "-") }

// Offers tells whether servers offer an ability under a name: its dashed id, or what newer
// adapters make of one over 128 characters. They write runs of dashes as one, drop dashes
// around the name, and cut what is still too long: its beginning and a part of the MD5 of the
// id are left.
func Offers(id, name string) bool {
	dashed := Dashed(id)
	plain := strings.Trim(dashes.ReplaceAllString(dashed, "-"), "-")
	if dashed == name || plain == name {
		return true
	}
	begin, sum, cut := cutName(name)
	if !cut || len(dashed) <= maxName {
		return false
	}
	of := md5.Sum([]byte(id)) //nolint:gosec // the adapter's own choice
	return (strings.HasPrefix(plain, begin) || strings.HasPrefix(dashed, begin)) && strings.HasPrefix(hex.EncodeToString(of[:]), sum)
}

var dashes = regexp.MustCompile(`-+`)

// A cut name has its beginning, a dash and the digits of a sum.
const (
	sumDigits = 12
	beginOf   = maxName - 1 - sumDigits
)

// cutName takes a name apart that may have been cut.
func cutName(name string) (begin, sum string, cut bool) {
	if len(name) != maxName || name[beginOf] != '-' || !isSum(name[beginOf+1:]) {
		return "", "", false
	}
	return name[:beginOf], name[beginOf+1:], true
}

func isSum(digits string) bool {
	for i := range len(digits) {
		if c := digits[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// holdsSum tells whether a text holds what may be the end of a cut name.
func holdsSum(text string) bool {
	for {
		_, behind, found := strings.Cut(text, "-")
		if !found || len(behind) < sumDigits {
			return false
		}
		if isSum(behind[:sumDigits]) {
			return true
		}
		text = behind
	}
}

// IsCut tells whether the name of a tool may be what is left of a longer one, whose end nobody
// can tell. Blanks around it may be dropped (docs/platform IV.2).
func IsCut(name string) bool {
	_, _, cut := cutName(strings.Trim(name, " \t\n\r\x00\v"))
	return cut
}

// MayOffer tells whether servers may offer, under a name, an ability with an id over 128
// characters that fits a pattern, in which * stands for any part. Of a cut name nobody can
// tell how its id ended: it may have fitted any pattern with a wildcard that its beginning
// does not rule out.
func MayOffer(pattern, name string) bool {
	if !strings.Contains(pattern, "*") {
		return Offers(pattern, name)
	}
	if begin, _, cut := cutName(name); cut && shortens(Dashed(pattern), begin, true) {
		return true
	}
	return len(name) <= maxName && shortens(Dashed(pattern), name, false)
}

// shortens tells whether some text that fits a pattern becomes name once runs of dashes are
// one dash and dashes around it are gone; with cut, whether it becomes a text that begins so.
// It follows all places of the name at once.
func shortens(pattern, name string, cut bool) bool {
	var at [maxName + 1]bool // how much of the name may have been written
	at[0] = true
	n := len(name)
	for _, c := range []byte(pattern) {
		if cut && at[n] {
			return true
		}
		at = written(&at, name, c)
	}
	return at[n]
}

// written returns how much of name may have been written behind one more byte of the pattern.
func written(at *[maxName + 1]bool, name string, c byte) (next [maxName + 1]bool) {
	n, open := len(name), false
	for i, here := range at[:n+1] {
		if open = open || here && c == '*'; open {
			next[i] = true
			continue
		}
		if here && i < n && name[i] == c {
			next[i+1] = true
		}
		if here && c == '-' && (i == 0 || i == n || name[i-1] == '-') { // a dash that is dropped
			next[i] = true
		}
	}
	return next
}
