package site

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // OAuth 1.0a knows HMAC-SHA1
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// oauthNames are the parameters of a signed call. Without any of them a call is not signed.
var oauthNames = []string{"oauth_consumer_key", "oauth_timestamp", "oauth_nonce", "oauth_signature", "oauth_signature_method"}

// authenticateOAuth checks an OAuth 1.0a call to the shop, signed in the query, in a form or
// in the Authorization header (docs/platform III.8).
func (s *Site) authenticateOAuth(q *request, in *input) error {
	given := oauthParams(q, in)
	missing := slices.DeleteFunc(slices.Clone(oauthNames), func(name string) bool {
		v := text(given[name])
		return v != "" && v != "0" // PHP takes "0" for empty
	})
	switch len(missing) {
	case len(oauthNames):
		return nil
	case 0:
	default:
		return fail(http.StatusUnauthorized, s.names.code("authentication_missing_parameter"),
			"Missing OAuth parameters "+strings.Join(missing, ", "))
	}
	k := s.shopKey(text(given["oauth_consumer_key"]))
	if k == nil {
		return s.keyError("Consumer key is invalid.")
	}
	var algorithm func() hash.Hash
	switch text(given["oauth_signature_method"]) {
	case "HMAC-SHA1":
		algorithm = sha1.New
	case "HMAC-SHA256":
		algorithm = sha256.New
	default:
		return s.keyError("Invalid signature - signature method is invalid.")
	}
	signature := strings.ReplaceAll(text(given["oauth_signature"]), " ", "+")
	if plain, err := url.PathUnescape(signature); err == nil { // some clients encode it twice
		signature = plain
	}
	delete(given, "oauth_signature")
	mac := hmac.New(algorithm, []byte(k.secret+"&"))
	mac.Write([]byte(strings.ToUpper(q.wire.Method) + "&" + escape(s.signedAddress(q.wire)) + "&" + signedPairs(given)))
	if !equal(base64.StdEncoding.EncodeToString(mac.Sum(nil)), signature) {
		return s.keyError("Invalid signature - provided signature does not match.")
	}
	if err := s.freshOAuth(given); err != nil {
		return err
	}
	q.user, q.key = k.user, k
	return nil
}

// oauthPair is one parameter in the header.
var oauthPair = regexp.MustCompile(`(oauth_[a-z_-]*)=(?::?"([^"]*)"|([^,]*))`)

// oauthParams are query, form and header; the later wins.
func oauthParams(q *request, in *input) map[string]phpvars.Value {
	given := map[string]phpvars.Value{}
	for _, vars := range []*phpvars.Array{in.get, in.post} {
		for _, name := range vars.Keys() {
			given[name], _ = vars.Get(name)
		}
	}
	header, signed := strings.CutPrefix(strings.Trim(q.header.Get("Authorization"), " \t\n\r\x00\x0b"), "OAuth ")
	if !signed {
		return given
	}
	for _, m := range oauthPair.FindAllStringSubmatch(header, -1) {
		value := m[2]
		if value == "" || value == "0" {
			value = m[3]
		}
		given[m[1]] = phpvars.Decode(value)
	}
	return given
}

// signedAddress is the address that the shop makes of a request's path: what follows the
// folder of the home address, behind the home address. A bare home has no slash at its end.
func (s *Site) signedAddress(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.EscapedPath(), s.opt.Base+"/")
	if path == "" {
		return s.homeURL(r)
	}
	return s.homeURL(r) + "/" + strings.TrimLeft(path, "/")
}

// signedPairs are the parameters as they are signed: sorted by name, names and values
// encoded, and each pair encoded again.
func signedPairs(given map[string]phpvars.Value) string {
	var pairs []string
	var add func(name string, v phpvars.Value)
	add = func(name string, v phpvars.Value) {
		array, ok := v.(*phpvars.Array)
		if !ok {
			pairs = append(pairs, escape(name+"="+escape(text(v))))
			return
		}
		for _, key := range array.Keys() {
			item, _ := array.Get(key)
			add(name+"%5B"+key+"%5D", item) // an inner name is not encoded before
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		add(escape(name), given[name])
	}
	return strings.Join(pairs, "%26")
}

// freshOAuth accepts a timestamp within 15 minutes and each nonce once.
func (s *Site) freshOAuth(given map[string]phpvars.Value) error {
	seconds, err := strconv.ParseInt(text(given["oauth_timestamp"]), 10, 64)
	now := s.opt.Now()
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 15*time.Minute {
		return s.keyError("Invalid timestamp.")
	}
	nonce := text(given["oauth_consumer_key"]) + " " + text(given["oauth_nonce"])
	if _, used := s.oauthNonces[nonce]; used {
		return s.keyError("Invalid nonce - nonce has already been used.")
	}
	maps.DeleteFunc(s.oauthNonces, func(_ string, at time.Time) bool { return now.Sub(at) > time.Hour })
	s.oauthNonces[nonce] = now
	return nil
}

// escape is RFC 3986 encoding.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
