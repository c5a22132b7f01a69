package caller

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// CredentialKind is a kind of credentials that are told apart by name.
type CredentialKind string

// The kinds, as logs name them.
const (
	CredentialKey      CredentialKind = "key"      // of the shop
	CredentialPassword CredentialKind = "password" // an application password
	CredentialUser     CredentialKind = "user"     // a login, by a cookie or by what the site names
)

// Credential names a credential. It holds nothing of the secret.
type Credential struct {
	Kind CredentialKind
	// Key is the end of a shop key, as the shop's list of keys shows it. It is "" for an unclean one.
	Key string
	// Login is the login name of the others, or an e-mail. Of a claimed one it is what the client has sent, and ""
	// where that is no name: over 240 bytes, without a password behind it, or the secret of a key.
	Login string
	// UUID is that of an application password, where the platform has named it.
	UUID string
	// Claimed is true where nobody has verified the credential: anybody can send any name.
	Claimed bool
	// Unclean is true for a shop key that the shop would have to clean before it looks for it, so that several
	// spellings may be one key, for one that has no certain reading, and for a secret in the place of a key.
	Unclean bool
}

// shownOfKey is how many characters of a key the shop shows, the last ones (docs/platform III.8).
const shownOfKey = 7

// PlainKeyEnd tells whether a text may be the end of a shop key, as the shop shows it.
func PlainKeyEnd(text string) bool { return len(text) == shownOfKey && keyBytes.Holds(text) }

// keyNamed names a shop key that a client has sent.
func keyNamed(name string) Credential {
	c := Credential{Kind: CredentialKey, Claimed: true}
	if name == "" || !keyBytes.Holds(name) || strings.HasPrefix(name, secretBegin) {
		c.Unclean = true
		return c
	}
	c.Key = strings.Clone(name[max(0, len(name)-shownOfKey):]) // not the whole key in memory
	return c
}

// loginNamed names a login that a client has sent. A cookie holds a secret of the shop in no place of a name.
func loginNamed(kind CredentialKind, name string) Credential {
	if len(name) > maxLogin || kind == CredentialPassword && strings.HasPrefix(name, secretBegin) {
		name = ""
	}
	return Credential{Kind: kind, Login: strings.Clone(name), Claimed: true}
}

// PlainLogin tells whether a login has 60 characters at most, and no others than the platform itself gives to
// login names: ASCII letters and digits, blanks and "_.-@". So a client can write no more than a name into a log.
func PlainLogin(login string) bool {
	return login != "" && len(login) <= maxPlainLogin && loginBytes.Holds(login)
}

const maxPlainLogin = 60

var loginBytes = between.AlnumAnd(" _.-@")

// Presented returns the credentials that w carries, wherever they stand and whether or not the platform takes them
// there, each once: shop keys in Authorization, query, form, an OAuth 1 signature and the header of the tool server;
// application passwords; and login cookies. All are claimed. What names nobody, such as a token or a cookie that
// the site names, is not among them. After Settle forms are left out. The error is a *call.Refusal: it is not certain what
// else w carries.
func (w *Whole) Presented() (all []Credential, err error) {
	for i := range w.Site.rows {
		if r := &w.Site.rows[i]; r.names != nil {
			var unclear error
			all, unclear = r.names(w, all)
			err = cmp.Or(err, unclear)
		}
	}
	return all, err
}

// Verified returns the credential that the platform has accepted, once Who has found the caller. ok is false where
// it is not certain which one that is, or who it belongs to: for a key beside other credentials, see ShopKeyName, and for
// a user of whom the answer tells no login. That of a session is the login of its cookie. With a password and a login
// cookie it is the password, which usually may do less.
func (w *Whole) Verified() (c Credential, ok bool) {
	who, known := w.Known()
	switch {
	case !known:
		return Credential{}, false
	case who.Kind == KeyHolder:
		name, ok := w.ShopKeyName()
		if !ok {
			return Credential{}, false
		}
		c = keyNamed(name)
	case who.Kind == User && who.Login != "":
		c = Credential{Kind: CredentialUser, Login: who.Login}
		if name, ok := basicName(w.HTTP.Header); ok && !maybeKey([]byte(name)) {
			c.Kind = CredentialPassword
		}
	case who.Kind == User && w.claim == ClaimSession:
		if c, ok = w.onlyLogin(); !ok {
			return Credential{}, false
		}
	default:
		return Credential{}, false
	}
	c.Claimed = false
	return c, true
}

