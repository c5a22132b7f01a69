package between

import (
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// Caches cut parameters of advertisers out of an address, by search and replace, so that one page
// is kept once (docs/platform I.13, B8). The expressions in common use end a value at the first
// byte that they do not expect. What is left of it joins what stands before:
// "?rest_route&utm_source=x=/wp/v2/users" becomes "?rest_route=/wp/v2/users".

// CutNames are names of the parameters that they cut, those of the published examples. One that ends
// with "_" goes on with small letters and "_".
var CutNames = [...]string{
	"_branch_match_id", "_bta_", "_ga", "_gl", "_ke", "_kx", "campid", "cof", "customid", "cx", "dclid", "dm_i", "ef_id", "epik", "fbclid",
	"gad_source", "gbraid", "gclid", "gclsrc", "gdffi", "gdfms", "gdftrk", "hsa_", "ie", "igshid", "irclickid", "matomo_", "mc_", "mkcid", "mkevt", "mkrid",
	"mkt_tok", "mkwid", "msclkid", "mtm_", "nb_klid", "ndclid", "origin", "pcrid", "piwik_", "pk_", "redirect_log_mongo_id", "redirect_mongo_id", "rtid",
	"s_kwcid", "sb_referer_host", "sccid", "si", "siteurl", "sms_", "srsltid", "toolid", "trk_", "ttclid", "twclid", "utm_", "vmcid", "wbraid", "yclid", "zanpid",
}

// cutsByStart are the names by their first byte, and what their second bytes may be. cutsByEnd are the
// names by their last byte.
var cutsByStart, cutsByEnd = func() (starts [256]struct {
	names   []string
	seconds ByteSet
}, ends [256][]string,
) {
	for _, name := range CutNames {
		start, last := &starts[name[0]], name[len(name)-1]
		start.names, start.seconds[name[1]] = append(start.names, name), true
		ends[last] = append(ends[last], name)
	}
	return starts, ends
}()

// bracketed are what "A-z" has beside letters.
const bracketed = "[\\]^_`"

// valueSets are what the expressions take for a value. The first is in all others, and the last is all of a pair.
var valueSets = [...]*ByteSet{
	AlnumAnd("_-"), AlnumAnd(bracketed + "-"), AlnumAnd(bracketed + "-.%"), AlnumAnd(bracketed + "-.%+()"), AlnumAnd(bracketed + "-.%+(){}*"), ofPairs(),
}

func ofPairs() *ByteSet {
	s := new(ByteSet)
	for c := 1; c < len(s); c++ {
		s[c] = c != '&'
	}
	return s
}

// Trimmed is what caches leave of the end of an address, some of every one.
func Trimmed(text string) string { return strings.TrimRight(text, "?|&") }

// cutName returns where the longest name that a text ends with and that is cut begins, else -1.
func cutName(text string) int {
	if text == "" || text[len(text)-1] != '_' && (text[len(text)-1] < 'a' || text[len(text)-1] > 'z') {
		return -1
	}
	at := len(text)
	for _, name := range cutsByEnd[text[len(text)-1]] {
		if strings.HasSuffix(text, name) && name[len(name)-1] != '_' {
			at = min(at, len(text)-len(name))
		}
	}
	run := text[len(strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz_")):]
	for _, start := range cutsByEnd['_'] {
		if i := strings.Index(run, start); i >= 0 && i+len(start) < len(run) {
			at = min(at, len(text)-len(run)+i)
		}
	}
	if at == len(text) {
		return -1
	}
	return at
}

// cuttable tells whether a text has a name that is cut, as it is, in small letters or decoded.
func cuttable(text string) bool {
	for {
		name, rest, found := strings.Cut(text, "=")
		if !found {
			return false
		}
		name = name[strings.LastIndexByte(name, '&')+1:]
		if comesToCut(name) {
			return true
		}
		text = rest
	}
}

// comesToCut tells whether a name ends with one that is cut, in small letters, after any number of
// decodings: "%6CX" ends with "cx" before the first. It may say so of a name with escapes in escapes.
func comesToCut(name string) bool {
	name = phpvars.Lower(name)
	for range MaxDecoded {
		if cutName(name) >= 0 {
			return true
		}
		decoded := phpvars.Lower(phpvars.Unreserved(name))
		if decoded == name {
			return false
		}
		name = decoded
	}
	return true
}

// cutWhole returns the pairs that are cut out of a query. whole is false where a part of one may
// stay, in any order, in small letters or decoded, whatever names a cache cuts.
func cutWhole(query string) (pairs []string, whole bool) {
	for pair := range strings.SplitSeq(query, "&") {
		if !cuttable(pair) {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || phpvars.Usual(name) != name || cutName(name) != 0 || cutName(name[1:]) >= 0 || !valueSets[0].Holds(value) {
			return nil, false
		}
		pairs = append(pairs, pair)
	}
	return pairs, true
}
