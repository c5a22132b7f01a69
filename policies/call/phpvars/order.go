package phpvars

import "strings"

// OrderMatters tells whether some order of the pairs of a raw query gives the variable name
// another value, as sets, or another way to write their keys: caches and proxies sort queries and
// write them anew. It may say yes where PHP says no, but never no where PHP says yes.
func OrderMatters(raw, name string) bool {
	all := map[string]bool{} // the keys of each pair, as they stand behind the name
	for pair := range strings.SplitSeq(raw, "&") {
		if fold(pair, name) == other {
			continue
		}
		sent, _, _ := strings.Cut(pair, "=")
		keys, plain := bracketsOf(Decode(sent))
		if !plain || all[keys] {
			return true
		}
		all[keys] = true
	}
	for keys := range all {
		for keys != "" { // a text and an array cannot both be the value of one key
			if keys = keys[:strings.LastIndexByte(keys, '[')]; all[keys] {
				return true
			}
		}
	}
	return false
}

// bracketsOf returns the keys of a decoded name, "[0][id]" or "". plain is false where other
// text than keys stands there, a key is the next free one, something on the way may make another
// key of one (see Hidden), or the limit of brackets is near.
func bracketsOf(name string) (keys string, plain bool) {
	at := strings.IndexByte(name, '[')
	if at < 0 || strings.IndexByte(name, 0) >= 0 { // the name ends at a NUL
		return "", at < 0
	}
	keys = name[at:]
	for rest := keys; rest != ""; {
		key, behind, closed := strings.Cut(rest[1:], "]")
		if !closed || strings.Trim(key, " \t\n\v\f\r") == "" || strings.IndexByte(key, '[') >= 0 || behind != "" && behind[0] != '[' {
			return "", false
		}
		rest = behind
	}
	return keys, strings.Count(keys, "[") < MaxDepth && Lower(Decode(keys)) == keys
}