// onlyLogin returns the login of a login cookie that is all that w carries.
func (w *Whole) onlyLogin() (c Credential, ok bool) {
	presented, err := w.Presented()
	if err != nil || len(presented) != 1 || w.SaysUser() {
		return Credential{}, false
	}
	c = presented[0]
	return c, c.Kind == CredentialUser && c.Login != ""
}

// with adds c to all, once.
func (c Credential) with(all []Credential) []Credential {
	if slices.Contains(all, c) {
		return all
	}
	return append(all, c)
}

// basicNames adds the name in Authorization. One that the shop would have to clean to find a key in it may be a login
// once the platform has cleaned it, so that it is a password as well. So is one with a secret of that form.
func basicNames(w *Whole, all []Credential) ([]Credential, error) {
	var room [basicRoom]byte
	name, password, ok := appendBasic(room[:0], w.HTTP.Header)
	switch {
	case !ok:
		return all, nil
	case maybeKey(name):
		key := keyNamed(string(name))
		if all = key.with(all); !key.Unclean && !maybePassword(password) {
			return all, nil
		}
		name = nil
	case len(password) == 0: // a token, as many send it
		name = nil
	}
	return loginNamed(CredentialPassword, string(name)).with(all), nil
}

// maybeKey tells whether the shop takes a name in Authorization for one of its keys: it begins as keys do, or may
// once the shop has taken out blanks, tags, percent-encoded bytes, and with tags each NUL.
func maybeKey(name []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(name, trimmed), []byte(keyBegin)) {
		return true
	}
	if !bytes.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == '<' || c == '%' }) {
		return false
	}
	for _, c := range []byte(keyBegin) { // with anything between
		i := bytes.IndexByte(name, c)
		if i < 0 {
			return false
		}
		name = name[i+1:]
	}
	return true
}

// toolNames adds the key for the shop's tool server, which stands before its secret.
func toolNames(w *Whole, all []Credential) ([]Credential, error) {
	if name, _, ok := strings.Cut(w.HTTP.Header.Get("X-Mcp-Api-Key"), ":"); ok {
		return keyNamed(name).with(all), nil
	}
	return all, nil
}

// cookieNames adds the logins of login cookies.
func cookieNames(w *Whole, all []Credential) ([]Credential, error) {
	for pair := range cookiePairs(w.HTTP.Header) {
		is, alias := w.Site.cookie(pair, false)
		switch {
		case alias:
			return all, call.Ambiguous("cookie_alias")
		case is:
			for _, name := range cookieLogins(pair) {
				all = loginNamed(CredentialUser, name).with(all)
			}
		}
	}
	return all, nil
}

// cookieLogins returns the login name of a login cookie as each release of PHP reads it: some take a "+" for a blank.
// A cookie without one logs nobody in: the name of many another begins as its name does.
func cookieLogins(pair string) []string {
	name, ok := cookieLogin(pair)
	if !ok {
		return nil
	}
	if begin, _, _ := strings.Cut(pair, "|"); !strings.Contains(begin, "+") {
		return []string{name}
	}
	plus, _ := cookieLogin(strings.ReplaceAll(pair, "+", "%2B"))
	return []string{name, plus}
}

// cookieLogin returns the login name with which the value of a login cookie begins.
func cookieLogin(pair string) (name string, ok bool) {
	_, value, _ := strings.Cut(pair, "=")
	if name, _, ok = strings.Cut(phpvars.Decode(value), "|"); !ok {
		return "", false
	}
	return name, true
}

// keyNames adds the shop key in query and form. The shop takes none from a form.
func keyNames(w *Whole, all []Credential) ([]Credential, error) {
	return w.namesOf("consumer_key", all)
}

// oauth1Names adds the keys of OAuth 1 signatures.
func oauth1Names(w *Whole, all []Credential) ([]Credential, error) {
	all, err := w.namesOf(oauth1[0], all)
	for name, value := range oauth1Header(w.HTTP.Header) {
		if name == oauth1[0] {
			all = keyNamed(value).with(all)
		}
	}
	return all, err
}

// namesOf adds the shop keys that a variable names in query and form. Of several in a query the platform takes the
// last, and another server may have taken another one away.
func (w *Whole) namesOf(variable string, all []Credential) ([]Credential, error) {
	if name, set := w.Call.QueryVariable(variable); set {
		all = keyNamed(name).with(all)
		if phpvars.Count(w.HTTP.URL.RawQuery, variable) > 1 {
			all = keyNamed("").with(all)
		}
	}
	name, set, err := w.Call.FormVariable(variable)
	if set {
		all = keyNamed(name).with(all)
	}
	return all, err
}
