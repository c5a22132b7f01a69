package site

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // OAuth 1.0a knows HMAC-SHA1
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// authenticateOAuth checks an OAuth 1.0a call to the shop, signed in the query
// or in the Authorization header (docs/platform III.8).
func (s *Site) authenticateOAuth(q *request) error {
	given := url.Values{}
	for name, values := range q.wire.URL.Query() {
		given[name] = values[:1]
	}
	if header, ok := strings.CutPrefix(q.header.Get("Authorization"), "OAuth "); ok {
		for pair := range strings.SplitSeq(header, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			value, err := url.PathUnescape(strings.Trim(value, `"`))
			if strings.HasPrefix(name, "oauth_") && err == nil {
				given.Set(name, value)
			}
		}
	}
	k := s.shopKey(given.Get("oauth_consumer_key"))
	if k == nil {
		return s.keyError("Consumer key is invalid.")
	}
	signature := given.Get("oauth_signature")
	given.Del("oauth_signature")
	var algorithm func() hash.Hash
	switch given.Get("oauth_signature_method") {
	case "HMAC-SHA1":
		algorithm = sha1.New
	case "HMAC-SHA256":
		algorithm = sha256.New
	default:
		return s.keyError("Invalid signature - signature method is invalid.")
	}
	address := s.homeURL(q.wire) + strings.TrimPrefix(q.wire.URL.EscapedPath(), s.opt.Base)
	mac := hmac.New(algorithm, []byte(k.secret+"&"))
	mac.Write([]byte(signatureBase(q.wire.Method, address, given)))
	if !equal(base64.StdEncoding.EncodeToString(mac.Sum(nil)), signature) {
		return s.keyError("Invalid signature - provided signature does not match.")
	}
	if err := s.freshOAuth(given); err != nil {
		return err
	}
	q.user, q.key = k.user, k
	return nil
}

// freshOAuth accepts a timestamp within 15 minutes and each nonce once.
func (s *Site) freshOAuth(given url.Values) error {
	seconds, err := strconv.ParseInt(given.Get("oauth_timestamp"), 10, 64)
	now := s.opt.Now()
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 15*time.Minute {
		return s.keyError("Invalid timestamp.")
	}
	nonce := given.Get("oauth_consumer_key") + " " + given.Get("oauth_nonce")
	if _, used := s.oauthNonces[nonce]; used {
		return s.keyError("Invalid nonce - nonce has already been used.")
	}
	maps.DeleteFunc(s.oauthNonces, func(_ string, at time.Time) bool { return now.Sub(at) > time.Hour })
	s.oauthNonces[nonce] = now
	return nil
}

// signatureBase is the text that OAuth 1.0a signs.
func signatureBase(method, address string, params url.Values) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		pairs = append(pairs, escape(name)+"="+escape(params.Get(name)))
	}
	return strings.ToUpper(method) + "&" + escape(address) + "&" + escape(strings.Join(pairs, "&"))
}

// escape is RFC 3986 encoding.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
