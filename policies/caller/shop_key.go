package caller

import (
	"bytes"
	"encoding/base64"
	"iter"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/between"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// hasQueryKey tells whether the query carries a shop key. A key in a body does not count
// (docs/platform III.8).
func hasQueryKey(query variables) bool {
	key, _ := query("consumer_key")
	secret, _ := query("consumer_secret")
	return key != "" && secret != ""
}

// oauth1 are the parameters that the shop looks for. If it finds one, it refuses the call
// unless all are valid. If it finds none, it looks no further (docs/platform III.8).
var oauth1 = []string{"oauth_consumer_key", "oauth_timestamp", "oauth_nonce", "oauth_signature", "oauth_signature_method"}

// oauth1Beside are those that a signature may hold beside them.
var oauth1Beside = []string{"oauth_token", "oauth_version"}

// isOAuth1 tells whether the shop will verify an OAuth 1 signature, and whether it will do so
// only if Authorization reaches it. It collects the decoded parameters as the shop does: from
// query and form, then from the header; the last value wins, and PHP takes "0" for empty.
func isOAuth1(w *Whole) (signed, byHeader bool, err error) {
	if !mayBeOAuth1(w) {
		return false, false, nil
	}
	found := map[string]string{}
	for _, name := range oauth1 {
		v, set, err := w.Call.Variable(name)
		if err != nil {
			return false, false, err
		}
		if set {
			found[name] = v
		}
	}
	byHeader = !anyOAuth1(found)
	maps.Insert(found, oauth1Header(w.HTTP.Header))
	return anyOAuth1(found), byHeader, nil
}

// isOAuth1Header tells whether Authorization is one of OAuth 1.
func isOAuth1Header(h http.Header) bool {
	return strings.HasPrefix(strings.Trim(h.Get("Authorization"), trimmed), "OAuth ")
}

// oauth1Header yields the parameters of OAuth 1 in Authorization, as the shop splits and decodes it.
func oauth1Header(h http.Header) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		rest, ok := strings.CutPrefix(strings.Trim(h.Get("Authorization"), trimmed), "OAuth ")
		if !ok {
			return
		}
		for _, m := range oauth1Pair.FindAllStringSubmatch(rest, -1) {
			value := m[3]
			if value == "" || value == "0" {
				value = m[4]
			}
			if !yield(m[1], phpvars.Decode(value)) {
				return
			}
		}
	}
}

func anyOAuth1(found map[string]string) bool {
	return hasOAuth1(func(name string) (string, bool) { v, set := found[name]; return v, set })
}

// hasOAuth1 tells whether one of the parameters is there that the shop looks for.
func hasOAuth1(in variables) bool {
	return slices.ContainsFunc(oauth1, func(name string) bool { v, _ := in(name); return v != "" && v != "0" })
}

// mayBeOAuth1 tells whether w has a query, a form or a header that could hold a parameter.
func mayBeOAuth1(w *Whole) bool {
	return w.HTTP.URL.RawQuery != "" || w.HTTP.Method == http.MethodPost || strings.Contains(w.HTTP.Header.Get("Authorization"), "OAuth")
}

// trimmed are the bytes that PHP's trim removes.
const trimmed = " \t\n\r\x00\x0b"

// oauth1Pair splits the header as the shop does.
var oauth1Pair = regexp.MustCompile(`(oauth_[a-z_-]*)=(:?"([^"]*)"|([^,]*))`)

// basicShopKey tells whether Authorization carries a shop key. Shop keys begin with
// "ck_"; application passwords belong to login names.
func basicShopKey(h http.Header) bool {
	var room [basicRoom]byte
	name, ok := appendBasicName(room[:0], h)
	return ok && bytes.HasPrefix(name, []byte(keyBegin))
}

// keyBegin begins the name of every shop key, and secretBegin its secret.
const (
	keyBegin    = "ck_"
	secretBegin = "cs_"
)

// basicName returns the name that PHP finds in Authorization.
func basicName(h http.Header) (string, bool) {
	var room [basicRoom]byte
	name, ok := appendBasicName(room[:0], h)
	return string(name), ok
}

