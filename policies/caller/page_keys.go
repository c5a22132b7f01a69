package caller

import (
	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// KeysOfPage returns the shop keys of a request that is no REST call: in Authorization and in the query, where the
// shop's older interface takes them, and those of signatures in a form, which count on any address that names the shop
// (docs/platform/shop-callers.md, III.8). It is Presented for these. Of two lines of Authorization, which servers join,
// nothing is certain, nor of a key that stands in the path, which some servers put into the query.
func (w *Whole) KeysOfPage() (keys []Credential) {
	all, _ := basicNames(w, nil) // never an error
	for _, c := range all {
		if c.Kind == CredentialKey {
			keys = append(keys, c)
		}
	}
	inPath := between.PairsIn(w.HTTP.URL.Path)
	for _, variable := range [...]string{"consumer_key", oauth1[0]} {
		if name, set := keyOfQuery(w.HTTP.URL.RawQuery, variable); set {
			keys = keyNamed(name).with(keys)
		}
		if _, set := keyOfQuery(inPath, variable); set {
			keys = keyNamed("").with(keys)
		}
	}
	if name, set, err := w.Call.FormVariable(oauth1[0]); set || err != nil {
		keys = keyNamed(name).with(keys)
	}
	if len(w.HTTP.Header["Authorization"]) > 1 {
		keys = keyNamed("").with(keys)
	}
	for name, value := range oauth1Header(w.HTTP.Header) {
		if name == oauth1[0] {
			keys = keyNamed(value).with(keys)
		}
	}
	return keys
}

// keyOfQuery returns the key that a variable of a raw query names. It is "" where another one may arrive.
func keyOfQuery(query, variable string) (name string, set bool) {
	switch {
	case query == "":
		return "", false
	case between.ChangesOf(query).Sets(variable):
		return "", true
	case !phpvars.MayName(query, variable):
		return "", false
	case phpvars.Hidden(query, variable), phpvars.Count(query, variable) > 1:
		return "", true
	}
	v, set := phpvars.OfQuery(query).Get(variable, 1)
	name, _ = v.(string)
	return name, set
}