// basicRoom is the space that most credentials in Authorization take.
const basicRoom = 256

// appendBasicName is basicName in memory of the caller.
func appendBasicName(b []byte, h http.Header) ([]byte, bool) {
	name, _, ok := appendBasic(b, h)
	return name, ok
}

// appendBasic returns the name and the password that PHP finds in Authorization, in memory of the caller. HTTP/1.1 drops
// blanks before the value, which HTTP/2 and 3 keep.
func appendBasic(b []byte, h http.Header) (name, password []byte, ok bool) {
	scheme, encoded, _ := strings.Cut(strings.TrimLeft(h.Get("Authorization"), " \t"), " ")
	if !phpvars.EqualFold(scheme, "basic") {
		return b, nil, false
	}
	return bytes.Cut(appendBase64(b, encoded), []byte(":"))
}

// SentPassword tells whether the platform will look for a name and a password in Authorization.
func (w *Whole) SentPassword() bool {
	_, ok := basicName(w.HTTP.Header)
	return ok
}

// appendBase64 decodes s. It skips foreign characters, as PHP does.
func appendBase64(b []byte, s string) []byte {
	var room [basicRoom]byte
	digits := room[:0]
	for i := range len(s) {
		if c := s[i]; between.Alnum(c) || c == '+' || c == '/' {
			digits = append(digits, c)
		}
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	b, _ = base64.RawStdEncoding.AppendDecode(b, digits) // digits is valid base64
	return b
}

// HasShopKey tells whether w carries a shop key, in the query or in Authorization.
func (w *Whole) HasShopKey() bool {
	claim, err := w.Claim()
	return err == nil && claim == ClaimKey || basicShopKey(w.HTTP.Header)
}

// SentShopKey tells whether w carries what looks like a shop key, wherever it was sent.
func (w *Whole) SentShopKey() bool {
	return hasQueryKey(w.Call.QueryVariable) || w.HasShopKey()
}

// ShopKeyName returns the name of the shop key that w carries. ok is false if the shop
// would have to clean the name first: several spellings may be one key. It is false too if w
// carries another credential, since that may be the one that the platform accepts. A second
// shop key in Authorization is none: the shop looks into the query alone. A user may have the
// login of a key, see namesPassword.
func (w *Whole) ShopKeyName() (name string, ok bool) {
	if w.namesPassword() {
		return "", false
	}
	keys := 1
	if hasQueryKey(w.Call.QueryVariable) && basicShopKey(w.HTTP.Header) {
		keys = 2
	}
	if w.Site.countCredentials(w.HTTP, keys+1) > keys {
		return "", false
	}
	switch claim, err := w.Claim(); {
	case err != nil:
		return "", false
	case claim == ClaimTool:
		name, _, _ = strings.Cut(w.HTTP.Header.Get("X-Mcp-Api-Key"), ":")
	case hasQueryKey(w.Call.QueryVariable): // the shop looks there first
		name, _ = w.Call.QueryVariable("consumer_key")
	default:
		name, _ = basicName(w.HTTP.Header)
	}
	return name, name != "" && keyBytes.Holds(name)
}

// keyBytes are those of the names of shop keys that the shop leaves as they are.
var keyBytes = between.AlnumAnd("_")

// namesPassword tells whether what stands in the place of a shop key may be a login that begins as keys do, with an
// application password, by which the platform knows a user.
func (w *Whole) namesPassword() bool {
	var room [basicRoom]byte
	name, secret, _ := appendBasic(room[:0], w.HTTP.Header)
	if maybeKey(name) && maybePassword(secret) {
		return true
	}
	_, tools, _ := strings.Cut(w.HTTP.Header.Get("X-Mcp-Api-Key"), ":")
	return maybePassword([]byte(tools))
}

// passwordLength is how many letters and digits an application password has. The platform drops all else of what is sent.
const passwordLength = 24

// maybePassword tells whether a secret may be an application password.
func maybePassword(secret []byte) bool {
	n := 0
	for _, c := range secret {
		if between.Alnum(c) {
			n++
		}
	}
	return n == passwordLength
}
